"""A process whose connections all break in the middle of their handshake: `python -m ... uvloop|asyncio`.

Other threads open and close files meanwhile. Prints how many requests failed, and how many of those files were closed
by somebody else.
"""

import asyncio
import contextlib
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator

import uvloop

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.kubernetes.credentials import Connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import TransportError

LIST = requests.list_page(Resource("", "v1", "services", "Service"))
AT_ONCE = 20
REQUESTS = 100
RESET = struct.pack("ii", 1, 0)


@contextlib.contextmanager
def resetting_server() -> Iterator[int]:
    """A server that resets connections some moments after they were made, and its port."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        listener.settimeout(0.001)
        ended = threading.Event()

        def serve() -> None:
            connections: list[socket.socket] = []
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    connections.append(listener.accept()[0])
                    if len(connections) < AT_ONCE // 4:
                        continue
                for connection in connections:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    connection.close()
                connections.clear()

        with in_background(serve):
            try:
                yield listener.getsockname()[1]
            finally:
                ended.set()


@contextlib.contextmanager
def in_background(work: Callable[[], None]) -> Iterator[None]:
    """Some work in a thread that is over when the block is."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


class Files:
    """Opens and closes files without end, and counts those that were not its own any more when it closed them."""

    def __init__(self) -> None:
        self.lost = 0
        self.ended = threading.Event()

    def work(self) -> None:
        while not self.ended.is_set():
            opened = [descriptor for _ in range(4) for descriptor in os.pipe()]
            self.ended.wait(0.0005)
            for descriptor in opened:
                try:
                    os.close(descriptor)
                except OSError:
                    self.lost += 1


async def failed_requests(port: int) -> int:
    """How many of all requests got no answer; some are cancelled in the middle."""

    async def send(transport: HttpTransport) -> int:
        failed = 0
        for number in range(REQUESTS):
            try:
                async with asyncio.timeout(0.001 if number % 5 == 0 else None):
                    await transport.send(LIST)
            except (TransportError, TimeoutError):
                failed += 1
        return failed

    async with HttpTransport(Connection(f"https://127.0.0.1:{port}"), max_in_flight=AT_ONCE) as transport:
        return sum(await asyncio.gather(*(send(transport) for _ in range(AT_ONCE))))


def main(loop: str) -> None:
    """Print the two counts."""
    files = Files()
    run = uvloop.run if loop == "uvloop" else asyncio.run
    with resetting_server() as port, in_background(files.work):
        try:
            failed = run(failed_requests(port))
        finally:
            files.ended.set()
    sys.stdout.write(f"{failed} failed, {files.lost} lost\n")


if __name__ == "__main__":
    main(sys.argv[1])
