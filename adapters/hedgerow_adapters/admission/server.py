"""Serves admission reviews over HTTPS.

Expected flow: a server is made, its `check` says that it is not ready; within `serving` it listens. Guarantees: every
new connection is shown the newest certificate; connections are counted from their acceptance on, and whoever has none
of the API server's manners loses his own first; when it stops, reviews under way are answered. Assumptions: reviews are
short, as they share one event loop. HTTP/1.1 is the only protocol, as API servers speak it to webhooks.

Source: webhooks-and-tokens §3.1, §3.2.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from hedgerow_adapters.admission.certificates import Certificates
from hedgerow_adapters.admission.connection import Caller, Connection
from hedgerow_adapters.admission.connections import Connections
from hedgerow_adapters.admission.desk import Desk
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.limits import Limits
from hedgerow_adapters.admission.listening import Door, allow_connections, first_byte, hang_up, listening_socket
from hedgerow_adapters.admission.observer import AdmissionObserver
from hedgerow_adapters.probes import Listener

CHECK_PATIENCE: Final = 10.0
"""Seconds that the server has to answer itself."""
_SWEEP: Final = 1.0


class AdmissionServer:
    """The server of one process."""

    def __init__(
        self,
        where: Listener,
        certificates: Certificates,
        exchange: Exchange,
        *,
        limits: Limits = Limits(),  # noqa: B008 -- immutable
        observer: AdmissionObserver,
    ) -> None:
        self._where = where
        self._certificates = certificates
        self._limits = limits
        self._observer = observer
        self._connections = Connections(limits)
        self._desk = Desk(exchange, self._connections, limits, observer)
        self._handshakes: set[asyncio.Task[None]] = set()
        self._port: int | None = None

    async def check(self) -> str | None:
        """Whether connections are taken: none, or why not; asks by making one."""
        if self._port is None:
            return "webhook server has not been started yet"
        address = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._where.address, self._where.address)  # noqa: S104 -- compared, not listened on
        anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
        try:
            async with asyncio.timeout(CHECK_PATIENCE):
                _, writer = await asyncio.open_connection(address, self._port, ssl=anybody)
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError) as error:
            return f"webhook server is not reachable: {str(error) or 'no answer'}"
        return None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[int]:
        """Serve until the context is left; the port it listens on.

        Raises:
            ListenError: the address cannot be listened on.
        """
        allow_connections(self._limits.connections)
        http = web.Server(self._desk.respond)
        door = Door(
            listening_socket("webhooks", self._where), lambda accepted: self._take(accepted, http), self._cannot
        )
        background = [asyncio.create_task(self._sweep()), asyncio.create_task(self._certificates.watch())]
        self._port = door.port
        try:
            yield door.port
        finally:
            await self._say_goodbye()
            door.close()
            await self._drain(http)
            await _end(*background, *self._handshakes)

    async def _say_goodbye(self) -> None:
        """Close connections with their answers; take new ones for a while, as not everybody knows yet."""
        self._desk.is_leaving = True
        await asyncio.sleep(self._limits.farewell)
        self._port = None

    async def _drain(self, http: web.Server) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.drain):
                await self._desk.settled()
        await http.shutdown(self._limits.goodbye)

    def _take(self, accepted: socket.socket, http: web.Server) -> None:
        """Begin with a connection, unless all others are busy and there are too many of them."""
        if self._connections.are_full:
            has_room = self._connections.close_idlest()
            self._observer.crowded(refused=not has_room)
            if not has_room:
                accepted.close()
                return
        self._greet(accepted, http)

    def _cannot(self, error: OSError) -> None:
        """Make room where there are no more files for connections."""
        self._observer.cannot_accept(error.strerror or str(error))
        self._connections.close_idlest()

    def _greet(self, accepted: socket.socket, http: web.Server) -> None:
        def done(handshake: asyncio.Task[None]) -> None:
            self._handshakes.discard(handshake)
            self._connections.closed(caller)
            if handshake.cancelled():  # perhaps before it began
                accepted.close()

        caller = Caller()
        handshake = asyncio.create_task(self._shake_hands(caller, accepted, http))
        caller.ends_by(handshake.cancel)
        self._connections.opened(caller)
        self._handshakes.add(handshake)
        handshake.add_done_callback(done)

    async def _shake_hands(self, caller: Caller, accepted: socket.socket, http: web.Server) -> None:
        try:
            async with asyncio.timeout(self._limits.handshake):
                brings_something = await first_byte(accepted)
            self._connections.closed(caller)
            if brings_something:
                await self._secure(accepted, http)
            else:
                accepted.close()
        except OSError as error:
            self._observer.handshake_failed(getattr(error, "reason", None) or str(error) or type(error).__name__)
            accepted.close()

    async def _secure(self, accepted: socket.socket, http: web.Server) -> None:
        connection = Connection(http, self._connections, self._limits, self._observer)
        # Cancelled, a handshake would keep its buffers until its time is up.
        connection.ends_by(lambda: hang_up(accepted))
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self._certificates.context,
                ssl_handshake_timeout=self._limits.handshake,
                ssl_shutdown_timeout=self._limits.goodbye,
            )
        except BaseException:
            self._connections.closed(connection)
            raise

    async def _sweep(self) -> None:
        """Close what takes too long, every second."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(_SWEEP, self._limits.request))
            for _ in range(self._connections.close_overdue(loop.time())):
                self._observer.overdue()


async def _end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
