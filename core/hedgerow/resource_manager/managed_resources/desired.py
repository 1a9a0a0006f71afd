"""Which objects a ManagedResource asks for, and what becomes of those that it asked for before.

Decides from what its Secrets hold, its spec, its last status and the scopes of kinds. Knows nothing of live objects.

Source: managed-resources §7.4 to §7.6, decisions "undecodable documents" and "`status.resources`".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.managed_resources import MANAGED_BY, MODE, MODE_IGNORE
from hedgerow.api.references import Identity, Reference, in_order, references_in
from hedgerow.machinery.documents.budget import SliceCounter, Slices, finished
from hedgerow.machinery.objects import Kind, Manifest, Resource, key_of
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.reading import text_at, texts_at, too_much
from hedgerow.resource_manager.managed_resources.decoding import DecodedValue
from hedgerow.resource_manager.managed_resources.equivalences import PreviousReferences, previous_references
from hedgerow.resource_manager.managed_resources.normalising import kind_of, normalised, texts_of

MOST_INJECTED: Final = 8 * 1024
"""Characters of `spec.injectLabels`: the status repeats them for each object."""
INSTALL_ORDER: Final = (
    *("PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy"),
    *("PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass"),
    *("PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList"),
    *("ClusterRoleBinding", "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList"),
    *("Service", "DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler"),
    *("StatefulSet", "Job", "CronJob", "IngressClass", "Ingress", "APIService"),
)
"""Kinds that come first, in this order; all others follow, by name of kind."""
_RANK: Final = {kind: rank for rank, kind in enumerate(INSTALL_ORDER)}
NODES_OF_AN_OBJECT: Final = 10
"""What is done with an object takes the time that it takes to read so many nodes, however small it is."""


@dataclass(frozen=True, slots=True)
class DesiredObject:
    """An object to apply."""

    manifest: Manifest
    """Normalised; labels are not injected. Where there is a problem: what names the object, and no more."""
    reference: Reference
    """The entry of the next status, once it is applied."""
    resource: Resource | NotAnswered
    """As which resource the target cluster serves it, or why not."""
    previous: Reference | None
    """The entry of the last status."""
    problem: str | None = None
    """Why it cannot be applied, whatever the cluster holds; one clause without a full stop."""

    @property
    def identity(self) -> Identity:
        """What it is found again by."""
        return self.reference.identity

    @property
    def known(self) -> bool:
        """True if the last status says that it was applied."""
        return self.previous is not None and self.previous.is_applied

    @property
    def previous_labels(self) -> Mapping[str, str]:
        """Labels when it was applied last, those injected included."""
        return self.previous.labels if self.previous else {}

    @property
    def previous_annotations(self) -> Mapping[str, str]:
        """Annotations when it was applied last."""
        return self.previous.annotations if self.previous else {}

    def __str__(self) -> str:
        """As messages name it: `v1/ConfigMap/default/foo`."""
        return str(self.reference)


@dataclass(frozen=True, slots=True)
class Desired:
    """What a ManagedResource asks for."""

    objects: tuple[DesiredObject, ...]
    """In processing order; of one that occurs several times the last alone."""
    references: tuple[Reference, ...]
    """What the next status refers to, sorted; an object that occurs several times does so here. Includes `kept`."""
    orphans: tuple[Reference, ...]
    """What is applied no longer and lives on, as its mode is `Ignore`."""
    left: tuple[Reference, ...]
    """What the last status refers to and nothing mentions any more: it is to be deleted."""
    kept: tuple[Reference, ...]
    """What would be in `left`, but may be meant by a document that cannot be decoded or does not say its name."""
    recorded: tuple[Reference, ...]
    """What the status has to refer to before an object is created: all that it refers to, and the new objects, sorted.
    Empty if it refers to all objects already."""
    decoding_errors: tuple[str, ...]
    checksum: str
    repeated: tuple[Identity, ...]
    """Objects that occur several times, in processing order."""

    def changed(self, status: Manifest) -> bool:
        """Whether the last status tells of other references, or of no data or others.

        Args:
            status: of the ManagedResource; empty where it has none.

        Raises:
            UnreadableError: the status has a shape that no API server stores.
        """
        return text_at(status, "secretsDataChecksum") != self.checksum or references_in(status) != self.references

    def in_status(self) -> list[dict[str, Any]]:
        """The references as they go into `status.resources`."""
        return [reference.in_status() for reference in self.references]


def unknown_kinds(decoded: Iterable[DecodedValue], kinds: Kinds) -> tuple[Kind, ...]:
    """The kinds of objects that have not been looked up, and have to be before it is told what is desired."""
    found = dict.fromkeys(kind_of(document) for value in decoded for document in value.documents)
    return tuple(kind for kind in found if kind is not None and kind not in kinds)


def checked_values(decoded: Iterable[DecodedValue]) -> Iterator[bytes]:
    """What the checksum is of: each value as often as it holds an object that is wanted."""
    return (value.raw for value in decoded for document in value.documents if not _is_ignored(document))


def build_desired(
    managed_resource: Manifest, decoded: Sequence[DecodedValue], kinds: Kinds, managed_by: str, checksum: str
) -> Desired:
    """What a ManagedResource asks for.

    As long as a document cannot be decoded, or does not say what it is about, nothing is left: it may be about that.

    Args:
        managed_resource: as it is stored.
        decoded: what its Secrets hold, in the order of its references to them.
        kinds: as which resource each kind is served; knows all kinds that `decoded` mentions.
        managed_by: value of the label by that name.
        checksum: of the checked values.

    Raises:
        UnreadableError: spec or status have a shape that no API server stores.
    """
    return finished(desired_in_slices(managed_resource, decoded, kinds, managed_by, checksum))


def desired_in_slices(
    managed_resource: Manifest, decoded: Sequence[DecodedValue], kinds: Kinds, managed_by: str, checksum: str
) -> Slices[Desired]:
    """The same as `build_desired`, interrupted between slices."""
    previous = previous_references(managed_resource)
    injected = injected_labels(managed_resource, managed_by)
    wanted: list[DesiredObject] = []
    ignored: list[DesiredObject] = []
    counter = SliceCounter()
    if counter.ends_slice(len(previous.references)):
        yield
    for value in decoded:
        for document in value.documents:
            found = _desired_object(document, kinds, injected, previous)
            (ignored if _is_ignored(document) else wanted).append(found)
            if counter.ends_slice(NODES_OF_AN_OBJECT):
                yield
    listed = (*wanted, *ignored)
    if counter.ends_slice(len(listed)):
        yield
    errors = tuple(error for value in decoded for error in value.errors)
    is_certain = not errors and all(each.problem is None for each in listed)
    unlisted = previous.without(each.previous for each in listed if each.previous is not None)
    kept = () if is_certain else unlisted
    # Of those with the same identity the last alone counts, as it would be applied last.
    last = {each.identity: place for place, each in enumerate(wanted)}
    objects = tuple(each for place, each in enumerate(wanted) if last[each.identity] == place)
    counts = Counter(each.identity for each in wanted if each.problem is None)
    references = in_order((*(each.reference for each in wanted), *kept))
    if counter.ends_slice(len(listed)):
        yield
    return Desired(
        objects=objects,
        references=references,
        orphans=tuple(each.reference for each in ignored if each.previous is not None and each.identity not in last),
        left=unlisted if is_certain else (),
        kept=kept,
        recorded=_recorded(wanted, previous),
        decoding_errors=errors,
        checksum=checksum,
        repeated=tuple(identity for identity, count in counts.items() if count > 1),
    )


def injected_labels(managed_resource: Manifest, managed_by: str) -> dict[str, str]:
    """The labels that every object gets on top of its own; who manages it is not for the ManagedResource to say.

    Raises:
        UnreadableError: they have a shape that no API server stores, or are too long for a status that repeats them.
    """
    labels = texts_at(managed_resource, "spec", "injectLabels")
    if sum(len(name) + len(text) for name, text in labels.items()) > MOST_INJECTED:
        raise too_much("spec.injectLabels", "characters", MOST_INJECTED)
    return {**labels, MANAGED_BY: managed_by}


def _desired_object(
    document: Manifest, kinds: Kinds, injected: Mapping[str, str], previous: PreviousReferences
) -> DesiredObject:
    manifest, resource, problem = normalised(document, kinds)
    labels, annotations = {**texts_of(document, "labels"), **injected}, texts_of(document, "annotations")
    reference = Reference.to(Kind.of(manifest), key_of(manifest), labels, annotations)
    return DesiredObject(manifest, reference, resource, previous.to(reference.identity), problem)


def _is_ignored(document: Manifest) -> bool:
    return texts_of(document, "annotations").get(MODE) == MODE_IGNORE


def _recorded(wanted: Iterable[DesiredObject], previous: PreviousReferences) -> tuple[Reference, ...]:
    """The union of the old references and the new ones; empty if none is new."""
    new = {
        each.identity: each.reference.unapplied()
        for each in wanted
        if each.previous is None and each.problem is None and each.reference.key.name
    }
    return in_order((*previous.references.values(), *new.values())) if new else ()


def in_install_order(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The objects as they are applied one after the other; those of one kind by name, then by namespace."""
    return sorted(manifests, key=_place)


def _place(manifest: Manifest) -> tuple[int, str, str, str]:
    kind = str(manifest.get("kind") or "")
    key = key_of(manifest)
    return (_RANK.get(kind, len(_RANK)), kind, str(key.name), str(key.namespace))
