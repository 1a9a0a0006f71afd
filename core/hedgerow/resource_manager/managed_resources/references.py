"""What a status remembers of each object: where it is, and what its manifest said when it was applied.

Source: managed-resources §2, §7.4 to §7.6.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hedgerow.machinery.objects import Kind, Manifest, ObjectKey
from hedgerow.machinery.reading import UnreadableError, list_at, object_at, objects_at, text_at, texts_at
from hedgerow.resource_manager.managed_resources.equivalences import (
    Equivalences,
    GroupKind,
    Identity,
    equivalences,
    identity,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of `status.resources`."""

    kind: Kind
    key: ObjectKey
    """As it was applied; the namespace is empty for an object that is known to be in none."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Those of the manifest and those injected."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Those of the manifest."""

    @property
    def identity(self) -> Identity:
        """What the object is found again by."""
        return identity(self.kind.group, self.kind.kind, self.key.namespace, self.key.name)

    def in_status(self) -> dict[str, Any]:
        """The entry as it is written; what is empty is left out."""
        entry = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "name": self.key.name,
            "namespace": self.key.namespace,
            "labels": dict(self.labels),
            "annotations": dict(self.annotations),
        }
        return {name: value for name, value in entry.items() if value}

    def __str__(self) -> str:
        """As messages name it: `v1/ConfigMap/default/foo`; a namespace stands there even for objects without one."""
        found = self.identity
        return f"{self.kind.api_version}/{found.kind}/{found.namespace}/{found.name}"


def references_of(managed_resource: Manifest) -> tuple[Reference, ...]:
    """What the status of a ManagedResource refers to, in its order; otherwise as `references_in`.

    Raises:
        UnreadableError: the entries have a shape that no API server stores.
    """
    try:
        return references_in(object_at(managed_resource, "status"))
    except UnreadableError as error:
        raise error.below("status") from error


def references_in(status: Manifest) -> tuple[Reference, ...]:
    """What the status of a ManagedResource refers to, in its order.

    An entry that does not say kind and name refers to nothing and is left out: a request without a name would concern
    all objects of a kind.

    Raises:
        UnreadableError: the entries have a shape that no API server stores.
    """
    found = map(_reference, objects_at(status, "resources"))
    return tuple(each for each in found if all(each.kind) and each.key.name)


def _reference(entry: Manifest) -> Reference:
    return Reference(
        Kind(text_at(entry, "apiVersion") or "", text_at(entry, "kind") or ""),
        ObjectKey(text_at(entry, "namespace") or "", text_at(entry, "name") or ""),
        texts_at(entry, "labels"),
        texts_at(entry, "annotations"),
    )


def in_order(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """The references as they stand in a status."""
    return tuple(sorted(references, key=lambda reference: str(reference.identity)))


@dataclass(frozen=True, slots=True)
class PreviousReferences:
    """What the last status refers to; an object is found under every name that its kind has."""

    references: Mapping[Identity, Reference]
    equivalences: Equivalences

    def to(self, wanted: Identity) -> Reference | None:
        """The reference to an object; none where there is none."""
        found = self.equivalences.find(wanted, self.references)
        return None if found is None else self.references[found]

    def beside(self, mentioned: Iterable[Identity]) -> tuple[Reference, ...]:
        """The references to all other objects than those that are mentioned, in order."""
        found = {reference.identity for each in mentioned if (reference := self.to(each))}
        return in_order(reference for at, reference in self.references.items() if at not in found)


def previous_references(managed_resource: Manifest) -> PreviousReferences:
    """What the last status of a ManagedResource refers to, in the light of the equivalences in its spec.

    Raises:
        UnreadableError: spec or status have a shape that no API server stores.
    """
    found = references_in(object_at(managed_resource, "status"))
    return PreviousReferences({each.identity: each for each in found}, equivalences_of(managed_resource))


def equivalences_of(managed_resource: Manifest) -> Equivalences:
    """Which kinds count as each other for a ManagedResource.

    Raises:
        UnreadableError: it says so in a shape that no API server stores.
    """
    sets = [{"kinds": kinds} for kinds in list_at(managed_resource, "spec", "equivalences")]
    return equivalences(map(_group_kind, objects_at(each, "kinds")) for each in sets)


def _group_kind(kind: Manifest) -> GroupKind:
    return GroupKind(text_at(kind, "group") or "", text_at(kind, "kind") or "")
