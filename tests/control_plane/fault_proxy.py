"""A TCP proxy on loopback that behaves as broken networks do, when a test says so.

Bytes pass through as they are, TLS too. The proxy lives in a thread and an event loop of its own, so that tests with
and without a loop can use it; what a method asks for is in force when it returns.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from enum import Enum, auto
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self, TypeVar

import yaml

from tests.control_plane.credentials import write_private
from tests.control_plane.processes import PATIENCE, free_ports

LOOPBACK: Final = "127.0.0.1"
SERVER_NAME: Final = "kubernetes.default.svc"
"""One of the names that the API server's certificate is for."""
_PIECE: Final = 64 * 1024
_CLOSE_BY_RESET: Final = struct.pack("ii", 1, 0)
_T = TypeVar("_T")


class Direction(Enum):
    """Which way bytes go."""

    TO_SERVER = auto()
    TO_CLIENT = auto()


BOTH: Final = frozenset(Direction)


class _End(NamedTuple):
    """One of the two TCP connections that a proxied connection consists of."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def reset(self) -> None:
        """Close it at once and with RST, as a crashed peer or a firewall would."""
        if not self.writer.transport.is_closing():
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_BY_RESET)
        self.writer.transport.abort()


class _Connection:
    """A client's connection and the one behind it to the server."""

    def __init__(self, client: _End, server: _End, *, latency: float, budget: float) -> None:
        self._client = client
        self._server = server
        self._latency = latency
        self._budget = budget
        self._flows = {direction: asyncio.Event() for direction in Direction}
        self._task = asyncio.current_task()

    def let_pass(self, directions: Iterable[Direction]) -> None:
        """Carry bytes and ends of streams in these directions, and keep those of the other back."""
        for direction, flows in self._flows.items():
            flows.set() if direction in directions else flows.clear()

    async def reset(self) -> None:
        """Return when both ends have been reset."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def carry(self) -> None:
        """Carry bytes both ways until both sides have said that they are done, or one breaks off."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pump(Direction.TO_SERVER, self._client, self._server))
                tasks.create_task(self._pump(Direction.TO_CLIENT, self._server, self._client))
        except BaseException:
            self._client.reset()
            self._server.reset()
            raise
        self._client.writer.close()
        self._server.writer.close()

    async def _pump(self, direction: Direction, source: _End, sink: _End) -> None:
        while True:
            piece = await source.reader.read(_PIECE)
            await asyncio.sleep(self._latency)
            await self._flows[direction].wait()
            if not piece:
                break
            sink.writer.write(piece[: int(min(self._budget, len(piece)))])
            await sink.writer.drain()
            self._budget -= len(piece)
            if self._budget <= 0:
                raise ConnectionResetError("cut")
        sink.writer.write_eof()


class FaultProxy:
    """Stands on a port of its own before a server: a context manager that carries everything until told otherwise.

    Faults that are blocks end with their block, and then everything goes on that was held up.
    """

    def __init__(self, server_port: int) -> None:
        self.port: Final = free_ports(1)[0]
        self.accepted = 0
        """How many connections clients have made."""
        self._server_port = server_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy", daemon=True)
        self._listener: asyncio.Server | None = None
        self._connections: set[_Connection] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._passing: frozenset[Direction] = BOTH
        self._latency = 0.0
        self._budget: Callable[[], float] = lambda: float("inf")

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def kubeconfig(self, direct: Path) -> Path:
        """A kubeconfig that leads through the proxy where another leads to the API server itself; TLS is verified."""
        document = yaml.safe_load(direct.read_text(encoding="utf-8"))
        for entry in document["clusters"]:
            entry["cluster"] |= {"server": f"https://{LOOPBACK}:{self.port}", "tls-server-name": SERVER_NAME}
        return write_private(direct.with_suffix(".proxied"), yaml.safe_dump(document))

    @property
    def open_connections(self) -> int:
        """How many connections have neither ended nor been reset; those that are stranded count."""
        return len(self._connections)

    # Faults.

    @contextlib.contextmanager
    def black_hole(self, directions: frozenset[Direction] = BOTH) -> Iterator[None]:
        """Connections stay, and new ones are accepted, but nothing goes in these directions, ends neither."""
        self._call(lambda: self._let_pass(BOTH - directions))
        try:
            yield
        finally:
            self._call(lambda: self._let_pass(BOTH))

    def strand(self) -> None:
        """The connections of now carry nothing any more and do not end; new ones do."""
        self._call(self._strand)

    def reset_all(self) -> int:
        """Reset the connections of now; how many there were."""
        return self._do(self._reset_all())

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Nobody listens: new connections are refused. Those of now go on."""
        self._do(self._stop_listening())
        try:
            yield
        finally:
            self._do(self._listen())

    @contextlib.contextmanager
    def delaying(self, seconds: float) -> Iterator[None]:
        """Connections that are made meanwhile carry every piece that late, each way."""
        self._latency = seconds
        try:
            yield
        finally:
            self._latency = 0.0

    @contextlib.contextmanager
    def cutting(self, budget: Callable[[], int]) -> Iterator[None]:
        """Connections that are made meanwhile are reset after as many bytes, both ways together, as each gets here."""
        self._budget, before = budget, self._budget
        try:
            yield
        finally:
            self._budget = before

    # Inside the proxy's loop.

    def _do(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def _call(self, work: Callable[[], None]) -> None:
        async def call() -> None:
            work()

        self._do(call())

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._accept, LOOPBACK, self.port)

    async def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()

    async def _close(self) -> None:
        await self._stop_listening()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # what was reset is closed in the loop's next round

    async def _reset_all(self) -> int:
        connections = list(self._connections)
        await asyncio.gather(*(connection.reset() for connection in connections))
        return len(connections)

    def _let_pass(self, directions: frozenset[Direction]) -> None:
        self._passing = directions
        for connection in self._connections:
            connection.let_pass(directions)

    def _strand(self) -> None:
        for connection in self._connections:
            connection.let_pass(())

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.accepted += 1
        client = _End(reader, writer)
        # A connection that breaks or is reset is what this proxy is for.
        with contextlib.suppress(OSError, ExceptionGroup, asyncio.CancelledError):
            await self._carry(client)
        self._tasks.discard(task)

    async def _carry(self, client: _End) -> None:
        try:
            server = _End(*await asyncio.open_connection(LOOPBACK, self._server_port))
        except BaseException:
            client.reset()
            raise
        connection = _Connection(client, server, latency=self._latency, budget=self._budget())
        connection.let_pass(self._passing)
        self._connections.add(connection)
        try:
            await connection.carry()
        finally:
            self._connections.discard(connection)
