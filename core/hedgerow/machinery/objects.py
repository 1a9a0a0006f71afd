"""What every controller knows of any Kubernetes object: its resource, its key and its metadata.

Objects are plain parsed manifests. Nothing here copies, checks or changes them, and nothing knows where they came from.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

Manifest: TypeAlias = Mapping[str, Any]
"""A parsed object as `yaml.safe_load` or `json.loads` yields it; read-only by convention."""

_EMPTY: Mapping[str, Any] = {}


class ObjectKey(NamedTuple):
    """Namespace and name of an object; the namespace of a cluster-scoped one is empty."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """As users write it: `namespace/name`, or the name alone."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Kind(NamedTuple):
    """What an object is, as manifests say it."""

    api_version: str
    kind: str

    @classmethod
    def of(cls, manifest: Manifest) -> "Kind":
        """The kind that stands in a manifest; absent parts are empty."""
        return cls(manifest.get("apiVersion") or "", manifest.get("kind") or "")

    @property
    def group(self) -> str:
        """The API group; the core group has no name."""
        return self.api_version.rpartition("/")[0]


class Resource(NamedTuple):
    """A kind of objects as the API server serves it."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """Group and version as manifests spell them; the core group has no name."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def object_kind(self) -> Kind:
        """What its objects are, as manifests say it."""
        return Kind(self.api_version, self.kind)

    def __str__(self) -> str:
        """As kubectl and RBAC write it: `networkpolicies.networking.k8s.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def key_of(manifest: Manifest) -> ObjectKey:
    """The key that stands in an object's metadata; absent parts are empty."""
    metadata = manifest.get("metadata") or _EMPTY
    return ObjectKey(metadata.get("namespace") or "", metadata.get("name") or "")


def labels_of(manifest: Manifest) -> Mapping[str, str]:
    """The labels of an object; none for an object without metadata."""
    return (manifest.get("metadata") or _EMPTY).get("labels") or _EMPTY


def annotations_of(manifest: Manifest) -> Mapping[str, str]:
    """The annotations of an object; none for an object without metadata."""
    return (manifest.get("metadata") or _EMPTY).get("annotations") or _EMPTY


def is_terminating(manifest: Manifest) -> bool:
    """Whether deletion of the object was asked for: its deletion timestamp is set."""
    return bool((manifest.get("metadata") or _EMPTY).get("deletionTimestamp"))


def uid_of(manifest: Manifest) -> str | None:
    """The identity that the API server gave an object; none for one that no server has stored."""
    return (manifest.get("metadata") or _EMPTY).get("uid")


def resource_version_of(manifest: Manifest) -> str | None:
    """The version of an object that optimistic locking compares; none for one that no server has stored."""
    return (manifest.get("metadata") or _EMPTY).get("resourceVersion")


FIELD_MANAGER: Final = "hedgerow"
"""Name under which this project writes. API servers take it from the user agent of a request, up to the slash."""


def field(name: str) -> str:
    """The step of a path in `fieldsV1` that leads to a member of an object."""
    return f"f:{name}"


def item(**keys: str) -> str:
    """The step of a path in `fieldsV1` that leads to an item of a list whose items are told apart by keys."""
    return f"k:{json.dumps(keys, separators=(',', ':'), sort_keys=True)}"


def managers_of(live: Manifest, path: tuple[str, ...]) -> frozenset[str]:
    """The managers that own a field, at a path in `fieldsV1`; none where the server keeps no record of it."""
    metadata = live.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    found = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return frozenset(str(entry.get("manager") or "") for entry in found if _holds(entry.get("fieldsV1"), path))


def _holds(fields: Any, path: tuple[str, ...]) -> bool:
    for step in path:
        if not isinstance(fields, Mapping) or step not in fields:
            return False
        fields = fields[step]
    return True
