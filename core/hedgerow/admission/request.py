"""What the API server asks a webhook about.

A request is a value that anybody can make from a manifest. The objects in it are raw: whatever the sender wrote, of any
JSON type, because nothing has checked them yet.

Source: webhooks-and-tokens §3.2, §3.4; Kubernetes API, AdmissionRequest of admission.k8s.io/v1.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hedgerow.machinery.objects import ObjectKey, Resource

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"
CONNECT: Final = "CONNECT"


class GroupVersionKind(NamedTuple):
    """The type of an object."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """Group and version as manifests spell them; the core group has no name."""
        return f"{self.group}/{self.version}" if self.group else self.version


class GroupVersionResource(NamedTuple):
    """The collection that an object is in."""

    group: str
    version: str
    resource: str
    """The plural name, such as `deployments`."""


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """One operation that waits for a decision."""

    kind: GroupVersionKind
    """The type of the objects, which is the one that the webhook is registered for."""
    resource: GroupVersionResource
    operation: str
    """CREATE, UPDATE, DELETE or CONNECT."""
    namespace: str = ""
    """Where the object is or will be; its own metadata may leave it out. Empty: it is cluster-scoped."""
    name: str = ""
    """Empty where the server is still to generate it, and for the deletion of a collection."""
    object: Any = None
    """The object as it is to be; none for deletions."""
    old_object: Any = None
    """The object as it is; none for creations."""
    subresource: str = ""
    uid: str = ""
    """Names this very request; the answer repeats it."""
    dry_run: bool = False

    @property
    def key(self) -> ObjectKey:
        """Key of the object."""
        return ObjectKey(self.namespace, self.name)


def creation(resource: Resource, manifest: Any) -> AdmissionRequest:
    """The request that asks about the creation of an object; its namespace and name are those in its metadata."""
    return _request(resource, CREATE, manifest, None)


def update(resource: Resource, manifest: Any, old_manifest: Any) -> AdmissionRequest:
    """The request that asks about the change of an object to `manifest`."""
    return _request(resource, UPDATE, manifest, old_manifest)


def deletion(resource: Resource, manifest: Any) -> AdmissionRequest:
    """The request that asks about the deletion of an object."""
    return _request(resource, DELETE, None, manifest)


def _request(resource: Resource, operation: str, manifest: Any, old_manifest: Any) -> AdmissionRequest:
    subject = old_manifest if manifest is None else manifest
    metadata = subject.get("metadata") if isinstance(subject, dict) else None
    stated = metadata if isinstance(metadata, dict) else {}
    return AdmissionRequest(
        kind=GroupVersionKind(resource.group, resource.version, resource.kind),
        resource=GroupVersionResource(resource.group, resource.version, resource.plural),
        operation=operation,
        namespace=str(stated.get("namespace") or "") if resource.namespaced else "",
        name=str(stated.get("name") or ""),
        object=manifest,
        old_object=old_manifest,
    )
