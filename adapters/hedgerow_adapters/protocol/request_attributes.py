"""What a request is to the API server's authorization: verb, resource, namespace, or a path that is no resource.

Source: Kubernetes documentation, "Authorization", request attributes.
"""

from dataclasses import dataclass
from typing import Final

from hedgerow_adapters.protocol.transport import Request

_COLLECTION_VERBS: Final = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT_VERBS: Final = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
# Of a Namespace itself; any other word after its name is a resource in it.
_NAMESPACE_SUBRESOURCES: Final = {"status", "finalize"}


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a role must allow so that a request may pass."""

    verb: str
    resource: str
    """As RBAC writes it, `networkpolicies.networking.k8s.io`, with its subresource after a slash; or a path."""
    namespace: str = ""
    name: str = ""

    @property
    def spans_namespaces(self) -> bool:
        """Whether the request is for the objects of all namespaces at once, as far as its path can tell."""
        return not self.namespace and self.verb in {"list", "watch"} and self.resource != "namespaces"


def attributes_of(request: Request) -> Attributes:
    """What a request asks to be allowed."""
    match request.path.strip("/").split("/"):
        case ["api", _version, *rest] if rest:
            return _of_resource(request, "", rest)
        case ["apis", group, _version, *rest] if rest:
            return _of_resource(request, f".{group}", rest)
        case _:
            return Attributes(request.method.lower(), request.path)


def _of_resource(request: Request, group: str, parts: list[str]) -> Attributes:
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2 and parts[2] not in _NAMESPACE_SUBRESOURCES:  # noqa: PLR2004 -- a place
        namespace, parts = parts[1], parts[2:]
    plural, name, subresource = (*parts, "", "")[:3]
    resource = f"{plural}{group}/{subresource}" if subresource else f"{plural}{group}"
    verb = _verb(request, named=bool(name))
    return Attributes(verb, resource, namespace, name or _selected_name(request))


def _selected_name(request: Request) -> str:
    """The one name that a list or watch is restricted to; a role that names the object allows it."""
    field, _, value = request.query.get("fieldSelector", "").partition("=")
    return value if field == "metadata.name" else ""


def _verb(request: Request, *, named: bool) -> str:
    if request.query.get("watch") in {"true", "1"}:
        return "watch"
    verbs = _OBJECT_VERBS if named else _COLLECTION_VERBS
    return verbs.get(request.method, request.method.lower())
