"""How requests are spread over time where a client connection limits them."""

import asyncio
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.kubernetes.pacing import Throttle, throttle
from tests.virtual_clock import virtual_time


@given(
    rate=st.floats(0.1, 1000),
    burst=st.integers(1, 50),
    pauses=st.lists(st.floats(0, 10), min_size=1, max_size=200),
)
def test_no_stretch_of_time_sees_more_requests_than_burst_and_rate_allow(
    rate: float, burst: int, pauses: list[float]
) -> None:
    bucket, now, sent = Throttle(rate, burst), 0.0, []
    for pause in pauses:
        now += pause
        sent.append(now + bucket.reserve(now))

    assert sent == sorted(sent)
    for first, start in enumerate(sent):
        for last in range(first, len(sent)):
            assert last - first + 1 <= burst + rate * (sent[last] - start) + 1e-6


def test_a_burst_passes_at_once_and_the_next_waits() -> None:
    bucket = Throttle(rate=2, burst=3)

    assert [bucket.reserve(100) for _ in range(5)] == [0, 0, 0, 0.5, 1]
    assert bucket.reserve(101.5) == 0


@pytest.mark.parametrize("qps", [None, 0, -1])
def test_without_a_positive_rate_nothing_is_throttled(qps: float | None) -> None:
    assert throttle(qps, 10) is None


@pytest.mark.parametrize(("qps", "burst", "at_once"), [(2.5, None, 3), (0.1, None, 1), (5, 0, 1), (5, 7, 7)])
@virtual_time
async def test_as_many_pass_at_once_as_the_burst_says_or_a_second_allows(
    qps: float, burst: int | None, at_once: int
) -> None:
    queue = throttle(qps, burst)

    assert queue is not None
    assert [await queue.has_turn(0) for _ in range(at_once + 1)] == [True] * at_once + [False]


@given(before=st.integers(0, 9), ahead=st.integers(0, 9), now=st.integers(0, 100).map(float))
def test_the_wait_that_is_foretold_is_the_one_that_comes(before: int, ahead: int, now: float) -> None:
    bucket = Throttle(rate=2, burst=3)
    for _ in range(before):
        bucket.reserve(0)

    foretold = bucket.wait(now, ahead=ahead)

    assert [bucket.reserve(now) for _ in range(ahead + 1)][-1] == foretold


class Callers:
    """Those who want turns, and when they had them."""

    def __init__(self, queue: Throttle) -> None:
        self.sent: list[float] = []
        self.refused = 0
        self._queue = queue

    async def one(self, patience: float) -> None:
        """One who says for how long it would wait."""
        if await self._queue.has_turn(patience):
            self.sent.append(asyncio.get_running_loop().time())
        else:
            self.refused += 1

    async def one_who_leaves(self, after: float) -> None:
        """One who would wait for ever, but is made to stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(after):
                await self.one(float("inf"))


@pytest.mark.parametrize("leaves", [False, True], ids=["refused", "made to stop waiting"])
@virtual_time
async def test_however_many_want_a_turn_as_many_get_theirs_as_the_rate_allows(*, leaves: bool) -> None:
    callers = Callers(Throttle(rate=5, burst=1))
    async with asyncio.TaskGroup() as tasks:
        for _ in range(600):
            for _ in range(5):
                tasks.create_task(callers.one_who_leaves(2) if leaves else callers.one(2))
            await asyncio.sleep(0.1)

    for minute in range(60):
        assert sum(minute <= at < minute + 1 for at in callers.sent) in range(4, 7)
    assert len(callers.sent) == pytest.approx(60 * 5, abs=11)


@virtual_time
async def test_who_cannot_have_a_turn_in_time_is_told_so_at_once_and_takes_none_away() -> None:
    callers = Callers(Throttle(rate=1, burst=1))
    async with asyncio.TaskGroup() as tasks:
        for patience in [0, 0.5, 3, 1, 3, 3, 3, 3]:
            tasks.create_task(callers.one(patience))
        await asyncio.sleep(0)
        assert callers.refused == 4

    assert callers.sent == [0, 1, 2, 3]


@virtual_time
async def test_who_gives_up_makes_room_for_those_behind() -> None:
    callers = Callers(Throttle(rate=1, burst=1))
    async with asyncio.TaskGroup() as tasks:
        for after in [10, 0.5, 0.6, 10, 0.7, 10]:
            tasks.create_task(callers.one_who_leaves(after))

    assert callers.sent == [0, 1, 2]


@virtual_time
async def test_a_turn_that_was_not_used_is_somebody_elses() -> None:
    queue = Throttle(rate=1, burst=1)
    assert await queue.has_turn(0)
    queue.give_back()

    assert [await queue.has_turn(0) for _ in range(2)] == [True, False]
