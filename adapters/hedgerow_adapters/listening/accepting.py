"""Accepts the connections that arrive at an address."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable
from typing import Final

from hedgerow_adapters.listening.addresses import Listener, explained

BACKLOG: Final = 1024
"""Connections that wait to be accepted; the system may allow fewer."""
_AT_A_TIME: Final = 32
"""Connections that are accepted before the event loop goes on."""
_PAUSE: Final = 0.1
"""Seconds until the next attempt after the system gave no connection."""


class Door:
    """Accepts connections from its creation until it is closed."""

    def __init__(
        self, listening: socket.socket, take: Callable[[socket.socket], None], cannot: Callable[[OSError], None]
    ) -> None:
        """A door that is open.

        Args:
            listening: where connections arrive; closed with the door.
            take: owns each connection from then on.
            cannot: is called when the system gives no connection, as a process may open only so many files.
        """
        self._listening = listening
        self._take = take
        self._cannot = cannot
        self._loop = asyncio.get_running_loop()
        self._pausing: asyncio.TimerHandle | None = None
        self._resume()

    @property
    def port(self) -> int:
        """Where it is."""
        return int(self._listening.getsockname()[1])

    def close(self) -> None:
        """Take no more connections."""
        if self._pausing is not None:
            self._pausing.cancel()
        else:
            self._loop.remove_reader(self._listening)
        self._listening.close()

    def _resume(self) -> None:
        self._pausing = None
        self._loop.add_reader(self._listening, self._arrived)

    def _arrived(self) -> None:
        for _ in range(_AT_A_TIME):
            try:
                accepted, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._loop.remove_reader(self._listening)
                self._pausing = self._loop.call_later(_PAUSE, self._resume)
                self._cannot(error)
                return
            accepted.settimeout(0)
            self._take(accepted)


async def first_byte(accepted: socket.socket) -> bool:
    """Wait until the other side has sent something, which stays to be read, or has left; true if it has sent some."""
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    loop.add_reader(accepted, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(accepted)
    return accepted.recv(1, socket.MSG_PEEK) != b""


def hang_up(accepted: socket.socket) -> None:
    """Let readers of a socket find that the other side is gone."""
    with contextlib.suppress(OSError):
        accepted.shutdown(socket.SHUT_RDWR)


def listening_socket(purpose: str, where: Listener) -> socket.socket:
    """A socket that connections arrive at from now on.

    Raises:
        ListenError: the address cannot be listened on.
    """
    with explained(purpose, where):
        listening = _on_every_address(where.port) if not where.address else _on(where)
    listening.settimeout(0)
    return listening


def _on(where: Listener) -> socket.socket:
    family = socket.AF_INET6 if ":" in where.address else socket.AF_INET
    return socket.create_server((where.address, where.port), family=family, backlog=BACKLOG)


def _on_every_address(port: int) -> socket.socket:
    """For both versions of IP, or for version 4 alone where the system has no other."""
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(("", port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True)
        except OSError as error:
            if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
                raise
    return socket.create_server(("", port), backlog=BACKLOG)
