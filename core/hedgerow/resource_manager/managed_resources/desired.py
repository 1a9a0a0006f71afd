"""The objects that a ManagedResource asks for, and those that it asked for before.

Decides from what its Secrets hold, its spec, its last status and the scopes of kinds. Knows nothing of live objects.

Source: managed-resources §7.4 to §7.6, decisions "undecodable documents" and "`status.resources`".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.managed_resources import MANAGED_BY, MODE, MODE_IGNORE
from hedgerow.api.references import DEFAULT_NAMESPACE, Identity, Reference, in_order, references_in, references_of
from hedgerow.machinery.documents.budget import SliceCounter, Slices, finished
from hedgerow.machinery.objects import Kind, Manifest, Resource, key_of
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.reading import UnreadableError, object_at, text_at, texts_at, too_much, with_value, without
from hedgerow.resource_manager.managed_resources.decoding import DecodedValue
from hedgerow.resource_manager.managed_resources.equivalences import Equivalences, equivalences_of

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
"""Kinds that are applied first, in this order; all others follow, by name of kind."""
_RANK: Final = {kind: rank for rank, kind in enumerate(INSTALL_ORDER)}
NODES_OF_AN_OBJECT: Final = 10
"""Work on an object, however small, takes as long as reading so many nodes."""
_REQUIRED: Final = (("apiVersion",), ("kind",), ("metadata", "name"))
_NAMESPACE: Final = ("metadata", "namespace")


@dataclass(frozen=True, slots=True)
class DesiredObject:
    """An object to apply."""

    manifest: Manifest
    """With a namespace if, and only if, its kind has one; no labels are injected. With a problem: only its name."""
    reference: Reference
    """The entry of the next status, once it is applied."""
    resource: Resource | NotAnswered
    """As which resource the target cluster serves it, or why not."""
    previous: Reference | None
    """The entry of the last status."""
    problem: str | None = None
    """Why it can never be applied; one clause without a full stop."""

    @property
    def identity(self) -> Identity:
        """The identity of its reference."""
        return self.reference.identity

    @property
    def was_applied(self) -> bool:
        """True if the last status says that it was applied."""
        return self.previous is not None and self.previous.is_applied

    def __str__(self) -> str:
        """As messages name it: `v1/ConfigMap/default/foo`."""
        return str(self.reference)


@dataclass(frozen=True, slots=True)
class Desired:
    """What a ManagedResource asks for."""

    objects: tuple[DesiredObject, ...]
    """In the order of the manifests; of an object that occurs several times only the last."""
    references: tuple[Reference, ...]
    """The references of the next status, sorted, `kept` included; a repeated object occurs repeatedly."""
    orphans: tuple[Reference, ...]
    """Objects that are no longer applied and stay, as their mode is `Ignore`."""
    left: tuple[Reference, ...]
    """Objects in the last status that no manifest mentions any more: they have to be deleted."""
    kept: tuple[Reference, ...]
    """Objects that would be in `left`, but a document without a readable name may mean them."""
    recorded: tuple[Reference, ...]
    """The references of the status before an object is created: old and new ones, sorted; empty if none is new."""
    decoding_errors: tuple[str, ...]
    checksum: str
    repeated: tuple[Identity, ...]
    """Objects that occur several times."""

    def changed(self, status: Manifest) -> bool:
        """True if the last status of the ManagedResource, maybe empty, has other references or another checksum."""
        return text_at(status, "secretsDataChecksum") != self.checksum or references_in(status) != self.references

    def in_status(self) -> list[dict[str, Any]]:
        """The entries of `status.resources`."""
        return [reference.in_status() for reference in self.references]


def unknown_kinds(decoded: Iterable[DecodedValue], kinds: Kinds) -> tuple[Kind, ...]:
    """The kinds of objects that have to be looked up before `build_desired`."""
    documents = (document for value in decoded for document in value.documents)
    found = dict.fromkeys(Kind(_text(each, "apiVersion"), _text(each, "kind")) for each in documents)
    return tuple(kind for kind in found if all(kind) and kind not in kinds)


def checked_values(decoded: Iterable[DecodedValue]) -> Iterator[bytes]:
    """The values that the checksum is of, each as often as it holds an object to apply."""
    return (value.raw for value in decoded for document in value.documents if not _is_ignored(document))


def build_desired(
    managed_resource: Manifest, decoded: Sequence[DecodedValue], kinds: Kinds, managed_by: str, checksum: str
) -> Desired:
    """What a ManagedResource asks for.

    Nothing is left while a document cannot be decoded or has no readable name, as it may mean any object.

    Args:
        managed_resource: as it is stored.
        decoded: what its Secrets hold, in the order of its references to them.
        kinds: as which resource each kind in `decoded` is served.
        managed_by: value of the label that says who manages an object.
        checksum: of the checked values.

    Raises:
        UnreadableError: spec or status have a shape that no API server stores.
    """
    return finished(desired_in_slices(managed_resource, decoded, kinds, managed_by, checksum))


def desired_in_slices(
    managed_resource: Manifest, decoded: Sequence[DecodedValue], kinds: Kinds, managed_by: str, checksum: str
) -> Slices[Desired]:
    """`build_desired`, interrupted between slices."""
    previous = {each.identity: each for each in references_of(managed_resource)}
    equivalences = equivalences_of(managed_resource)
    injected = injected_labels(managed_resource, managed_by)
    wanted: list[DesiredObject] = []
    ignored: list[DesiredObject] = []
    counter = SliceCounter()
    if counter.ends_slice(len(previous)):
        yield
    for value in decoded:
        for document in value.documents:
            found = _desired_object(document, kinds, injected, previous, equivalences)
            (ignored if _is_ignored(document) else wanted).append(found)
            if counter.ends_slice(NODES_OF_AN_OBJECT):
                yield
    listed = (*wanted, *ignored)
    if counter.ends_slice(len(listed)):
        yield
    errors = tuple(error for value in decoded for error in value.errors)
    is_certain = not errors and all(each.problem is None for each in listed)
    mentioned = {each.previous.identity for each in listed if each.previous is not None}
    unlisted = in_order(reference for identity, reference in previous.items() if identity not in mentioned)
    kept = () if is_certain else unlisted
    # Of a repeated object only the last manifest counts, as it would be applied last.
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
        recorded=_recorded(wanted, previous.values()),
        decoding_errors=errors,
        checksum=checksum,
        repeated=tuple(identity for identity, count in counts.items() if count > 1),
    )


def injected_labels(managed_resource: Manifest, managed_by: str) -> dict[str, str]:
    """The labels that every object gets; the ManagedResource cannot change the one that says who manages it.

    Raises:
        UnreadableError: they have a shape that no API server stores, or are too long for a status that repeats them.
    """
    labels = texts_at(managed_resource, "spec", "injectLabels")
    if sum(len(name) + len(text) for name, text in labels.items()) > MOST_INJECTED:
        raise too_much("spec.injectLabels", "characters", MOST_INJECTED)
    return {**labels, MANAGED_BY: managed_by}


def _desired_object(
    document: Manifest,
    kinds: Kinds,
    injected: Mapping[str, str],
    previous: Mapping[Identity, Reference],
    equivalences: Equivalences,
) -> DesiredObject:
    manifest, resource, problem = _normalised(document, kinds)
    labels, annotations = {**_texts(document, "labels"), **injected}, _texts(document, "annotations")
    reference = Reference.to(Kind.of(manifest), key_of(manifest), labels, annotations)
    found = equivalences.find(reference.identity, previous)
    return DesiredObject(manifest, reference, resource, previous[found] if found else None, problem)


def _normalised(document: Manifest, kinds: Kinds) -> tuple[Manifest, Resource | NotAnswered, str | None]:
    """The object in its namespace, the resource that serves it, and why it cannot be applied.

    An unknown kind counts as namespaced, so that the object is found again in the default namespace.
    """
    try:
        problem = next((f"{'.'.join(path)} is missing" for path in _REQUIRED if not text_at(document, *path)), None)
        named = text_at(document, *_NAMESPACE) or ""
    except UnreadableError as error:
        problem, named = str(error), ""
    if problem is not None:
        manifest: dict[str, Any] = {"metadata": {}}
        for path in (*_REQUIRED, _NAMESPACE):
            if text := _text(document, *path):
                manifest = with_value(manifest, path, text)
        return manifest, NotAnswered(404, "", problem), problem
    kind = Kind.of(document)
    resource = kinds[kind]
    is_namespaced = resource.namespaced if isinstance(resource, Resource) else bool(named) or kind.kind != "Namespace"
    namespace = (named or DEFAULT_NAMESPACE) if is_namespaced else ""
    if namespace == named:
        return document, resource, None
    placed = with_value(document, _NAMESPACE, namespace) if namespace else without(document, _NAMESPACE)
    return placed, resource, None


def _text(document: Manifest, *path: str) -> str:
    try:
        return text_at(document, *path) or ""
    except UnreadableError:
        return ""


def _texts(document: Manifest, field: str) -> dict[str, str]:
    """The labels or annotations of a document that are texts; an object with others is not applied."""
    try:
        entries = object_at(document, "metadata", field)
    except UnreadableError:
        return {}
    return {name: text for name, text in entries.items() if isinstance(text, str)}


def _is_ignored(document: Manifest) -> bool:
    return _texts(document, "annotations").get(MODE) == MODE_IGNORE


def _recorded(wanted: Iterable[DesiredObject], previous: Iterable[Reference]) -> tuple[Reference, ...]:
    """The union of the old references and the new ones; empty if none is new."""
    new = {
        each.identity: each.reference.unapplied()
        for each in wanted
        if each.previous is None and each.problem is None and each.reference.key.name
    }
    return in_order((*previous, *new.values())) if new else ()


def install_place(manifest: Manifest) -> tuple[int, str, str, str]:
    """The sort key for the order in which objects are applied; those of one kind by name, then by namespace."""
    kind, key = str(manifest.get("kind") or ""), key_of(manifest)
    return _RANK.get(kind, len(_RANK)), kind, str(key.name), str(key.namespace)
