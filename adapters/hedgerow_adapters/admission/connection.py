"""One connection of an admission server: aiohttp's HTTP protocol, with an eye on time and memory."""

import asyncio
import math
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, cast

from aiohttp import web
from aiohttp.http import HttpProcessingError
from typing_extensions import override

from hedgerow_adapters.admission.connections import Connections
from hedgerow_adapters.admission.limits import Limits
from hedgerow_adapters.admission.observer import AdmissionObserver

SERVER: Final = "hedgerow"
_LINGERING: Final = 1.0
"""Seconds in which the rest of a request that is refused may still arrive, so that the client sees the refusal."""


class Caller:
    """A connection that has brought nothing yet; it costs a file, and none of the buffers of TLS and HTTP."""

    __slots__ = ("_abort", "deadline")

    def __init__(self) -> None:
        self.deadline = math.inf  # whoever waits for the first byte sees to that
        self._abort: Callable[[], object]

    def ends_by(self, abort: Callable[[], object]) -> None:
        """The connection is closed in this way."""
        self._abort = abort

    def abort(self) -> None:
        """Close the connection without further words."""
        self._abort()


class Connection(web.RequestHandler):
    """A connection from its first byte on, which begins its TLS handshake."""

    __slots__ = ("_abort", "_connections", "_is_asking", "_limits", "_observer", "deadline")

    def __init__(
        self, server: web.Server, connections: Connections, limits: Limits, observer: AdmissionObserver
    ) -> None:
        loop = asyncio.get_running_loop()
        # Lines of a head are limited by aiohttp to 8 KiB each and to 128. Bodies stay as they were sent: nobody
        # compresses reviews but those who want them to burst here.
        super().__init__(
            server,
            loop=loop,
            access_log=None,  # type: ignore[arg-type]  # none is allowed for: aiohttp passes it itself
            keepalive_timeout=limits.idle,
            lingering_time=_LINGERING,
            auto_decompress=False,
        )
        self._connections = connections
        self._limits = limits
        self._observer = observer
        self._abort: Callable[[], object]
        self._is_asking = True
        self.deadline = math.inf  # the loop sees to the handshake
        connections.opened(self)

    def ends_by(self, abort: Callable[[], object]) -> None:
        """Until the handshake is done, the connection is closed in this way."""
        self._abort = abort

    def abort(self) -> None:
        """Close the connection without further words."""
        self._abort()

    def rest(self) -> None:
        """From now on the connection waits for its next request."""
        self._is_asking = False
        self.deadline = self._loop.time() + self._limits.idle
        self._connections.rests(self)

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._abort = cast("asyncio.Transport", transport).abort
        self.deadline = self._loop.time() + self._limits.request
        super().connection_made(transport)

    @override
    def connection_lost(self, exc: BaseException | None) -> None:
        self._connections.closed(self)
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if data:  # aiohttp calls without any to go on with what it has
            if not self._is_asking:
                self._is_asking = True
                self.deadline = self._loop.time() + self._limits.request
            self._connections.holds(self, len(data))
        super().data_received(data)

    @override
    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what is no HTTP; neither the client nor the log is shown what it was, as that may be a Secret."""
        if not isinstance(exc, HttpProcessingError):
            return super().handle_error(request, status, exc, message)
        self._observer.malformed(type(exc).__name__)
        return refusal(HTTPStatus.BAD_REQUEST, closes=True)


def refusal(status: HTTPStatus, *, closes: bool, **headers: str) -> web.Response:
    """An answer without a review."""
    response = web.Response(status=status, text=f"{status.phrase}\n", headers={"Server": SERVER, **headers})
    if closes:
        response.force_close()
    return response
