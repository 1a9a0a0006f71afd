"""Clients without manners lose their own connections, and nobody else's."""

import asyncio
import http.client
import json
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from hedgerow_adapters.admission.server import Limits
from tests.control_plane import PATIENCE
from tests.e2e.admission_server.clients import (
    PATH,
    Client,
    admission_server,
    anybody,
    ask_once,
    document,
    post,
    until,
)

BODY = json.dumps(document(uid="first")).encode()
SMUGGLED = post(json.dumps(document(uid="smuggled")).encode())
HEAD = f"POST {PATH} HTTP/1.1\r\nHost: webhooks\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n"
LENGTH = f"Content-Length: {len(BODY)}\r\n"
UNREACHED_LENGTH = "Content-Length: 1000000\r\n"
"""Bytes sent one by one do not reach this length before the time limit, however fast the machine is."""
WHOLE = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)

AMBIGUOUS: dict[str, bytes] = {
    "a length and chunks": f"{HEAD}{LENGTH}Transfer-Encoding: chunked\r\n\r\n".encode() + WHOLE,
    "chunks and a length": f"{HEAD}Transfer-Encoding: chunked\r\n{LENGTH}\r\n".encode() + WHOLE,
    "two lengths": f"{HEAD}{LENGTH}Content-Length: 3\r\n\r\n".encode() + BODY,
    "the same length twice": f"{HEAD}{LENGTH}{LENGTH}\r\n".encode() + BODY,
    "a list of lengths": f"{HEAD}Content-Length: {len(BODY)}, {len(BODY)}\r\n\r\n".encode() + BODY,
    "a length with a sign": f"{HEAD}Content-Length: +{len(BODY)}\r\n\r\n".encode() + BODY,
    "a negative length": f"{HEAD}Content-Length: -1\r\n\r\n".encode() + BODY,
    "a length in hexadecimal": f"{HEAD}Content-Length: 0x{len(BODY):x}\r\n\r\n".encode() + BODY,
    "a length beyond 64 bits": f"{HEAD}Content-Length: 18446744073709551617\r\n\r\n".encode() + BODY,
    "a space before the colon": f"{HEAD}Content-Length : {len(BODY)}\r\n\r\n".encode() + BODY,
    "an unknown transfer coding": f"{HEAD}Transfer-Encoding: xchunked\r\n\r\n".encode() + WHOLE,
    "chunks that are not the last coding": f"{HEAD}Transfer-Encoding: chunked, identity\r\n\r\n".encode() + WHOLE,
    "a header that is continued": f"{HEAD}X-A: b\r\n {LENGTH}Transfer-Encoding: chunked\r\n\r\n".encode() + WHOLE,
    "a zero byte in a header": f"{HEAD}X-A: b\0c\r\n{LENGTH}\r\n".encode() + BODY,
    "a line that ends too early": f"{HEAD}X-A: b\rX-B: c\r\n{LENGTH}\r\n".encode() + BODY,
    "a chunk size with a sign": CHUNKED.encode() + b"+" + WHOLE,
    "a negative chunk size": CHUNKED.encode() + b"-" + WHOLE,
    "a chunk size with a prefix": CHUNKED.encode() + b"0x" + WHOLE,
    "a chunk size beyond 64 bits": CHUNKED.encode() + b"1" + b"0" * 16 + WHOLE,
    "a chunk that is longer than it says": CHUNKED.encode() + b"3\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunks that end their lines in another way": CHUNKED.encode() + WHOLE.replace(b"\r\n", b"\n"),
    "no version": f"POST {PATH}\r\n{LENGTH}\r\n".encode() + BODY,
    "another protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no HTTP": b"\x80\x2e\x01\x03\x01\x00\x15" * 3 + b"\r\n\r\n",
}


@pytest.mark.parametrize("shape", AMBIGUOUS.values(), ids=AMBIGUOUS)
async def test_a_request_that_can_be_read_in_two_ways_is_refused_with_all_that_follows(
    pair: Path, shape: bytes
) -> None:
    async with admission_server(pair) as running, Client.of(running.port) as client:
        await client.send(shape + SMUGGLED)
        async with asyncio.timeout(PATIENCE):
            answers = await client.reader.read()
        assert (await ask_once(running.port, document()))[0] == 200

    assert answers.startswith((b"HTTP/1.1 400 ", b"HTTP/1.0 400 "))
    assert answers.endswith(b"\r\n\r\nBad Request\n")
    assert answers.count(b"HTTP/1.") == 1
    assert all("webhooks" not in problem for problem in running.heard.problems)


@pytest.mark.parametrize(
    "head",
    [HEAD[:20], HEAD, HEAD + UNREACHED_LENGTH + "\r\n{", CHUNKED + "fff\r\n{"],
    ids=["line", "head", "body", "chunk"],
)
async def test_whoever_sends_a_request_too_slowly_is_cut_off(pair: Path, head: str) -> None:
    async with (
        admission_server(pair, limits=Limits(request=1.5, farewell=0.0)) as running,
        Client.of(running.port) as slow,
        Client.of(running.port) as other,
        asyncio.TaskGroup() as tasks,
    ):
        dribbling = tasks.create_task(dribble(slow, head.encode()))
        while not dribbling.done():
            assert (await other.ask(document()))[0] == 200
        assert await slow.is_closed()
    assert running.heard.overdue_connections == 1


async def dribble(client: Client, text: bytes) -> None:
    """Send a text, then one byte after the other, until that is no longer possible."""
    try:
        await client.send(text)
        while not client.reader.at_eof():
            await client.send(b"x")
            await asyncio.sleep(0.01)
    except ConnectionError:
        pass


async def test_connections_that_bring_nothing_are_closed(pair: Path) -> None:
    limits = Limits(handshake=1.5, idle=1.5, request=1.5, farewell=0.0)
    async with admission_server(pair, limits=limits) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        async with Client.of(running.port) as silent, Client.of(running.port) as idle:
            assert (await idle.ask(document()))[0] == 200
            assert await silent.is_closed()
            assert await idle.is_closed()
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""
        writer.close()
        await until(lambda: running.heard.handshakes_failed == 1)


async def test_a_client_that_does_not_read_its_answers_is_cut_off(pair: Path) -> None:
    limits = Limits(idle=1.5, request=1.5, farewell=0.0)
    frame = document(object={"kind": "Pod"}, name="x" * 2**20)
    request = post(json.dumps(frame).encode())
    async with admission_server(pair, limits=limits) as running, Client.of(running.port) as client:
        client.writer.write(request * 30)
        assert (await ask_once(running.port, document()))[0] == 200
        await until(lambda: running.heard.overdue_connections == 1)


@asynccontextmanager
async def proven(port: int, number: int) -> AsyncIterator[list[Client]]:
    """Connections that have brought a request each."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client.of(port)) for _ in range(number)]
        for client in clients:
            assert (await client.ask(document()))[0] == 200
        yield clients


async def test_connections_without_end_do_not_cost_others_theirs(pair: Path) -> None:
    async with (
        admission_server(pair, limits=Limits(connections=24, farewell=0.0)) as running,
        proven(running.port, 8) as clients,
        AsyncExitStack() as stack,
    ):
        for _ in range(100):
            stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
        for _ in range(50):
            await stack.enter_async_context(Client.of(running.port))
        for client in clients:
            assert (await client.ask(document()))[0] == 200
        assert (await ask_once(running.port, document()))[0] == 200


async def test_bodies_that_never_end_share_a_fixed_amount_of_memory(pair: Path) -> None:
    limits = Limits(held=3 * 2**20, farewell=0.0)
    piece = post(b" " * 2**20, length=6 * 2**20)
    async with admission_server(pair, limits=limits) as running, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client.of(running.port)) for _ in range(5)]
        for client in clients:
            await client.send(piece)
        assert (await clients[0].response())[0] == http.client.TOO_MANY_REQUESTS
        assert (await ask_once(running.port, document()))[0] == 200


async def test_another_protocol_is_not_taken_up_on_the_way(pair: Path) -> None:
    async with admission_server(pair) as running, Client.of(running.port) as client:
        await client.send(post(BODY, "Connection: Upgrade", "Upgrade: websocket") + SMUGGLED)
        async with asyncio.timeout(PATIENCE):
            answers = await client.reader.read()
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert answers.count(b"HTTP/1.") == 1


# TLS.


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1], ids=str)
async def test_versions_of_tls_before_1_2_are_refused(pair: Path, version: ssl.TLSVersion) -> None:
    old = anybody(newest=version)
    old.minimum_version = version
    old.set_ciphers("ALL:@SECLEVEL=0")
    async with admission_server(pair) as running:
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            async with Client.of(running.port, old):
                pass
        assert running.heard.handshakes_failed == 1
        async with Client.of(running.port, anybody(newest=ssl.TLSVersion.TLSv1_2)) as client:
            assert (await client.ask(document()))[0] == 200


async def test_renegotiation_is_refused(pair: Path) -> None:
    async with admission_server(pair) as running:
        asking = await asyncio.create_subprocess_exec(
            "openssl", "s_client", "-connect", f"127.0.0.1:{running.port}", "-tls1_2",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        async with asyncio.timeout(PATIENCE):
            said, _ = await asking.communicate(b"R\n")

    assert b"RENEGOTIATING" in said
    assert b"no renegotiation" in said


async def test_of_two_protocols_the_one_that_api_servers_use_is_chosen(pair: Path) -> None:
    both = anybody()
    both.set_alpn_protocols(["h2", "http/1.1"])
    async with admission_server(pair) as running, Client.of(running.port, both) as client:
        assert client.writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"
        assert client.writer.get_extra_info("ssl_object").version() == "TLSv1.3"


async def test_a_probe_that_only_connects_is_no_trouble(pair: Path) -> None:
    async with admission_server(pair) as running:
        socket.create_connection(("127.0.0.1", running.port)).close()
        assert (await ask_once(running.port, document()))[0] == 200
        assert running.heard.handshakes_failed == 0


async def test_plain_http_gets_no_answer_and_does_no_harm(pair: Path) -> None:
    async with admission_server(pair) as running:
        with socket.create_connection(("127.0.0.1", running.port)) as plain:
            plain.sendall(post(BODY))
            plain.settimeout(0)
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(PATIENCE):
                said = await loop.sock_recv(plain, 1000)
        assert b"HTTP" not in said
        assert (await ask_once(running.port, document()))[0] == 200
        assert running.heard.handshakes_failed == 1
