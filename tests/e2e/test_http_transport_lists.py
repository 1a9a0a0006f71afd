"""Answers to lists over the wire: packed, slow, large, or not what they seem."""

import asyncio
import gzip
import itertools
import json
from typing import Any

import pytest
from aiohttp import web

from hedgerow_adapters.kubernetes import answers, http_transport
from hedgerow_adapters.kubernetes.credentials import Connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.protocol.transport import Request, TransportError
from tests.e2e.loopback_servers import CHUNKED, JSON, Handler, chunk, http_server, raw_server
from tests.e2e.test_http_transport import CREATE, LIST, WATCH, problem_of, send

PAGE = {"kind": "ServiceList", "metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "größe"}}] * 500}
PACKED = gzip.compress(json.dumps(PAGE).encode())


def slowly(pieces: int, *, seconds: float) -> Handler:
    """Answers with a page in so many pieces, with so many seconds between them."""
    text = json.dumps(PAGE).encode()
    size = -(-len(text) // pieces)

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for begin in range(0, len(text), size):
            await response.write(text[begin : begin + size])
            await asyncio.sleep(seconds)
        return response

    return handler


async def test_lists_alone_may_come_packed() -> None:
    async def handler(request: web.Request) -> web.Response:
        accepted = json.dumps({"accepted": request.headers["Accept-Encoding"]})
        return web.Response(text=f"{accepted}\n", content_type="application/json")

    async with http_server(handler) as server, HttpTransport(Connection(server)) as transport:
        answers = [(await transport.send(each)).body for each in (LIST, CREATE)]
        async with transport.stream(WATCH, timeout=10) as stream:
            answers += [event async for event in stream.events]

    assert [answer["accepted"] for answer in answers] == ["gzip", "identity", "identity"]


async def test_a_packed_list_is_unpacked() -> None:
    length = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED)
    async with raw_server(JSON + length, PACKED[:100], PACKED[100:]) as server:
        assert (await send(server)).body == PAGE


async def test_a_packed_list_that_is_cut_off_or_no_such_thing_is_one_sentence() -> None:
    cut, odd = PACKED[:-40], b"not packed at all"
    problems = []
    for content in (cut, odd):
        head = JSON + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(content)
        async with raw_server(head, content) as server:
            problems.append(await problem_of(server))

    answer = "the answer of SERVER to GET /api/v1/services"
    assert problems == [f"{answer} is not JSON", f"{answer} was cut off"]


async def test_a_few_bytes_that_stand_for_very_many_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_UNPACKED", 4 * 2**20)
    bomb = gzip.compress(bytes(256 * 2**20), compresslevel=1)
    head = JSON + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    async with raw_server(head, bomb) as server:
        problem = await problem_of(server)

    assert problem == "the answer of SERVER to GET /api/v1/services unpacks to more than 4 MiB"


async def test_a_list_may_take_many_times_its_timeout_as_long_as_it_goes_on() -> None:
    async with http_server(slowly(30, seconds=0.1)) as server:
        assert (await send(server, timeout=1)).body == PAGE
        problem = await problem_of(server, CREATE, timeout=1)

    assert problem == "SERVER did not answer POST /api/v1/namespaces/shop/services completely within 1 s"


@pytest.mark.parametrize("pieces", [[], [JSON[:30]]], ids=["silence", "headers"])
async def test_a_list_that_does_not_begin_is_given_up_after_the_timeout(pieces: list[bytes]) -> None:
    async with raw_server(*pieces, hangs=True) as server:
        problem = await problem_of(server, timeout=0.1)

    assert problem == "SERVER did not answer GET /api/v1/services completely within 0.1 s"


async def test_a_list_that_stops_is_given_up_after_a_silence() -> None:
    async with raw_server(CHUNKED, chunk(b"{"), hangs=True) as server:
        problem = await problem_of(server, timeout=0.1)

    assert problem == "SERVER was silent for 0.1 s in the middle of its answer to GET /api/v1/services"


async def test_while_a_list_travels_its_place_is_free_for_others() -> None:
    began, may_end = asyncio.Event(), asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            return web.json_response({"kind": "Service"})
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"items":')
        began.set()
        await may_end.wait()
        await response.write(b"[]}")
        return response

    async with http_server(handler) as server, HttpTransport(Connection(server), max_in_flight=1) as transport:
        listing = asyncio.create_task(transport.send(LIST))
        await began.wait()
        written = await transport.send(CREATE)
        may_end.set()

        assert (written.body, (await listing).body) == ({"kind": "Service"}, {"items": []})


async def test_a_list_that_nobody_waits_for_any_more_leaves_no_connection() -> None:
    gone = asyncio.Event()
    began = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        began.set()
        try:
            for _ in itertools.count():
                await response.write(b" " * 2**16)
        finally:
            gone.set()
        return response

    async with http_server(handler) as server, HttpTransport(Connection(server)) as transport:
        listing = asyncio.create_task(transport.send(LIST))
        await began.wait()
        listing.cancel()
        await asyncio.wait([listing])
        async with asyncio.timeout(60):
            await gone.wait()


@pytest.mark.parametrize("request_", [LIST, CREATE], ids=["list", "another"])
async def test_a_large_answer_says_the_same_as_a_small_one(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "DECODED_AT_ONCE", 1000)
    problems: list[Any] = []
    for content in (json.dumps(PAGE).encode(), b"[" * 2000):
        head = JSON + b"Content-Length: %d\r\n\r\n" % len(content)
        async with raw_server(head, content) as server:
            try:
                problems.append((await send(server, request_)).body == PAGE)
            except TransportError as problem:
                problems.append(str(problem).rpartition(" is ")[2])

    assert problems == [True, "not JSON"]
