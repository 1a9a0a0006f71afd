"""Where a server listens, and how it accepts the connections that arrive there."""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

BACKLOG: Final = 1024
"""Connections that wait to be accepted; the system may allow fewer."""
_AT_A_TIME: Final = 32
"""Connections that are accepted before the event loop goes on."""
_PAUSE: Final = 0.1
"""Seconds until the next attempt after the system gave no connection."""
LAST_PORT: Final = 65_535


class ListenError(OSError):
    """An address cannot be listened on; the text is one sentence."""

    def __init__(self, sentence: str, field: str = "") -> None:
        """Why, and which field of the configuration is to blame, if any."""
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Listener:
    """Where a server listens."""

    address: str
    """Empty: every address."""
    port: int
    """0: any that is free."""
    section: str = field(default="", compare=False)
    """Of the configuration, such as `server.metrics`; empty: none."""

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def listener(bind_address: str, port: int, section: str = "") -> Listener | None:
    """The listener that a section of a configuration asks for; port 0 asks for none, as with controller-runtime."""
    return Listener(bind_address, port, section) if port else None


@contextlib.contextmanager
def explained(purpose: str, where: Listener) -> Iterator[None]:
    """Turn errors into a ListenError that names the section of the configuration, and check the port first."""
    if not 0 <= where.port <= LAST_PORT:
        at = f"{where.section}.port" if where.section else "port"
        raise ListenError(f"{at}: {where.port} is no port, which are 0 to {LAST_PORT}", at)
    sentence = f"{where.section}: " * bool(where.section) + f"cannot listen on {where} for {purpose}"
    try:
        yield
    except OSError as error:
        # The event loop's own text repeats the address.
        known = (error.strerror or str(error)).partition(" (while attempting")[0]
        reason = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else known
        is_port = error.errno in {errno.EADDRINUSE, errno.EACCES}
        field = f"{where.section}.{'port' if is_port else 'bindAddress'}" if where.section else ""
        raise ListenError(f"{sentence}: {reason}", field) from error
    except ValueError as error:
        raise ListenError(f"{sentence}: {where.address!r} is no address", f"{where.section}.bindAddress") from error


class Door:
    """Accepts connections from its creation until it is closed."""

    def __init__(
        self, listening: socket.socket, take: Callable[[socket.socket], None], cannot: Callable[[OSError], None]
    ) -> None:
        """An open door: `take` owns each connection; `cannot` hears that the system gives none, as of too few files."""
        self._listening = listening
        self._take = take
        self._cannot = cannot
        self._loop = asyncio.get_running_loop()
        self._pausing: asyncio.TimerHandle | None = None
        self.port: Final[int] = listening.getsockname()[1]
        self._resume()

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
    """A socket that connections arrive at from now on; raises ListenError."""
    with explained(purpose, where):
        if where.address:
            family = socket.AF_INET6 if ":" in where.address else socket.AF_INET
            listening = socket.create_server((where.address, where.port), family=family, backlog=BACKLOG)
        else:
            listening = _on_every_address(where.port)
    listening.settimeout(0)
    return listening


def _on_every_address(port: int) -> socket.socket:
    """For both versions of IP, or for version 4 alone where the system has no other."""
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(("", port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True)
        except OSError as error:
            if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
                raise
    return socket.create_server(("", port), backlog=BACKLOG)
