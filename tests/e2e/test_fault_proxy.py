"""The proxy that breaks connections for the other tests, before a server that says everything back."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.control_plane import PATIENCE
from tests.control_plane.fault_proxy import LOOPBACK, Direction, FaultProxy

SILENCE = 0.2
"""Seconds after which nothing more is expected; long for loopback, where bytes take microseconds."""


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that sends every byte back."""
    with socket.create_server((LOOPBACK, 0)) as server:
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        yield server.getsockname()[1]
        # Closing alone does not wake a thread that accepts.
        server.shutdown(socket.SHUT_RDWR)


def _serve(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=_say_back, args=(server.accept()[0],), daemon=True).start()


def _say_back(connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        while heard := connection.recv(4096):
            connection.sendall(heard)


@pytest.fixture
def proxy(echo: int) -> Iterator[FaultProxy]:
    with FaultProxy(echo) as running:
        yield running


@pytest.fixture
def client(proxy: FaultProxy) -> Iterator[socket.socket]:
    with connected(proxy) as connection:
        assert said_back(connection, b"hello")
        yield connection


def connected(proxy: FaultProxy) -> socket.socket:
    return socket.create_connection((LOOPBACK, proxy.port), timeout=PATIENCE)


def said_back(connection: socket.socket, words: bytes, *, within: float = 10) -> bool:
    """Whether the server's answer arrives."""
    connection.settimeout(within)
    connection.sendall(words)
    try:
        return connection.recv(4096) == words
    except TimeoutError:
        return False


def test_everything_passes_until_told_otherwise_and_ends_pass_too(proxy: FaultProxy, client: socket.socket) -> None:
    client.sendall(b"x" * 2**20)
    client.shutdown(socket.SHUT_WR)

    heard = 0
    while piece := client.recv(2**16):
        heard += len(piece)

    assert heard == 2**20
    assert proxy.accepted == 1


def test_a_black_hole_carries_nothing_either_way_and_gives_up_what_it_holds_when_it_ends(
    proxy: FaultProxy, client: socket.socket
) -> None:
    with proxy.black_hole(), connected(proxy) as late:
        assert not said_back(client, b"old", within=SILENCE)
        assert not said_back(late, b"new", within=SILENCE)
        assert proxy.open_connections == 2
    client.settimeout(10)
    assert client.recv(3) == b"old"


def test_one_direction_alone_can_be_held_up(proxy: FaultProxy, client: socket.socket) -> None:
    with proxy.black_hole(frozenset({Direction.TO_CLIENT})):
        assert not said_back(client, b"1", within=SILENCE)
        assert not said_back(client, b"2", within=SILENCE)

    client.settimeout(10)
    assert client.recv(1) + client.recv(1) == b"12"


def test_stranded_connections_stay_silent_while_new_ones_work(proxy: FaultProxy, client: socket.socket) -> None:
    proxy.strand()

    with connected(proxy) as late:
        assert said_back(late, b"new")
    assert not said_back(client, b"old", within=SILENCE)


def test_a_reset_is_seen_by_everybody_who_is_connected(proxy: FaultProxy, client: socket.socket) -> None:
    with proxy.black_hole():
        assert proxy.reset_all() == 1
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    assert proxy.open_connections == 0


def test_new_connections_can_be_refused_while_old_ones_work(proxy: FaultProxy, client: socket.socket) -> None:
    with proxy.refusing():
        with pytest.raises(ConnectionRefusedError):
            connected(proxy)
        assert said_back(client, b"old")
    with connected(proxy) as late:
        assert said_back(late, b"new")


def test_answers_can_be_late(proxy: FaultProxy) -> None:
    with proxy.delaying(0.1), connected(proxy) as late:
        began = time.monotonic()
        assert said_back(late, b"new")
        assert time.monotonic() - began >= 0.2


def test_a_connection_can_be_cut_after_so_many_bytes(proxy: FaultProxy) -> None:
    with proxy.cutting(lambda: 12), connected(proxy) as cut:
        assert said_back(cut, b"12345")
        cut.sendall(b"67")
        with pytest.raises(ConnectionResetError):
            cut.recv(1)


def test_a_server_that_is_away_looks_like_a_reset() -> None:
    with socket.create_server((LOOPBACK, 0)) as gone:
        port = gone.getsockname()[1]
    # The reset may come while the client still connects.
    with FaultProxy(port) as proxy, pytest.raises(ConnectionResetError), connected(proxy) as client:
        client.recv(1)
