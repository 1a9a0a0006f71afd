"""Ten thousand idle connections: the server works on, and takes no more memory for more of them."""

import http.client
import json
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane import PATIENCE
from tests.e2e.admission_server.clients import PATH, anybody, document

REPOSITORY = Path(__file__).resolve().parents[3]
CROWD = 10_000
HANDSHAKES = 2_000
"""They cost processor time on both sides, and are as many as the server keeps, twice."""
LOOPS = pytest.mark.parametrize("loop", ["uvloop", "asyncio"])


@dataclass
class Process:
    """A server in a process of its own."""

    port: int
    pid: int

    def memory(self) -> float:
        """MiB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize() / 2**20

    def connections(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


@contextmanager
def serving(folder: Path, loop: str) -> Iterator[Process]:
    command = [sys.executable, "-m", "tests.e2e.admission_server.serving", str(folder), loop]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield Process(int(process.stdout.readline()), process.pid)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


class Regular:
    """A client that keeps its connection, as API servers do."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE, context=anybody())
        self._connection.connect()
        self._socket = self._connection.sock

    def ask(self) -> Any:
        assert self._connection.sock is self._socket, "the connection was lost"
        self._connection.request("POST", PATH, json.dumps(document()), {"Content-Type": "application/json"})
        return json.loads(self._connection.getresponse().read())["response"]["allowed"]

    def close(self) -> None:
        self._connection.close()


def plain(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port))


def with_handshake(port: int) -> socket.socket:
    return anybody().wrap_socket(plain(port))


@pytest.fixture
def files() -> Iterator[int]:
    """How many files this process may have open; as many as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@LOOPS
@pytest.mark.parametrize(("connect", "number"), [(plain, CROWD), (with_handshake, HANDSHAKES)])
def test_a_crowd_of_idle_connections_neither_stops_the_server_nor_grows_it(
    pair: Path, files: int, loop: str, connect: Callable[[int], socket.socket], number: int
) -> None:
    number = min(number, files - 500)
    with serving(pair, loop) as process, ExitStack() as stack:
        regular = Regular(process.port)
        stack.callback(regular.close)
        assert regular.ask()
        full = 0.0
        for made in range(number):
            stack.callback(connect(process.port).close)
            if made % 250 == 0:
                assert regular.ask()
            if made == 1200:
                full = process.memory()
        assert regular.ask()
        newcomer = Regular(process.port)
        stack.callback(newcomer.close)
        assert newcomer.ask()
        assert process.connections() < 1200
        assert process.memory() < full + 16
