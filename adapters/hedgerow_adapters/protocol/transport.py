"""A request and a response as values, and the port that carries one to an API server and the other back."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the Kubernetes API."""

    method: str
    path: str
    """Not encoded: a slash always parts two segments."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"
    is_list: bool = False
    """Whether the answer may be as large as a list: it may come packed, and may take its time as long as it goes on."""


@dataclass(frozen=True, slots=True)
class Response:
    """What an API server answered; the body is the decoded JSON value."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""

    @property
    def is_success(self) -> bool:
        """Whether the server did what it was asked to."""
        return 200 <= self.status < 300  # noqa: PLR2004 -- the range of HTTP


class TransportError(Exception):
    """No answer came: not connected, cut off, timed out, or not decodable."""


class NotSentError(TransportError):
    """The sender's own gate was closed when the request, or its repetition, was about to leave."""

    def __init__(self) -> None:
        super().__init__("the request was taken back before it was sent")


class Transport(Protocol):
    """Carries requests to one API server."""

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        """The server's answer, whatever its status.

        `timeout` is the seconds for all of it; of a list for its beginning, and for each silence from there on.
        `may_send` is asked directly before the request leaves; it may wait for long, and leave more than once. Raises
        NotSentError if `may_send` said no: nothing that left before, if anything did, was answered with a success.
        Raises TransportError if no complete answer came within the timeout.
        """
        ...

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager["Stream"]:
        """Open a watch for at most `timeout` seconds, or raise TransportError; leaving the context closes it."""
        ...


@dataclass(frozen=True, slots=True)
class Stream:
    """A watch's answer: a refusal with its Status body, or watch events as they arrive."""

    status: int
    body: Any
    """The Status of a refusal; none while events flow."""
    events: AsyncIterator[Mapping[str, Any]]
    """Decoded `{"type": ..., "object": ...}` values until the server closes; raises TransportError when cut off."""
    headers: Mapping[str, str] = field(default_factory=dict)


_COLLECTION_VERBS: Final = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT_VERBS: Final = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


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
            suffix = ""
        case ["apis", group, _version, *rest] if rest:
            suffix = f".{group}"
        case _:
            return Attributes(request.method.lower(), request.path)
    namespace = ""
    match rest:
        # Any other word behind the name of a Namespace is a resource in it.
        case ["namespaces", name, below, *_] if below not in ("status", "finalize"):
            namespace, rest = name, rest[2:]
    plural, name, subresource = (*rest, "", "")[:3]
    resource = f"{plural}{suffix}/{subresource}" if subresource else f"{plural}{suffix}"
    verbs = _OBJECT_VERBS if name else _COLLECTION_VERBS
    is_watch = request.query.get("watch") in {"true", "1"}
    verb = "watch" if is_watch else verbs.get(request.method, request.method.lower())
    return Attributes(verb, resource, namespace, name or _selected_name(request))


def _selected_name(request: Request) -> str:
    """The one name that a list or watch is restricted to; a role that names the object allows it."""
    field, _, value = request.query.get("fieldSelector", "").partition("=")
    return value if field == "metadata.name" else ""
