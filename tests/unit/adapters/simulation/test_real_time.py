"""Requests that are sent on real time, for a loop on virtual time."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol.transport import Request, Response, TransportError
from hedgerow_adapters.simulation.virtual_time import RealTime
from tests.virtual_clock import run

VERSION = Request("GET", "/version")


class Gated(MemoryTransport):
    """Answers as many requests together as a test wants; notes on which threads."""

    def __init__(self, parties: int) -> None:
        super().__init__(InMemoryCluster())
        self.threads: set[str] = set()
        self._waiting = parties
        self._open = asyncio.Event()

    async def send(self, request: Request, **options: Any) -> Response:
        self.threads.add(threading.current_thread().name)
        self._waiting -= 1
        if not self._waiting:
            self._open.set()
        await self._open.wait()
        return await super().send(request, **options)


def test_virtual_time_stands_still_until_all_answers_are_there() -> None:
    async def ask() -> tuple[float, list[str]]:
        naps = asyncio.create_task(asyncio.sleep(3600))
        answers = await asyncio.gather(*(transport.send(VERSION) for _ in range(3)))
        then = asyncio.get_running_loop().time()
        await naps
        return then, [answer.body["gitVersion"] for answer in answers]

    with RealTime() as real_time:
        gated = Gated(3)
        transport = real_time.over(gated)
        then, versions = run(ask())

    assert then == 0
    assert versions == ["v1.36.0"] * 3
    assert gated.threads == {"real time"}


def test_what_goes_wrong_there_is_raised_here() -> None:
    class Broken(MemoryTransport):
        async def send(self, *_: Any, **_options: Any) -> Response:
            raise TransportError("cut off")

    async def ask() -> None:
        await transport.send(VERSION)

    with RealTime() as real_time:
        transport = real_time.over(Broken(InMemoryCluster()))
        with pytest.raises(TransportError, match="cut off"):
            run(ask())
        assert real_time.run(asyncio.sleep(0, "still at work")) == "still at work"


def test_what_nobody_waits_for_any_more_ends_before_its_context_is_left(caplog: pytest.LogCaptureFixture) -> None:
    happened: list[str] = []
    asked = threading.Event()

    async def send() -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            happened.append("the request ended")

    @contextlib.asynccontextmanager
    async def connection() -> AsyncIterator[Callable[[], Coroutine[Any, Any, None]]]:
        yield send
        happened.append("the connection closed")

    with RealTime() as real_time:
        request = real_time.enter(connection())
        caller = threading.Thread(target=lambda: _until_given_up(real_time, request()))
        caller.start()
        asked.wait()

    caller.join()
    assert happened == ["the request ended", "the connection closed"]
    assert caplog.records == []


def _until_given_up(real_time: RealTime, work: Coroutine[Any, Any, None]) -> None:
    with contextlib.suppress(concurrent.futures.CancelledError):
        real_time.run(work)
