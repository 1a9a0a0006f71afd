"""A loop that is watched by another, on virtual time."""

import asyncio

from hedgerow_adapters.leader_election.elector_thread import Heartbeat
from tests.virtual_clock import virtual_time


@virtual_time
async def test_a_loop_that_answers_is_not_stuck() -> None:
    heartbeat = Heartbeat(60)
    beating, stopped = asyncio.create_task(heartbeat.beat()), asyncio.create_task(heartbeat.stopped())

    await asyncio.sleep(3600)

    assert not stopped.done()
    beating.cancel()
    stopped.cancel()


@virtual_time
async def test_a_loop_is_stuck_once_its_silence_has_lasted_as_long_as_the_patience() -> None:
    heartbeat, loop = Heartbeat(60), asyncio.get_running_loop()
    beating, stopped = asyncio.create_task(heartbeat.beat()), asyncio.create_task(heartbeat.stopped())
    await asyncio.sleep(100)

    beating.cancel()
    await stopped

    assert 159 <= loop.time() <= 162


@virtual_time
async def test_pauses_that_end_in_time_do_not_add_up() -> None:
    heartbeat = Heartbeat(60)
    stopped = asyncio.create_task(heartbeat.stopped())

    for _ in range(10):
        beating = asyncio.create_task(heartbeat.beat())
        await asyncio.sleep(0.5)
        beating.cancel()
        await asyncio.sleep(55)

    assert not stopped.done()
    stopped.cancel()
