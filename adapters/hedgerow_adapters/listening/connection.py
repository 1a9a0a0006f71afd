"""One connection of a server: aiohttp's HTTP protocol, with limits of time and memory."""

import asyncio
import contextlib
import math
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, cast

from aiohttp import web
from aiohttp.http import HttpProcessingError
from typing_extensions import override

from hedgerow_adapters.listening.connections import ConnectionObserver, Connections, CrowdedError, Limits

SERVER: Final = "hedgerow"
_LINGERING: Final = 1.0
"""Seconds in which the rest of a request that is refused may still arrive, so that the client sees the refusal."""
_NO_ROOM: Final = "requests hold as many bytes as they may"
UNAUTHORIZED: Final = (
    b"HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 29\r\n"
    b"Connection: close\r\n\r\nclient certificate required\r\n"
)


@dataclass(eq=False, slots=True)
class Caller:
    """A connection that has sent nothing yet; it costs a file, and none of the buffers of TLS and HTTP."""

    abort: Callable[[], object]
    deadline: float = math.inf  # the wait for the first byte has its own

    def refuse(self) -> None:
        """Close the connection, which has sent no request."""
        self.abort()


class Connection(web.RequestHandler):
    """A connection from its first byte on, which may begin its TLS handshake."""

    def __init__(
        self,
        server: web.Server,
        connections: Connections,
        limits: Limits,
        observer: ConnectionObserver,
        abort: Callable[[], object],
    ) -> None:
        """A connection that `abort` closes until its handshake is done."""
        loop = asyncio.get_running_loop()
        # aiohttp limits the lines of a head to 8 KiB each and to 128. Bodies are not decompressed: only attackers
        # compress reviews.
        super().__init__(
            server,
            loop=loop,
            access_log=None,  # type: ignore[arg-type]  # aiohttp passes none itself
            keepalive_timeout=limits.idle,
            lingering_time=_LINGERING,
            auto_decompress=False,
        )
        self._connections = connections
        self._limits = limits
        self._observer = observer
        self.abort: Callable[[], object] = abort
        self._is_asking = True
        self._is_stranger = False
        self._is_refused = False
        self._receiving: asyncio.Timeout | None = None
        self.deadline = math.inf  # the handshake has its own
        connections.opened(self)

    def refuse(self) -> None:
        """End `receiving`, now or when it begins; the second time, close the connection."""
        if self._is_refused:
            self.abort()
        self._is_refused = True
        if self._receiving is not None:
            self._receiving.reschedule(self._loop.time())

    @contextlib.asynccontextmanager
    async def receiving(self) -> AsyncIterator[None]:
        """Wait for the rest of a request within the context; raises CrowdedError if there is no room for it."""
        if self._is_refused:
            raise CrowdedError(_NO_ROOM)
        time_limit = asyncio.timeout(None)
        try:
            async with time_limit:
                self._receiving = time_limit
                yield
        except TimeoutError:
            if time_limit.expired():
                raise CrowdedError(_NO_ROOM) from None
            raise
        finally:
            self._receiving = None

    def begin(self) -> None:
        """Note that a request has arrived in full; until its answer the connection is not closed to make room."""
        self._connections.begins(self)

    def rest(self) -> None:
        """Note that the connection waits for its next request."""
        self._is_asking = False
        self.deadline = self._loop.time() + self._limits.idle
        self._connections.rests(self)

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.abort = cast("asyncio.Transport", transport).abort
        self._is_stranger = _lacks_certificate(transport)
        self.deadline = self._loop.time() + self._limits.request
        super().connection_made(transport)

    @override
    def connection_lost(self, exc: BaseException | None) -> None:
        self._connections.closed(self)
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_stranger:
            self._refuse_stranger()
            return
        if data:  # aiohttp calls without any to go on with what it has
            if not self._is_asking:
                self._is_asking = True
                self.deadline = self._loop.time() + self._limits.request
            self._connections.holds(self, len(data))
        super().data_received(data)

    def _refuse_stranger(self) -> None:
        """Answer the first bytes of a client that showed no certificate, without reading them as a request."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        self._observer.handshake_failed("the client showed no certificate")
        transport.write(UNAUTHORIZED)
        transport.close()

    @override
    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._connections.answered(self)

    @override
    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what is no HTTP; neither answer nor log show it, as it may hold a Secret."""
        if not isinstance(exc, HttpProcessingError):
            return super().handle_error(request, status, exc, message)
        self._observer.malformed(type(exc).__name__)
        return refusal(HTTPStatus.BAD_REQUEST, closes=True)


def _lacks_certificate(transport: asyncio.BaseTransport) -> bool:
    """True if the server asks clients for a certificate and this one showed none; a wrong one ends the handshake."""
    context = transport.get_extra_info("sslcontext")
    return context is not None and context.verify_mode != ssl.CERT_NONE and not transport.get_extra_info("peercert")


def refusal(status: HTTPStatus, *, closes: bool, **headers: str) -> web.Response:
    """An answer that refuses a request by its status."""
    response = web.Response(status=status, text=f"{status.phrase}\n", headers={"Server": SERVER, **headers})
    if closes:
        response.force_close()
    return response
