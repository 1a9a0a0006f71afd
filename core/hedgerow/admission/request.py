"""Admission requests. Their objects are raw: of any JSON type, as nothing has checked them yet.

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
    """Of the objects; one that the webhook is registered for."""
    resource: GroupVersionResource
    operation: str
    namespace: str = ""
    """Of the object, whose metadata may leave it out. Empty: it is cluster-scoped."""
    name: str = ""
    """Empty where the server is still to generate it, and for the deletion of a collection."""
    object: Any = None
    """The new object; none for deletions."""
    old_object: Any = None
    """The object that is stored; none for creations."""
    subresource: str = ""
    uid: str = ""
    """Of this request; the answer repeats it."""
    dry_run: bool = False

    @property
    def key(self) -> ObjectKey:
        """Key of the object."""
        return ObjectKey(self.namespace, self.name)


def creation(resource: Resource, manifest: Any) -> AdmissionRequest:
    """The request to create an object; namespace and name are those in its metadata."""
    return _request(resource, CREATE, manifest, None)


def update(resource: Resource, manifest: Any, old_manifest: Any) -> AdmissionRequest:
    """The request to change an object to `manifest`."""
    return _request(resource, UPDATE, manifest, old_manifest)


def deletion(resource: Resource, manifest: Any) -> AdmissionRequest:
    """The request to delete an object."""
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
