"""A request and a response as values, and the port that carries one to an API server and the other back."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the Kubernetes API."""

    method: str
    path: str
    """Not encoded: a slash always parts two segments."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """A JSON value; none: no body."""
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

        A request may wait for long before it leaves, and leave more than once: it is not enough to ask before `send`
        whether one still may write.

        Args:
            request: what to ask.
            timeout: seconds for all of it; of a list for its beginning, and for each silence from there on.
            may_send: asked directly before the request leaves, each time.

        Raises:
            NotSentError: `may_send` said no; nothing that left before, if anything did, was answered with a success.
            TransportError: no complete answer came within the timeout.
        """
        ...

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager["Stream"]:
        """Open a watch, for at most `timeout` seconds; leaving the context closes the connection.

        Raises:
            TransportError: the connection could not be opened.
        """
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
