"""The controllers of a process: how their work ends, on virtual time."""

import asyncio
from contextlib import suppress

import pytest

from hedgerow.api.kubernetes import SERVICES
from hedgerow_adapters.memory import MemoryTransport
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.controller_set import GRACE, ControllerSet
from hedgerow_adapters.runtime.observer import ControllerObserver
from tests.unit.adapters.runtime.world import CONTROLLER, SCRAPED, World, caches_of, shops
from tests.virtual_clock import virtual_time


def controllers(world: World) -> ControllerSet:
    return ControllerSet(
        [CONTROLLER],
        caches_of(Clusters.single(Access(MemoryTransport(world)))),
        instance="hedgerow-0",
        observer=lambda _controller: ControllerObserver(),
        stop=asyncio.Event(),
    )


@virtual_time
async def test_a_part_that_fails_ends_the_work_with_its_reason_and_at_once() -> None:
    async def settle() -> None:
        await asyncio.sleep(1)
        raise ZeroDivisionError("of a beginning")

    ends, began = list[float](), asyncio.get_running_loop().time()
    work = controllers(World(*shops(2, SCRAPED)))

    with pytest.RaisesGroup(pytest.RaisesExc(ZeroDivisionError, match="of a beginning")):
        await work.run(passing=[settle()], on_end=lambda: ends.append(asyncio.get_running_loop().time()))

    assert ends == [began + 1]
    assert work.stop.is_set()


@virtual_time
async def test_the_failure_to_begin_ends_the_work_with_its_reason() -> None:
    work = controllers(World())
    work.runners[0].start = lambda: 1 // 0  # type: ignore[assignment,method-assign]   # a defect

    with pytest.RaisesGroup(ZeroDivisionError):
        await work.run()


@virtual_time
async def test_what_is_done_last_finds_the_caches_still_at_work() -> None:
    world, seen = World(), list[int]()
    work = controllers(world)

    async def last() -> None:
        world.create(SERVICES, *shops(1, SCRAPED))
        await asyncio.sleep(1)
        seen.append(len(work.runners[0].snapshot.list(CONTROLLER.primary)))

    async def leave() -> None:
        await asyncio.sleep(1)
        work.stop.set()

    await work.run(passing=[leave()], last=last)

    assert seen == [1]


@virtual_time
async def test_work_that_is_cancelled_ends_in_good_order() -> None:
    world, order = World(*shops(1, SCRAPED)), list[str]()
    work = controllers(world)
    running = asyncio.create_task(
        work.run(on_end=lambda: order.append("end"), before_release=lambda: order.append("release"))
    )
    await asyncio.sleep(1)

    running.cancel()
    with suppress(asyncio.CancelledError):
        async with asyncio.timeout(GRACE):
            await running

    assert order == ["end", "release"]
    assert world.policies


@virtual_time
async def test_a_part_that_ends_by_itself_ends_the_work_in_good_order() -> None:
    order = list[str]()

    async def ends() -> None:
        await asyncio.sleep(1)

    await controllers(World()).run([ends()], before_release=lambda: order.append("release"))

    assert order == ["release"]


@virtual_time
async def test_a_part_that_is_cancelled_by_nobody_ends_the_work() -> None:
    async def ends() -> None:
        await asyncio.sleep(1)
        raise asyncio.CancelledError

    work = controllers(World())
    await work.run([ends()])

    assert work.stop.is_set()


@virtual_time
async def test_what_fails_during_a_stop_does_not_cut_it_off() -> None:
    order = list[str]()
    work = controllers(World())

    async def fails() -> None:
        await work.stop.wait()
        await asyncio.sleep(1)
        raise ZeroDivisionError("during the stop")

    async def last() -> None:
        await asyncio.sleep(5)
        order.append("farewell")

    async def leave() -> None:
        await asyncio.sleep(1)
        work.stop.set()

    with pytest.RaisesGroup(pytest.RaisesExc(ZeroDivisionError, match="during the stop")):
        await work.run([fails()], passing=[leave()], last=last)

    assert order == ["farewell"]
