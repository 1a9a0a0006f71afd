"""Servers that answer 200 and nothing of use: a list-and-watch over HTTP asks them ever more rarely."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from typing import Final

from hedgerow.machinery.controller import Watch
from hedgerow.machinery.objects import Resource, key_of
from hedgerow_adapters.informer.informer import Informer, Watched
from hedgerow_adapters.informer.machine import Delivery
from hedgerow_adapters.kubernetes.credentials import Connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from tests.e2e.loopback_servers import CHUNKED, JSON

SERVICES = Watch(
    Resource("", "v1", "services", "Service"),
    transform=lambda manifest: manifest,
    enqueue=lambda manifest, _snapshot: (key_of(manifest),),
)
EMPTY_LIST = json.dumps({"metadata": {"resourceVersion": "1"}, "items": []}).encode()
LISTED = JSON + b"Content-Length: %d\r\n\r\n" % len(EMPTY_LIST) + EMPTY_LIST
GAPS: Final = [0.8, 1.6, 3.2]
"""Seconds between two tries, without jitter."""
TRIES: Final = len(GAPS) + 1
NOTHING: Final = b""
HOPELESS: Final = {
    "closes at once": (NOTHING, NOTHING, "disconnected"),
    "lists are empty texts": (JSON + b"Connection: close\r\n\r\n", NOTHING, "disconnected"),
    "speaks something else": (b"\x16\x03\x01\x02\x00garbage\r\n\r\n", NOTHING, "disconnected"),
    "a page of a proxy": (b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n<html>Hi</html>", NOTHING, "disconnected"),
    "watches end at once": (LISTED, CHUNKED + b"0\r\n\r\n", "closed-early"),
    "watches are empty": (LISTED, JSON + b"Content-Length: 0\r\n\r\n", "closed-early"),
    "watches break at once": (LISTED, CHUNKED + b"ffff\r\n{", "disconnected"),
}
"""What a server answers to lists and to watches, and what the ends of both are called."""


class Server:
    """Answers lists in one way and watches in another, then closes the connection."""

    def __init__(self, to_lists: bytes, to_watches: bytes) -> None:
        self._to_lists = to_lists
        self._to_watches = to_watches
        self.requests = 0

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(ConnectionError):
            asked = await reader.readuntil(b"\r\n\r\n")
            self.requests += 1
            writer.write(self._to_watches if b"watch=" in asked else self._to_lists)
            await writer.drain()


class Listener:
    """Takes note of ends alone, until there were enough."""

    def __init__(self) -> None:
        self.ends: list[tuple[float, str]] = []
        self.enough = asyncio.Event()

    async def deliver(self, delivery: Delivery) -> None:
        """Nobody needs it."""

    def interrupted(self, _watched: Watched, cause: str, _problem: Exception | None) -> None:
        self.ends.append((asyncio.get_running_loop().time(), cause))
        if len(self.ends) == TRIES:
            self.enough.set()

    def resumed(self, watched: Watched) -> None:
        """Nobody needs it."""


async def test_what_leads_nowhere_is_tried_after_ever_longer_waits() -> None:
    outcomes = await asyncio.gather(*(tried(*answers) for *answers, _ in HOPELESS.values()))

    for (case, (*_, cause)), (ends, requests) in zip(HOPELESS.items(), outcomes, strict=True):
        gaps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(ends)]
        assert all(gap >= wanted for gap, wanted in zip(gaps, GAPS, strict=True)), (case, gaps)
        assert {told for _, told in ends} == {cause}, case
        # The HTTP client asks once more where a server closes without a word, and a list comes before a watch.
        assert requests <= 2 * TRIES, case


async def tried(to_lists: bytes, to_watches: bytes) -> tuple[list[tuple[float, str]], int]:
    """The first ends of lists and watches, and how many requests there were."""
    server, listener = Server(to_lists, to_watches), Listener()
    async with server.listening() as url, HttpTransport(Connection(url)) as transport:
        informer = Informer(transport, SERVICES, listener.deliver, observer=listener, random=lambda: 0.0)
        run = asyncio.create_task(informer.run())
        async with asyncio.timeout(30):
            await listener.enough.wait()
        run.cancel()
        await asyncio.wait([run])
    return listener.ends, server.requests
