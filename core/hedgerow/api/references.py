"""The references of a ManagedResource: in its spec to Secrets, in its status to the objects that it has applied.

Of each object the status tells where it is, and what its manifest said when it was applied. What reads entries
raises UnreadableError where they have a shape that no API server stores.

Source: managed-resources §2, §7.4 to §7.6; decision "`status.resources`".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from hedgerow.api.kubernetes import LAST_APPLIED
from hedgerow.api.managed_resources import APPLIED, NOT_APPLIED
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.reading import UnreadableError, each_at, object_at, text_at, texts_at

DEFAULT_NAMESPACE: Final = "default"


class GroupKind(NamedTuple):
    """A kind of objects in any version."""

    group: str
    kind: str


class Identity(NamedTuple):
    """What an object is found again by. Only Namespaces have no namespace; for other kinds none is the default one."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """The key that references are sorted by: `apps/Deployment/web/nginx`, `/ConfigMap/bar/foo`."""
        return "/".join(self)

    def of_kind(self, other: GroupKind) -> "Identity":
        """The object of the same name and another kind."""
        return Identity(other.group, other.kind, self.namespace, self.name)


def group_of(api_version: str) -> str:
    """The group that an `apiVersion` names; the core group is empty."""
    return api_version.rpartition("/")[0]


def group_kind_of(manifest: Manifest) -> GroupKind:
    """The group and the kind of an object; empty where it does not say them."""
    return GroupKind(group_of(str(manifest.get("apiVersion") or "")), str(manifest.get("kind") or ""))


def identity(group: str, kind: str, namespace: str, name: str) -> Identity:
    """The identity of an object; an absent namespace is `default`, except that of a Namespace."""
    return Identity(group, kind, namespace or ("" if kind == "Namespace" else DEFAULT_NAMESPACE), name)


def identity_of(manifest: Manifest) -> Identity:
    """The identity of an object."""
    key = key_of(manifest)
    return identity(group_of(manifest.get("apiVersion") or ""), manifest.get("kind") or "", key.namespace, key.name)


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of `status.resources`."""

    kind: Kind
    key: ObjectKey
    """As it was applied; the namespace is empty for an object that is known to be in none."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Those of the manifest and those injected."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Those of the manifest, but for the copy that kubectl keeps of it."""
    identity: Identity = field(init=False, compare=False)
    """What the object is found again by."""

    def __post_init__(self) -> None:
        """Find the identity once, as it is asked for often."""
        found = identity(self.kind.group, self.kind.kind, self.key.namespace, self.key.name)
        object.__setattr__(self, "identity", found)

    @classmethod
    def to(cls, kind: Kind, key: ObjectKey, labels: Mapping[str, str], annotations: Mapping[str, str]) -> "Reference":
        """The reference to an object that is to be applied.

        Whoever may read a ManagedResource may read this, and need not be allowed to read Secrets. So the annotation in
        which kubectl keeps a copy of what it applied, a Secret's values included, is left out, of objects of any kind:
        what a custom kind holds may be as secret. Nothing is lost by it: it is not for us to remove it again.
        """
        remembered = {name: value for name, value in annotations.items() if name not in {LAST_APPLIED, APPLIED}}
        return cls(kind, key, labels, remembered)

    @property
    def is_applied(self) -> bool:
        """True unless the entry says that the object is not known to have been applied.

        Such an entry was recorded before the object was created, or was written by an instance of another class. The
        object belongs to the ManagedResource only if its origin annotation says so.
        """
        return self.annotations.get(APPLIED) != NOT_APPLIED

    def unapplied(self) -> "Reference":
        """The reference as long as the object is not known to have been applied."""
        return Reference(self.kind, self.key, self.labels, {**self.annotations, APPLIED: NOT_APPLIED})

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
    """What the status of a ManagedResource refers to, in its order; otherwise as `references_in`."""
    try:
        return references_in(object_at(managed_resource, "status"))
    except UnreadableError as error:
        raise error.below("status") from error


def references_in(status: Manifest) -> tuple[Reference, ...]:
    """What the status of a ManagedResource refers to, in its order.

    An entry that does not say kind and name refers to nothing and is left out: a request without a name would concern
    all objects of a kind.
    """
    found = each_at(_reference, status, "resources")
    return tuple(each for each in found if all(each.kind) and each.key.name)


def kinds_of_references(managed_resource: Manifest) -> set[Kind]:
    """The kinds of what the status of a ManagedResource refers to; nothing else of it is read."""
    entries = each_at(lambda entry: (_kind(entry), text_at(entry, "name")), managed_resource, "status", "resources")
    return {kind for kind, name in entries if all(kind) and name}


def _kind(entry: Manifest) -> Kind:
    return Kind(text_at(entry, "apiVersion") or "", text_at(entry, "kind") or "")


def _reference(entry: Manifest) -> Reference:
    return Reference(
        _kind(entry),
        ObjectKey(text_at(entry, "namespace") or "", text_at(entry, "name") or ""),
        texts_at(entry, "labels"),
        texts_at(entry, "annotations"),
    )


def in_order(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """The references as they stand in a status."""
    return tuple(sorted(references, key=lambda reference: str(reference.identity)))


def referenced_names(managed_resource: Manifest) -> tuple[str, ...]:
    """The names of the Secrets that a ManagedResource refers to, in its order; empty ones included."""
    return each_at(lambda ref: text_at(ref, "name") or "", managed_resource, "spec", "secretRefs")


def secret_names(managed_resource: Manifest) -> tuple[str, ...]:
    """The names of the Secrets that a ManagedResource refers to, in its order; empty ones are left out."""
    return tuple(name for name in referenced_names(managed_resource) if name)


def readable_names(managed_resource: Manifest) -> tuple[str, ...]:
    """As `secret_names`, without what cannot be read: it is told of where the ManagedResource is reconciled."""
    spec = managed_resource.get("spec")
    refs = spec.get("secretRefs") if isinstance(spec, Mapping) else None
    names = (ref.get("name") for ref in refs if isinstance(ref, Mapping)) if isinstance(refs, list) else ()
    return tuple(name for name in names if name and isinstance(name, str))


def secret_refs(names: Sequence[str]) -> list[Mapping[str, str]]:
    """The references of a ManagedResource to Secrets, as they stand in its spec."""
    return [{"name": name} for name in names]
