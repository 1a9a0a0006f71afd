"""Requests of the Kubernetes API, built by pure functions.

Names come from whoever wrote an object, and with webhooks from whoever asks. An API server takes its paths apart after
it has decoded them, so that no encoding keeps a name with a slash from leading somewhere else: such names are refused.

Source: Kubernetes documentation, "Kubernetes API concepts"; "Object Names and IDs", path segment names.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch, Update
from hedgerow_adapters.protocol.transport import Request

MERGE_PATCH: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


class UnaddressableError(ValueError):
    """A text that would have to be one segment of a path cannot be one; no object has such a name."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f'{text[:80]!r} cannot be a segment of a path: it is empty, "." or "..", '
            'or holds "/", "%" or what cannot be printed'
        )


WHOLE: Final = 0
"""The limit of a list without pages, which cannot expire, but takes more memory."""
MOST_EXPIRIES: Final = 2
"""Lists in pages that are given up because a continuation has expired."""


def collection_path(resource: Resource, namespace: str = "") -> str:
    """Path of a resource's objects in one namespace, or in all if it is empty; UnaddressableError: it cannot exist."""
    root = ("apis", resource.group) if resource.group else ("api",)
    within = ("namespaces", namespace) if namespace else ()
    return _path(*root, resource.version, *within, resource.plural)


def object_path(resource: Resource, key: ObjectKey, subresource: str = "") -> str:
    """Path of one object, or of one of its subresources; UnaddressableError: no object can have that key."""
    below = f"/{subresource}" if subresource else ""
    return f"{collection_path(resource, key.namespace)}{_path(key.name)}{below}"


def _path(*segments: str) -> str:
    for segment in segments:
        if segment in {"", ".", ".."} or "/" in segment or "%" in segment or not segment.isprintable():
            raise UnaddressableError(segment)
    return f"/{'/'.join(segments)}"


def resources_of(api_version: str) -> Request:
    """The request for the resources of `apps/v1`, or `v1`; UnaddressableError: no such group and version can exist."""
    group, separator, version = api_version.rpartition("/")
    return Request("GET", _path("apis", group, version) if separator else _path("api", version))


def groups() -> Request:
    """The request for the list of all API groups but the core group."""
    return Request("GET", "/apis")


def version() -> Request:
    """The request for the version of the API server."""
    return Request("GET", "/version")


def list_page(
    resource: Resource,
    *,
    limit: int = 500,
    continuation: str = "",
    namespace: str = "",
    name: str = "",
    selector: str = "",
    field_selector: str = "",
    metadata_only: bool = False,
) -> Request:
    """The request for one page of a list, most recent state; `continuation` is the token of the page before.

    With limit 0 it is the whole list. With a `name` it is the list of that object alone, as far as it has the fields
    that are selected.
    """
    query = _selection(name, selector, field_selector)
    if limit:
        query["limit"] = str(limit)
    if continuation:
        query["continue"] = continuation
    accept = METADATA_LIST if metadata_only else "application/json"
    return Request("GET", collection_path(resource, namespace), query, accept=accept, is_list=True)


def watch(
    resource: Resource,
    *,
    resource_version: str,
    timeout_seconds: int | None,
    namespace: str = "",
    name: str = "",
    selector: str = "",
    field_selector: str = "",
    metadata_only: bool = False,
) -> Request:
    """The request for changes after a resource version, with bookmarks; ended by the server after a time, if any."""
    query = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": resource_version}
    query |= _selection(name, selector, field_selector)
    if timeout_seconds is not None:
        query["timeoutSeconds"] = str(timeout_seconds)
    accept = METADATA if metadata_only else "application/json"
    return Request("GET", collection_path(resource, namespace), query, accept=accept)


def _selection(name: str, selector: str, field_selector: str) -> dict[str, str]:
    """The selectors of a request; that of one name a role can grant as the list or watch of that very object."""
    fields = ",".join(term for term in (name and f"metadata.name={name}", field_selector) if term)
    query = {"fieldSelector": fields, "labelSelector": selector}
    return {parameter: value for parameter, value in query.items() if value}


def get(resource: Resource, key: ObjectKey) -> Request:
    """The request for one object."""
    return Request("GET", object_path(resource, key))


def create(resource: Resource, manifest: Manifest, namespace: str = "") -> Request:
    """The request that creates an object, cluster-wide where the namespace is empty."""
    return Request("POST", collection_path(resource, namespace), body=manifest)


def create_beneath(resource: Resource, key: ObjectKey, subresource: str, manifest: Manifest) -> Request:
    """The request for what a subresource of an object makes, such as a token of a ServiceAccount."""
    return Request("POST", object_path(resource, key, subresource), body=manifest)


def update(
    resource: Resource, key: ObjectKey, manifest: Manifest, subresource: str = "", *, dry_run: bool = False
) -> Request:
    """The request that replaces an object, if it has the manifest's resourceVersion; a dry run stores nothing."""
    query = {"dryRun": "All"} if dry_run else {}
    return Request("PUT", object_path(resource, key, subresource), query, body=manifest)


def merge_patch(
    resource: Resource, key: ObjectKey, patch: Manifest, *, resource_version: str | None = None, subresource: str = ""
) -> Request:
    """The request that applies a merge patch, to one version of the object only if that is given."""
    body: Mapping[str, Any] = patch
    if resource_version is not None:
        body = {**patch, "metadata": {**(patch.get("metadata") or {}), "resourceVersion": resource_version}}
    return Request("PATCH", object_path(resource, key, subresource), body=body, content_type=MERGE_PATCH)


def json_patch(
    resource: Resource, key: ObjectKey, operations: Sequence[Mapping[str, Any]], *, subresource: str = ""
) -> Request:
    """The request that applies JSON patch operations."""
    return Request("PATCH", object_path(resource, key, subresource), body=list(operations), content_type=JSON_PATCH)


def delete(
    resource: Resource,
    key: ObjectKey,
    *,
    uid: str | None = None,
    resource_version: str | None = None,
    propagation: str | None = "Background",
) -> Request:
    """The request that deletes an object, only the one of that UID and version where they are given.

    Without a propagation the server does with what the object owns as it does by default, which depends on the kind.
    """
    given = {"uid": uid, "resourceVersion": resource_version}
    preconditions = {name: value for name, value in given.items() if value is not None}
    options: dict[str, Any] = {"propagationPolicy": propagation, "preconditions": preconditions or None}
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    body |= {name: value for name, value in options.items() if value is not None}
    return Request("DELETE", object_path(resource, key), body=body)


def for_action(action: Action) -> Request:
    """The one request that carries out a planned action; UnaddressableError: no object can have that key."""
    match action:
        case Create(resource, manifest) if action.subresource:
            return create_beneath(resource, action.key, action.subresource, manifest)
        case Create(resource, manifest):
            return create(resource, manifest, action.key.namespace)
        case Update(resource, manifest):
            return update(resource, action.key, manifest, action.subresource, dry_run=action.dry_run)
        case MergePatch(resource, key, patch):
            version, subresource = action.resource_version, action.subresource
            return merge_patch(resource, key, patch, resource_version=version, subresource=subresource)
        case JsonPatch(resource, key, operations):
            return json_patch(resource, key, operations, subresource=action.subresource)
        case Delete(resource, key):
            uid, version = action.uid, action.resource_version
            return delete(resource, key, uid=uid, resource_version=version, propagation=action.propagation)
