"""Serves HTTP/1.1 at one address, in plain or over TLS, within limits; answers are short: they share a loop."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeAlias

from aiohttp import web

from hedgerow_adapters.listening.accepting import Door, Listener, first_byte, hang_up, listening_socket
from hedgerow_adapters.listening.connection import Caller, Connection
from hedgerow_adapters.listening.connections import ConnectionObserver, Connections, FileBudget, Limits

Respond: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""Answers a request. While a body arrives, it is within `receiving` of the request's protocol. Once it has arrived in
full, it calls `begin`, and `rest` when the answer is known."""

_SWEEP: Final = 1.0


class HttpServer:
    """One listener, from its opening until it is closed.

    Expected flow: `open`; `close_door` takes no more connections; `close` ends those that are open.
    """

    def __init__(
        self,
        purpose: str,
        where: Listener,
        respond: Respond,
        *,
        limits: Limits,
        files: FileBudget | None = None,
        observer: ConnectionObserver | None = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        """A server that does not listen yet.

        The purpose stands in the sentence that says why it cannot be served. `files` are of all listeners of the
        process; none: there is no other one. `tls` returns the settings for a connection that is made now; none: it is
        plain.
        """
        self._purpose = purpose
        self._where = where
        self._limits = limits
        share = (files or FileBudget.of(limits.connections)).share(limits.connections)
        self._connections = Connections(share, limits.held)
        self._observer = observer or ConnectionObserver()
        self._tls = tls
        self._http = web.Server(respond)
        self._door: Door | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self) -> int:
        """Serve from now on; the port. Raises ListenError."""
        self._door = Door(listening_socket(self._purpose, self._where), self._take, self._cannot)
        self._tasks.add(asyncio.create_task(self._sweep()))
        return self._door.port

    def close_door(self) -> None:
        """Take no more connections; nothing happens the second time."""
        if self._door is not None:
            self._door.close()
            self._door = None

    async def close(self) -> None:
        """End all connections; answers under way have a moment to arrive."""
        self.close_door()
        await self._http.shutdown(self._limits.goodbye)
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, accepted: socket.socket) -> None:
        if self._connections.are_full:
            has_room = self._connections.close_idlest()
            self._observer.crowded(refused=not has_room)
            if not has_room:
                accepted.close()
                return

        def done(handshake: asyncio.Task[None]) -> None:
            self._tasks.discard(handshake)
            self._connections.closed(caller)
            if handshake.cancelled():  # perhaps before it began
                accepted.close()

        caller = Caller(lambda: handshake.cancel())  # noqa: PLW0108 -- it begins below
        handshake = asyncio.create_task(self._shake_hands(caller, accepted))
        self._connections.opened(caller)
        self._tasks.add(handshake)
        handshake.add_done_callback(done)

    def _cannot(self, error: OSError) -> None:
        self._observer.cannot_accept(error.strerror or str(error))
        self._connections.close_idlest()

    async def _shake_hands(self, caller: Caller, accepted: socket.socket) -> None:
        try:
            async with asyncio.timeout(self._limits.handshake):
                brings_something = await first_byte(accepted)
            self._connections.closed(caller)
            if brings_something:
                await self._connect(accepted)
            else:
                accepted.close()
        except OSError as error:
            self._observer.handshake_failed(getattr(error, "reason", None) or str(error) or type(error).__name__)
            accepted.close()

    async def _connect(self, accepted: socket.socket) -> None:
        # Cancelled, a handshake would keep its buffers until its time is up.
        abort = partial(hang_up, accepted)
        connection = Connection(self._http, self._connections, self._limits, self._observer, abort)
        times = {"ssl_handshake_timeout": self._limits.handshake, "ssl_shutdown_timeout": self._limits.goodbye}
        security: dict[str, Any] = {"ssl": self._tls(), **times} if self._tls is not None else {}
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, accepted, **security)
        except BaseException:
            self._connections.closed(connection)
            raise

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(_SWEEP, self._limits.request))
            for _ in range(self._connections.close_overdue(loop.time())):
                self._observer.overdue()
