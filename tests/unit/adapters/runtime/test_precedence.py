"""Controllers that yield to others, on virtual time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.queue import AT_MOST, WorkQueue
from tests.unit.adapters.runtime.world import CONTROLLER, SCRAPED, World, at_work, shops
from tests.virtual_clock import virtual_time

A, B = ObjectKey("shop", "a"), ObjectKey("shop", "b")


def now() -> float:
    return asyncio.get_running_loop().time()


def queues() -> tuple[WorkQueue, WorkQueue]:
    """One that goes first, and one that goes after it."""
    first = WorkQueue(ControllerObserver())
    yields_to = ["first", "of another process"]
    return first, WorkQueue(ControllerObserver(), queues={"first": first}, yields_to=yields_to)


@asynccontextmanager
async def taken_from(queue: WorkQueue) -> AsyncIterator[Callable[[], list[tuple[str, float]]]]:
    """What a worker that is done with each key at once has taken from a queue, and when."""
    taken: list[tuple[str, float]] = []

    async def work() -> None:
        while True:
            key = await queue.take()
            taken.append((key.name, now()))
            queue.done(key)

    worker = asyncio.create_task(work())
    try:
        yield lambda: taken
    finally:
        worker.cancel()
        await asyncio.wait([worker])


@virtual_time
async def test_a_key_is_taken_at_once_where_those_who_go_first_have_nothing_to_do() -> None:
    _, second = queues()
    began = now()
    async with taken_from(second) as taken:
        second.add(A)
        await asyncio.sleep(1)

    assert taken() == [("a", began)]


@virtual_time
async def test_a_key_gives_way_until_all_is_done_that_goes_first() -> None:
    first, second = queues()
    began = now()
    async with taken_from(second) as taken:
        first.add(A)
        first.add(B)
        second.add(A)
        for _ in range(2):
            key = await first.take()
            await asyncio.sleep(1)
            first.done(key)
        await asyncio.sleep(1)

    assert taken() == [("a", began + 2)]


@virtual_time
async def test_nothing_gives_way_for_ever_however_busy_others_are() -> None:
    first, second = queues()
    began = now()
    first.add(A)
    async with taken_from(second) as taken:
        second.add(A)
        await asyncio.sleep(1)
        second.add(B)
        await asyncio.sleep(60)

    assert taken() == [("a", began + AT_MOST), ("b", began + 1 + AT_MOST)]


@virtual_time
async def test_who_is_stuck_with_a_key_stands_in_nobodys_way() -> None:
    first, second = queues()
    first.add(A)
    await first.take()
    await asyncio.sleep(AT_MOST)
    began = now()
    async with taken_from(second) as taken:
        second.add(B)
        await asyncio.sleep(1)

    assert taken() == [("b", began)]


@virtual_time
async def test_a_controller_yields_to_those_that_it_names() -> None:
    first = WorkQueue(ControllerObserver())
    first.add(A)
    world = World(*shops(2, SCRAPED))
    controller = replace(CONTROLLER, yields_to=("first",))

    async with at_work(world, controller, queues={"first": first}):
        await asyncio.sleep(AT_MOST - 1)
        assert not world.policies
        first.done(await first.take())
        await asyncio.sleep(1)

    assert world.policies
    assert world.pending() == []


@virtual_time
async def test_a_controller_at_work_is_one_that_others_yield_to() -> None:
    queues: dict[str, WorkQueue] = {}
    async with at_work(World(), queues=queues) as runner:
        other = WorkQueue(ControllerObserver(), queues=queues, yields_to=[CONTROLLER.name])
        assert other.is_clear
        runner.queue.add(A)
        assert not other.is_clear
