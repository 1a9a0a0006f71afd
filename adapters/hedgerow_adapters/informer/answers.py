"""Reads what an API server sends to a list-and-watch, and says so where that is not possible.

Decides what can be read and which ends of a list or watch make it start anew. Knows no connection and no state.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, Resource, key_of, resource_version_of
from hedgerow_adapters.informer.machine import ProtocolError, WatchEvent
from hedgerow_adapters.protocol.responses import StatusError, missing_permission, status_error
from hedgerow_adapters.protocol.transport import Request, Response

FROM_THE_FUTURE: Final = "ResourceVersionTooLarge"


class Refused(Exception):  # noqa: N818 -- an answer of the server, not an error of ours
    """The server answered, and did not do what it was asked to; says why, or which permission is missing."""

    def __init__(self, request: Request, error: StatusError) -> None:
        super().__init__(missing_permission(request, error) if error.is_forbidden else error.message)
        self.request = request
        self.error = error

    @property
    def is_final(self) -> bool:
        """Whether the same question will be refused again, however often it is asked.

        The version or token is too old, or was never valid, or is one of a past that was restored from a backup.
        """
        error = self.error
        return error.is_expired or error.status == HTTPStatus.BAD_REQUEST or FROM_THE_FUTURE in error.causes

    @property
    def cause(self) -> str:
        """What observers are told as the cause of the end."""
        if self.error.is_expired:
            return "expired"
        return "forbidden" if self.error.is_forbidden else "refused"

    @property
    def is_unproven_absence(self) -> bool:
        """True if the server may not serve the resource; only discovery can tell."""
        return self.error.is_unproven_absence


class UnreadableObjectError(Exception):
    """An object has not the shape that its watch relies on."""

    def __init__(self, resource: Resource, manifest: Any, problem: Exception) -> None:
        name = f" {key_of(manifest)}" if isinstance(manifest, Mapping) and _has_metadata(manifest) else ""
        super().__init__(f"{resource.kind}{name} cannot be read: {type(problem).__name__}: {problem}")


def watch_event(request: Request, event: Mapping[str, Any], transformed: Callable[[Manifest], Manifest]) -> WatchEvent:
    """The event of a watch.

    Raises:
        Refused: it is an ERROR.
        ProtocolError: it is no event.
    """
    kind, body = event.get("type"), event.get("object")
    if not isinstance(kind, str) or not isinstance(body, Mapping):
        raise ProtocolError("a watch event without type and object")
    if kind == "ERROR":
        raise Refused(request, status_error(Response(HTTPStatus.INTERNAL_SERVER_ERROR, body)))
    return WatchEvent(kind, body if kind == "BOOKMARK" else transformed(body), resource_version_of(body))


def _has_metadata(manifest: Manifest) -> bool:
    return isinstance(manifest.get("metadata"), Mapping)
