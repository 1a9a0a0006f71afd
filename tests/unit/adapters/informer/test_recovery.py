"""Who waits for an API server hears soon that it is back, and asks no more than it takes; on virtual time."""

import asyncio
import itertools
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from hedgerow_adapters.informer.informer import Informer
from hedgerow_adapters.informer.recovery import Recovery
from hedgerow_adapters.protocol.transport import Request, Response, Stream, TransportError
from tests.unit.adapters.informer.servers import WATCH, Flow, Listener, Script, Wire, listed, running
from tests.virtual_clock import virtual_time

READY = Response(200, {})
AWAY = TransportError("connection refused")
NOT_YET = Response(500, {})
OUTAGE = 60.0


class Readiness:
    """A server that says whether it is ready, and remembers when it was asked."""

    def __init__(self, says: Callable[[float], Response | Exception]) -> None:
        self._says = says
        self.asked: list[float] = []

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        del timeout, may_send  # nobody looks
        assert (request.method, request.path) == ("GET", "/readyz")
        now = asyncio.get_running_loop().time()
        self.asked.append(now)
        answer = self._says(now)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError


def back_after(seconds: float, *, before: Response | Exception = AWAY) -> Readiness:
    return Readiness(lambda now: READY if now >= seconds else before)


@pytest.mark.parametrize("before", [AWAY, NOT_YET], ids=["away", "not ready"])
@virtual_time
async def test_those_who_wait_go_on_soon_after_a_server_is_back_and_one_asks_for_all(
    before: Response | Exception,
) -> None:
    server = back_after(OUTAGE, before=before)
    recovery = Recovery(server, random=lambda: 0.5)

    early = await asyncio.gather(*(recovery.pause(1000) for _ in range(5)))

    assert early == [True] * 5
    assert OUTAGE <= asyncio.get_running_loop().time() <= OUTAGE + 3
    assert {later - earlier for earlier, later in itertools.pairwise(server.asked)} == {3.0}
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_a_wait_for_a_server_that_was_never_away_is_not_cut_short() -> None:
    server = back_after(0)
    recovery = Recovery(server, random=lambda: 0.5)

    for _ in range(3):
        assert not await recovery.pause(30)

    assert asyncio.get_running_loop().time() == 90
    assert len(server.asked) == 3, "one question a wait is enough"


@virtual_time
async def test_nobody_asks_when_nobody_waits() -> None:
    server = back_after(OUTAGE)
    recovery = Recovery(server, random=lambda: 0.5)

    assert not await recovery.pause(10)
    asked = len(server.asked)
    await asyncio.sleep(1000)

    assert len(server.asked) == asked
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_a_wait_that_begins_the_moment_that_the_last_one_ends_has_somebody_who_asks() -> None:
    server = back_after(OUTAGE)
    recovery = Recovery(server, random=lambda: 0.5)
    first = asyncio.create_task(recovery.pause(1000))
    await asyncio.sleep(5)
    first.cancel()
    second = asyncio.create_task(recovery.pause(1000))

    assert await second
    assert first.cancelled()
    assert asyncio.get_running_loop().time() <= OUTAGE + 3


@virtual_time
async def test_a_server_that_comes_back_between_two_waits_is_noticed() -> None:
    recovery = Recovery(back_after(OUTAGE), random=lambda: 0.5)
    assert not await recovery.pause(OUTAGE - 1)
    await asyncio.sleep(2)

    assert await recovery.pause(1000)


@virtual_time
async def test_an_absence_of_long_ago_cuts_no_wait_short() -> None:
    recovery = Recovery(back_after(OUTAGE), random=lambda: 0.5)
    assert not await recovery.pause(OUTAGE - 1)
    await asyncio.sleep(1000)

    assert not await recovery.pause(30)


@virtual_time
async def test_a_watch_resumes_within_seconds_of_a_servers_return() -> None:
    recovery = Recovery(back_after(OUTAGE), random=lambda: 1.0)
    # Seven tries fall into a minute.
    script = Script([listed()], [AWAY] * 7 + [Flow()])
    wire, listener = Wire(script), Listener()
    informer = Informer(wire, WATCH, listener.deliver, observer=listener, random=lambda: 0.0, pause=recovery.pause)

    async with running(informer):
        await asyncio.sleep(OUTAGE + 10)

    before = [asked.at for asked in wire.watches if asked.at <= OUTAGE]
    after = [asked.at for asked in wire.watches if asked.at > OUTAGE]
    assert len(before) == 7
    assert len(after) == 1
    assert after[0] <= OUTAGE + 4
