"""Which objects a ManagedResource asks for, and what becomes of those that it asked for before.

Decides from what its Secrets hold, its spec, its last status and the scopes of kinds. Knows nothing of live objects.

Source: managed-resources §7.4 to §7.6, decision "undecodable documents".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hedgerow.machinery.objects import Kind, Manifest, Resource
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.reading import text_at, texts_at
from hedgerow.resource_manager.managed_resources.decoding import DecodedValue, decoded_secret
from hedgerow.resource_manager.managed_resources.equivalences import Identity
from hedgerow.resource_manager.managed_resources.names import MANAGED_BY, MODE, MODE_IGNORE
from hedgerow.resource_manager.managed_resources.normalising import Normalised, kind_of, normalised, texts_of
from hedgerow.resource_manager.managed_resources.references import (
    PreviousReferences,
    Reference,
    in_order,
    previous_references,
    references_in,
)

__all__ = [
    "DecodedValue",
    "Desired",
    "DesiredObject",
    "build_desired",
    "checked_values",
    "decoded_secret",
    "unknown_kinds",
]


@dataclass(frozen=True, slots=True)
class DesiredObject:
    """An object to apply."""

    manifest: Manifest
    """Normalised; labels are not injected. Where there is a problem: what names the object, and no more."""
    identity: Identity
    resource: Resource | NotAnswered
    """As which resource the target cluster serves it, or why not."""
    previous_labels: Mapping[str, str]
    """Labels when it was applied last, those injected included."""
    previous_annotations: Mapping[str, str]
    """Annotations when it was applied last."""
    known: bool = False
    """Whether the last status refers to it."""
    problem: str | None = None
    """Why it cannot be applied, whatever the cluster holds; one clause without a full stop."""

    def __str__(self) -> str:
        """As messages name it: `v1/ConfigMap/default/foo`."""
        return "/".join((Kind.of(self.manifest).api_version, *self.identity[1:]))


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
        return references_in(status) != self.references or text_at(status, "secretsDataChecksum") != self.checksum

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
    previous = previous_references(managed_resource)
    injected = injected_labels(managed_resource, managed_by)
    mentioned = [_mentioned(document, kinds, injected) for value in decoded for document in value.documents]
    wanted = [each for each in mentioned if not each.is_ignored]
    errors = tuple(error for value in decoded for error in value.errors)
    unmentioned = previous.beside(each.reference.identity for each in mentioned)
    is_certain = not errors and all(each.object.problem is None for each in mentioned)
    kept = () if is_certain else unmentioned
    return Desired(
        objects=tuple(_last_of_each(_object(each, previous.to(each.reference.identity)) for each in wanted)),
        references=in_order((*(each.reference for each in wanted), *kept)),
        orphans=_orphans(mentioned, previous),
        left=unmentioned if is_certain else (),
        kept=kept,
        decoding_errors=errors,
        checksum=checksum,
        repeated=_repeated(wanted),
    )


def injected_labels(managed_resource: Manifest, managed_by: str) -> dict[str, str]:
    """The labels that every object gets on top of its own; who manages it is not for the ManagedResource to say.

    Raises:
        UnreadableError: they have a shape that no API server stores.
    """
    return {**texts_at(managed_resource, "spec", "injectLabels"), MANAGED_BY: managed_by}


class _Mentioned(NamedTuple):
    """An object that a document holds."""

    object: Normalised
    reference: Reference
    is_ignored: bool


def _mentioned(document: Manifest, kinds: Kinds, injected: Mapping[str, str]) -> _Mentioned:
    found = normalised(document, kinds)
    annotations = texts_of(document, "annotations")
    reference = Reference.to(found.kind, found.key, {**texts_of(document, "labels"), **injected}, annotations)
    return _Mentioned(found, reference, _is_ignored(document))


def _is_ignored(document: Manifest) -> bool:
    return texts_of(document, "annotations").get(MODE) == MODE_IGNORE


def _object(wanted: _Mentioned, previous: Reference | None) -> DesiredObject:
    return DesiredObject(
        wanted.object.manifest,
        wanted.reference.identity,
        wanted.object.resource,
        previous.labels if previous else {},
        previous.annotations if previous else {},
        known=previous is not None,
        problem=wanted.object.problem,
    )


def _last_of_each(objects: Iterable[DesiredObject]) -> Iterator[DesiredObject]:
    """The objects; of those with the same identity the last alone, as it would be applied last."""
    found = tuple(objects)
    last = {each.identity: index for index, each in enumerate(found)}
    return (each for index, each in enumerate(found) if last[each.identity] == index)


def _repeated(wanted: Iterable[_Mentioned]) -> tuple[Identity, ...]:
    counts = Counter(each.reference.identity for each in wanted if each.object.problem is None)
    return tuple(identity for identity, count in counts.items() if count > 1)


def _orphans(mentioned: Iterable[_Mentioned], previous: PreviousReferences) -> tuple[Reference, ...]:
    """What was applied before and is mentioned to be released; an object that is wanted as well is not released."""
    wanted = {each.reference.identity for each in mentioned if not each.is_ignored}
    released = (each for each in mentioned if each.is_ignored and each.reference.identity not in wanted)
    return tuple(each.reference for each in released if previous.to(each.reference.identity))
