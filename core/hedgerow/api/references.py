"""References and origins: which Secrets and objects a ManagedResource names, and which one a live object names.

The spec refers to Secrets. The status refers to the applied objects, with the labels and annotations that each manifest
had. Functions that read references raise UnreadableError if these have a shape that no API server stores.

The origin is an annotation of a managed object. Several source clusters may deliver into one target cluster, so it has
the id of the source cluster, unless that is empty.

Source: managed-resources §2, §4.4, §7.4 to §7.6; decision "`status.resources`".
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import LAST_APPLIED
from hedgerow.api.managed_resources import APPLIED, NOT_APPLIED, ORIGIN
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, annotations_of, key_of
from hedgerow.machinery.questions import Answer, Found
from hedgerow.machinery.reading import each_at, text_at, texts_at

DEFAULT_NAMESPACE: Final = "default"
CLUSTER_IDENTITY: Final = ObjectKey("kube-system", "cluster-identity")
"""The ConfigMap with the identity of the source cluster."""
_IDENTITY_ENTRY: Final = "cluster-identity"
REQUIRED: Final = "<cluster>"
"""As the id of a cluster: the ConfigMap says it."""
_OPTIONAL: Final = "<default>"
_UNKNOWN: Final = "unable to determine cluster id: cannot determine cluster identity from configmap: "


class GroupKind(NamedTuple):
    """A kind of objects in any version."""

    group: str
    kind: str


class Identity(NamedTuple):
    """Identifies an object. Only Namespaces have no namespace; for other kinds an empty one is `default`."""

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
    """As it was applied; the namespace is empty for a cluster-scoped object."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Those of the manifest, and the injected ones."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Those of the manifest, without kubectl's copy of it."""
    identity: Identity = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Compute the identity once, as it is needed often."""
        found = identity(self.kind.group, self.kind.kind, self.key.namespace, self.key.name)
        object.__setattr__(self, "identity", found)

    @classmethod
    def to(cls, kind: Kind, key: ObjectKey, labels: Mapping[str, str], annotations: Mapping[str, str]) -> "Reference":
        """The reference to an object that is to be applied.

        It leaves out the annotation with kubectl's copy of the object: people who may read ManagedResources need not be
        allowed to read Secrets, and objects of a custom kind may be as secret.
        """
        remembered = {name: value for name, value in annotations.items() if name not in {LAST_APPLIED, APPLIED}}
        return cls(kind, key, labels, remembered)

    @property
    def is_applied(self) -> bool:
        """False if the entry was written before the object was created, or by an instance of another class.

        The object then belongs to the ManagedResource only if its origin annotation says so.
        """
        return self.annotations.get(APPLIED) != NOT_APPLIED

    def unapplied(self) -> "Reference":
        """The reference to an object that may not have been applied."""
        return Reference(self.kind, self.key, self.labels, {**self.annotations, APPLIED: NOT_APPLIED})

    def in_status(self) -> dict[str, Any]:
        """The entry, without empty fields."""
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
        """As messages name it: `v1/ConfigMap/default/foo`, with `default` even for cluster-scoped objects."""
        found = self.identity
        return f"{self.kind.api_version}/{found.kind}/{found.namespace}/{found.name}"


def references_of(managed_resource: Manifest) -> tuple[Reference, ...]:
    """The references in the status of a ManagedResource, as `references_in`."""
    return _references(managed_resource, "status", "resources")


def references_in(status: Manifest) -> tuple[Reference, ...]:
    """The references in a status, in their order.

    Entries without kind or name are left out: a request without a name would concern all objects of a kind.
    """
    return _references(status, "resources")


def _references(manifest: Manifest, *path: str) -> tuple[Reference, ...]:
    references = each_at(_reference, manifest, *path)
    return tuple(each for each in references if all(each.kind) and each.key.name)


def kinds_of_references(managed_resource: Manifest) -> set[Kind]:
    """The kinds of the references in the status of a ManagedResource; reads nothing else of it."""
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
    """The references in the order of a status."""
    return tuple(sorted(references, key=lambda reference: str(reference.identity)))


def referenced_names(managed_resource: Manifest) -> tuple[str, ...]:
    """The names of the Secrets that a ManagedResource refers to, in its order; empty ones included."""
    return each_at(lambda ref: text_at(ref, "name") or "", managed_resource, "spec", "secretRefs")


def secret_names(managed_resource: Manifest) -> tuple[str, ...]:
    """The names of the Secrets that a ManagedResource refers to, in its order; empty ones are left out."""
    return tuple(name for name in referenced_names(managed_resource) if name)


def readable_names(managed_resource: Manifest) -> tuple[str, ...]:
    """As `secret_names`, without unreadable ones: the reconciliation of the ManagedResource fails for those."""
    spec = managed_resource.get("spec")
    refs = spec.get("secretRefs") if isinstance(spec, Mapping) else None
    names = (ref.get("name") for ref in refs if isinstance(ref, Mapping)) if isinstance(refs, list) else ()
    return tuple(name for name in names if name and isinstance(name, str))


class Origin(NamedTuple):
    """A ManagedResource, and the id of its cluster, which may be empty."""

    cluster_id: str
    managed_resource: ObjectKey

    def __str__(self) -> str:
        """As the annotation of the object spells it."""
        key = "/".join(self.managed_resource)
        return f"{self.cluster_id}:{key}" if self.cluster_id else key

    def may_be(self, other: "Origin") -> bool:
        """True if two origins may name one ManagedResource, whose cluster has got or lost its id."""
        is_same_cluster = self.cluster_id == other.cluster_id or not self.cluster_id or not other.cluster_id
        return self.managed_resource == other.managed_resource and is_same_cluster


def parse_origin(text: str) -> Result[Origin, str]:
    """The origin in an annotation, or why there is none."""
    *cluster, key = text.split(":")
    parts = key.split("/")
    if len(cluster) > 1 or len(parts) != 2:  # noqa: PLR2004 -- namespace and name
        return Failure(f"unexpected origin format: {json.dumps(text, ensure_ascii=False)}")
    return Success(Origin("".join(cluster), ObjectKey(*parts)))


def origin_of(live: Manifest) -> Origin | None:
    """The origin of a live object; none if the annotation is absent or unreadable."""
    text = annotations_of(live).get(ORIGIN)
    return None if text is None else parse_origin(text).value_or(None)


def managed_resource_of(live: Manifest, cluster_id: str) -> ObjectKey | None:
    """The ManagedResource of a live object; none if it is of another cluster or unknown."""
    origin = origin_of(live)
    return origin.managed_resource if origin is not None and origin.cluster_id == cluster_id else None


def other_origin(live: Manifest, own: Origin) -> Origin | None:
    """The origin of a live object if it is another than `own`; none if it is `own` or unknown."""
    origin = origin_of(live)
    return None if origin is None or origin.may_be(own) else origin


def asks_for_identity(configured: str) -> bool:
    """True if the configuration says to read the cluster id from the cluster."""
    return configured in {REQUIRED, _OPTIONAL}


def cluster_id(configured: str, identity: Answer) -> Result[str, str]:
    """The effective id of the source cluster, or why the process cannot start without one.

    The configuration says an id, or how to find one; only then the ConfigMap with the identity matters.
    """
    if not asks_for_identity(configured):
        return Success(configured)
    is_optional = configured == _OPTIONAL
    if not isinstance(identity, Found):
        return Success("") if is_optional and identity.is_not_found else Failure(_UNKNOWN + identity.message)
    for config_map in identity.objects:
        if (value := (config_map.get("data") or {}).get(_IDENTITY_ENTRY)) is not None:
            return Success(value)
    return Success("") if is_optional else Failure(f"{_UNKNOWN}no cluster-identity entry")
