"""The clock that other tests rely on."""

import asyncio
from datetime import timedelta

import pytest

from tests.virtual_clock import START, DeadlockError, run, virtual_time, wall_clock


@virtual_time
async def test_a_month_passes_at_once_and_to_the_second() -> None:
    loop = asyncio.get_running_loop()

    await asyncio.sleep(30 * 86400)

    assert loop.time() == 30 * 86400
    assert wall_clock() == START + timedelta(days=30)


@virtual_time
async def test_ten_years_pass_although_the_clock_gets_coarse() -> None:
    loop = asyncio.get_running_loop()

    for _ in range(10):
        await asyncio.sleep(365 * 86400)
        await asyncio.sleep(0.1)

    assert round(loop.time()) == 10 * 365 * 86400 + 1


@virtual_time
async def test_timers_fire_in_the_order_of_their_times() -> None:
    loop, seen = asyncio.get_running_loop(), []

    async def note(seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((seconds, loop.time()))

    await asyncio.gather(note(3), note(0.1), note(2))

    assert seen == [(0.1, 0.1), (2, 2), (3, 3)]


@virtual_time
async def test_a_timeout_ends_a_wait_at_its_time() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await asyncio.sleep(7)

    assert asyncio.get_running_loop().time() == 5


def test_waiting_for_what_cannot_come_is_an_error_and_no_hang() -> None:
    with pytest.raises(DeadlockError, match="no timer will bring"):
        run(asyncio.Event().wait())


@pytest.mark.parametrize("seconds", [1, 2])
@virtual_time
async def test_arguments_reach_the_test(seconds: int) -> None:
    await asyncio.sleep(seconds)

    assert asyncio.get_running_loop().time() == seconds
