"""The documents by which a server tells what it serves.

Short names, categories and subresources that are of no use here are left out.

Source: Kubernetes documentation, "The Kubernetes API", discovery; the contract suite compares them with a real server.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.memory.faults import BARE_NOT_FOUND
from hedgerow_adapters.memory.kinds.core import TOKEN_REQUESTS
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.statuses import method_not_allowed, no_such_path
from hedgerow_adapters.protocol.transport import Request, Response

_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_SUBRESOURCE_VERBS: Final = ("get", "patch", "update")
_SUBRESOURCES: Final[Mapping[str, tuple[Sequence[str], Resource | None]]] = {
    "scale": (_SUBRESOURCE_VERBS, Resource("autoscaling", "v1", "", "Scale")),
    "finalize": (("update",), None),
    "token": (("create",), TOKEN_REQUESTS.resource),
}
"""Verbs of subresources, and what they are objects of."""


def discovery_document(request: Request, kinds: Iterable[Kind]) -> Response | None:
    """What a server says of the kinds that it serves; none where a request does not ask for that.

    Raises:
        RefusedError: there is no such version of a group that it knows, or the request wants something else of it.
    """
    document: Mapping[str, Any] | None
    match request.path.strip("/").split("/"):
        case ["api"]:
            document = {"kind": "APIVersions", "versions": ["v1"]}
        case ["apis"]:
            groups = dict.fromkeys(kind.resource.group for kind in kinds if kind.resource.group)
            described = [_group(group, kinds) for group in groups]
            document = {"kind": "APIGroupList", "apiVersion": "v1", "groups": described}
        case ["apis", group]:
            found = _group(group, kinds)
            document = {"kind": "APIGroup", "apiVersion": "v1", **found} if found["versions"] else None
        case ["api", version]:
            document = _resource_list("", version, kinds)
        case ["apis", group, version]:
            document = _resource_list(group, version, kinds)
        case _:
            return None
    if document is None:
        return BARE_NOT_FOUND.response
    if request.method != "GET":
        raise method_not_allowed()
    return Response(200, document)


def _group(group: str, kinds: Iterable[Kind]) -> dict[str, Any]:
    """A group with its versions, of which the one that is declared first is preferred."""
    versions = dict.fromkeys(kind.resource.version for kind in kinds if kind.resource.group == group)
    described = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    preferred = {"preferredVersion": described[0]} if described else {}
    return {"name": group, "versions": described, **preferred}


def _resource_list(group: str, version: str, kinds: Iterable[Kind]) -> dict[str, Any] | None:
    """What a version of a group holds; none where the server has never heard of the group."""
    of_group = [kind for kind in kinds if kind.resource.group == group]
    of_version = [kind for kind in of_group if kind.resource.version == version]
    if not of_group:
        return None
    if not of_version:
        raise no_such_path()
    entries = sorted((entry for kind in of_version for entry in _entries(kind)), key=lambda entry: str(entry["name"]))
    typed = {"apiVersion": "v1"} if group else {}
    group_version = of_version[0].resource.api_version
    return {"kind": "APIResourceList", **typed, "groupVersion": group_version, "resources": entries}


def _entries(kind: Kind) -> Iterator[dict[str, Any]]:
    """A resource and its subresources."""
    resource = kind.resource
    described = {"singularName": "", "namespaced": resource.namespaced, "kind": resource.kind}
    verbs = [verb for verb in _VERBS if verb != "deletecollection" or kind.deletable_as_collection]
    yield {**described, "name": resource.plural, "singularName": resource.kind.lower(), "verbs": verbs}
    for name in kind.subresources:
        allowed, made = _SUBRESOURCES.get(name, (_SUBRESOURCE_VERBS, None))
        typed = {"group": made.group, "version": made.version, "kind": made.kind} if made is not None else {}
        yield {**described, "name": f"{resource.plural}/{name}", "verbs": list(allowed), **typed}
