"""Watches from servers that cut their events anywhere, break off, or fall silent, on loopback."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.kubernetes import http_transport
from hedgerow_adapters.kubernetes.credentials import Connection, Credentials, Renewal
from hedgerow_adapters.kubernetes.http_transport import READ_AT_ONCE, HttpTransport
from hedgerow_adapters.protocol import json_codec, requests
from hedgerow_adapters.protocol.transport import Stream, TransportError
from tests.e2e.loopback_servers import CHUNKED, JSON, chunk, http_server, in_turn, raw_server

SERVICES = Resource("", "v1", "services", "Service")
WATCH = requests.watch(SERVICES, resource_version="1", timeout_seconds=60)


@pytest.fixture(params=[json_codec.standard(), json_codec.fastest()], ids=lambda codec: codec.name)
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> json_codec.Codec:
    """The process's codec, as it is without and with the optional one."""
    chosen: json_codec.Codec = request.param
    monkeypatch.setattr(json_codec, "encode", chosen.encode)
    monkeypatch.setattr(json_codec, "decode", chosen.decode)
    return chosen


@contextlib.asynccontextmanager
async def watching(server: str, *, timeout: float = 10) -> AsyncIterator[Stream]:
    async with HttpTransport(Connection(server)) as transport, transport.stream(WATCH, timeout=timeout) as stream:
        yield stream


async def broken_watch(server: str, *, timeout: float = 10) -> tuple[list[Any], str]:
    """The events before a watch broke, and what was said of that."""
    events = []
    try:
        async with watching(server, timeout=timeout) as stream:
            async for event in stream.events:
                events.append(event)  # noqa: PERF401 -- the loop ends by an error
    except TransportError as error:
        return events, str(error).replace(server, "SERVER")
    raise AssertionError("the watch did not break")


async def test_events_come_out_wherever_chunks_end(codec: json_codec.Codec) -> None:
    pieces = [b'{"type":"ADDED","obj', b'ect":{"a":1}}\n{"type":"BOOK', b'MARK"}\n\n{"type":"DELETED"', b"}\n", b""]
    async with raw_server(CHUNKED, *map(chunk, pieces)) as server, watching(server) as stream:
        events = [event async for event in stream.events]

    assert stream.status == 200
    assert events == [{"type": "ADDED", "object": {"a": 1}}, {"type": "BOOKMARK"}, {"type": "DELETED"}]


async def test_an_event_of_five_mebibytes_comes_out_whole(codec: json_codec.Codec) -> None:
    event = {"type": "ADDED", "object": {"data": "x" * 5 * 2**20}}

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(json.dumps(event).encode() + b"\n")
        return response

    async with http_server(handler) as server, watching(server) as stream:
        events = [event async for event in stream.events]

    assert events == [event]


async def test_others_get_a_turn_however_many_events_have_arrived() -> None:
    line = json.dumps({"type": "ADDED", "object": "x" * 1000}).encode() + b"\n"
    turns, came_in = 0, list[int]()

    async def pass_the_time() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with (
        raw_server(CHUNKED, chunk(line * 2000), b"0\r\n\r\n") as server,
        HttpTransport(Connection(server)) as transport,
        transport.stream(WATCH, timeout=60) as stream,
    ):
        bystander = asyncio.create_task(pass_the_time())
        await asyncio.sleep(0)
        async for _ in stream.events:
            came_in.append(turns)
        bystander.cancel()

    assert len(came_in) == 2000
    assert max(came_in.count(turn) for turn in set(came_in)) <= READ_AT_ONCE // len(line) + 1


async def test_a_disconnect_in_the_middle_of_a_line_is_an_error() -> None:
    pieces = [CHUNKED, chunk(b'{"type":"ADDED"}\n'), chunk(b'{"type":"DEL')]
    async with raw_server(*pieces) as server:
        _, problem = await broken_watch(server)

    assert problem == "the answer of SERVER to GET /api/v1/services was cut off"


async def test_a_watch_that_ends_in_the_middle_of_a_line_was_cut_off() -> None:
    async with raw_server(JSON + b"Connection: close\r\n\r\n", b'{"type":"ADDED"}\n{"type":"DEL') as server:
        events, problem = await broken_watch(server)

    assert events == [{"type": "ADDED"}]
    assert problem == "the answer of SERVER to GET /api/v1/services was cut off"


async def test_a_line_that_is_no_json_ends_a_watch() -> None:
    async with raw_server(CHUNKED, chunk(b'{"type":"ADDED"}\n<html>\n'), hangs=True) as server:
        events, problem = await broken_watch(server)

    assert events == [{"type": "ADDED"}]
    assert problem == "the answer of SERVER to GET /api/v1/services is not JSON"


async def test_an_error_in_a_watch_does_not_repeat_credentials() -> None:
    line = b'{"type":"ERROR","object":{"reason":"Expired","message":"abc is too old"}}\n'
    async with raw_server(CHUNKED, chunk(line), chunk(b"")) as server:
        connection = Connection(server, Credentials("Bearer abc"))
        async with HttpTransport(connection) as transport, transport.stream(WATCH, timeout=10) as stream:
            [event] = [event async for event in stream.events]

    assert event["object"] == {"reason": "Expired", "message": "[redacted] is too old"}


class Renewable(Renewal):
    """An identity whose token a test replaces."""

    def __init__(self) -> None:
        self.now = Credentials("Bearer old")

    def credentials(self) -> Credentials:
        return self.now


@pytest.mark.parametrize("inside_a_line", [False, True])
async def test_a_watch_ends_in_order_once_there_is_another_token_to_show(
    monkeypatch: pytest.MonkeyPatch, *, inside_a_line: bool
) -> None:
    monkeypatch.setattr(http_transport, "RENEWAL_CHECKED_EVERY", 0.01)
    identity, renewed = Renewable(), asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"type":"ADDED"}\n' + (b'{"type":' if inside_a_line else b""))
        await renewed.wait()
        await response.write(b'"DELETED"}\n' if inside_a_line else b"")
        await asyncio.sleep(3600)
        return response

    events = []
    async with (
        http_server(handler) as server,
        HttpTransport(Connection(server, identity)) as transport,
        transport.stream(WATCH, timeout=60) as stream,
    ):
        async for event in stream.events:
            events.append(event["type"])
            identity.now = Credentials("Bearer new")
            renewed.set()

    assert events == (["ADDED", "DELETED"] if inside_a_line else ["ADDED"])


async def test_a_silent_watch_goes_on_as_long_as_there_is_nothing_else_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "RENEWAL_CHECKED_EVERY", 0.01)
    async with raw_server(CHUNKED, chunk(b'{"type":"ADDED"}\n'), hangs=True) as server:
        events, problem = await broken_watch(server, timeout=0.2)

    assert events == [{"type": "ADDED"}]
    assert problem.startswith("SERVER did not answer")


async def test_a_silent_watch_is_given_up_after_its_timeout() -> None:
    async with raw_server(CHUNKED, chunk(b'{"type":"ADDED"}\n'), hangs=True) as server:
        events, problem = await broken_watch(server, timeout=0.1)

    assert events == [{"type": "ADDED"}]
    assert problem == "SERVER did not answer GET /api/v1/services completely within 0.1 s"


async def test_a_watch_that_is_not_answered_cannot_be_opened() -> None:
    async with raw_server(hangs=True) as server:
        events, problem = await broken_watch(server, timeout=0.1)

    assert (events, problem) == ([], "SERVER did not answer GET /api/v1/services completely within 0.1 s")


async def test_a_refused_watch_gives_the_status() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired"}
    async with http_server(in_turn(web.json_response(status, status=410))) as server, watching(server) as stream:
        events = [event async for event in stream.events]

    assert (stream.status, stream.body, events) == (410, status, [])


async def test_leaving_a_watch_closes_its_connection() -> None:
    closed = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED + chunk(b'{"type":"ADDED"}\n'))
        await reader.read()
        writer.close()
        closed.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with HttpTransport(Connection(url)) as transport:
            async with transport.stream(WATCH, timeout=10) as stream:
                assert await anext(aiter(stream.events)) == {"type": "ADDED"}
            await asyncio.wait_for(closed.wait(), 10)
