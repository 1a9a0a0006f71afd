"""How the controller stops: drained, cancelled, wherever it is, with nothing left behind, on virtual time."""

import asyncio
from dataclasses import replace

import pytest
from typing_extensions import override

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.memory import Fault, Lost, MemoryTransport, requests
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.runner import ControllerRunner, keys_under_way
from tests.unit.adapters.runtime.world import (
    CART,
    CONTROLLER,
    PODS_OF_WEB,
    SERVICES,
    Ears,
    Wire,
    World,
    at_work,
    caches_of,
    own_policies,
    recorder_of,
    service,
    shops,
)
from tests.virtual_clock import run, virtual_time


def now() -> float:
    return asyncio.get_running_loop().time()


class Standalone(ControllerRunner):
    """A controller that keeps its caches itself, as the process does it for all of its controllers."""

    def __init__(self, wire: Wire) -> None:
        clusters = Clusters.single(Access(wire))
        self._caches = caches_of(clusters)
        super().__init__(CONTROLLER, self._caches, recorder=recorder_of(clusters), observer=Ears())

    @override
    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(self._caches.run())
            try:
                await super().run()
            finally:
                reading.cancel()


def runner_of(wire: Wire) -> ControllerRunner:
    runner = Standalone(wire)
    runner.start()
    return runner


def slow_wire(world: World, seconds: float) -> Wire:
    async def slowly(_number: int) -> None:
        await asyncio.sleep(seconds)

    return Wire(MemoryTransport(world), before_write=slowly)


@virtual_time
async def test_a_drain_lets_what_is_worked_on_come_to_its_end_and_takes_nothing_more() -> None:
    world = World(*shops(2 * keys_under_way(CONTROLLER)))
    wire = slow_wire(world, 2.0)
    runner = runner_of(wire)
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(1)

    await runner.drain(10)
    assert now() == 2.0
    assert len(world.policies) == keys_under_way(CONTROLLER) * 2
    await running

    await asyncio.sleep(100)
    assert wire.writes == keys_under_way(CONTROLLER) * 2
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_what_takes_longer_than_the_grace_is_given_up_before_the_drain_returns() -> None:
    world = World(*shops(20))
    runner = runner_of(slow_wire(world, 60.0))
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(1)

    await runner.drain(5)
    assert now() == 6.0
    await running

    await asyncio.sleep(100)
    assert world.policies == set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_a_drain_returns_only_when_what_was_given_up_has_ended() -> None:
    async def reluctantly(_number: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(1)

    world = World(service())
    runner = runner_of(Wire(MemoryTransport(world), before_write=reluctantly))
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(1)

    await runner.drain(5)

    assert now() == 7.0
    await running


@virtual_time
async def test_what_does_not_let_itself_be_given_up_does_not_hold_up_the_drain() -> None:
    async def stubbornly(_number: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(3600)

    world = World(service())
    runner = runner_of(Wire(MemoryTransport(world), before_write=stubbornly))
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(1)

    await runner.drain(5)

    assert now() == 8.0
    await running


@virtual_time
async def test_an_idle_controller_drains_at_once_and_later_changes_find_nobody() -> None:
    world = World(service())
    runner = runner_of(Wire(MemoryTransport(world)))
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(60)

    await runner.drain(5)
    await running
    assert now() == 60.0
    world.create(SERVICES, service(ObjectKey("shop", "late")))
    await asyncio.sleep(60)
    assert world.policies == own_policies("cart")


@virtual_time
async def test_a_key_that_waits_for_its_next_try_is_not_waited_for() -> None:
    world = World(service())
    world.faults.append(Fault(requests("POST"), Lost(), times=None))
    runner = runner_of(Wire(MemoryTransport(world)))
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(100)

    await runner.drain(5)
    await running
    assert now() == 100.0
    await asyncio.sleep(10_000)
    assert runner.queue.idle


@pytest.mark.parametrize("reachable", [True, False], ids=["waiting to lead", "waiting for the server"])
@virtual_time
async def test_a_controller_that_has_not_begun_drains_at_once(*, reachable: bool) -> None:
    world = World(service())
    if not reachable:
        world.faults.append(Fault(requests(), Lost(), times=None))
    wire = Wire(MemoryTransport(world))
    runner = Standalone(wire)
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(60)

    await runner.drain(5)
    await running
    assert now() == 60.0
    assert wire.writes == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_a_controller_that_was_drained_before_it_runs_does_not_begin() -> None:
    wire = Wire(MemoryTransport(World(service())))
    runner = runner_of(wire)

    await runner.drain(5)
    await runner.run()

    assert wire.asked == []


@virtual_time
async def test_a_second_drain_with_less_patience_ends_the_first() -> None:
    world = World(service())
    runner = runner_of(slow_wire(world, 60.0))
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(1)

    first = asyncio.create_task(runner.drain(50))
    await asyncio.sleep(1)
    await runner.drain(0)
    await first
    await running
    assert now() == 2.0


@pytest.mark.parametrize("turns", range(0, 120, 3))
@pytest.mark.parametrize("way", ["cancelled", "drained", "drained and cancelled"])
def test_wherever_it_is_it_stops_and_leaves_nothing_behind(turns: int, way: str) -> None:
    async def scenario() -> None:
        world = World(service(annotations=PODS_OF_WEB), *shops(10))
        world.faults.append(Fault(requests("POST"), Lost(), times=5))
        runner = runner_of(Wire(MemoryTransport(world)))
        running = asyncio.create_task(runner.run())
        for _ in range(turns):
            await asyncio.sleep(0)
        if way != "cancelled":
            await asyncio.wait_for(runner.drain(0.5), 1)
        if way != "drained":
            running.cancel()
        await asyncio.wait([running], timeout=1)
        assert running.done()
        assert running.cancelled() or running.exception() is None
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(scenario())


@virtual_time
async def test_a_process_that_has_lost_its_lease_writes_nothing_more() -> None:
    leads = True
    world, ears = World(service()), Ears()
    async with at_work(world, observer=ears, may_write=lambda: leads):
        await asyncio.sleep(1)
        leads = False
        world.annotate(CART, PODS_OF_WEB)
        await asyncio.sleep(100)
        assert world.policies == own_policies("cart")
        assert {failed.problem for failed in ears.failed} == {"this process no longer holds the lease"}


@virtual_time
async def test_with_one_worker_alone_everything_gets_done() -> None:
    world = World(*shops(10))
    async with at_work(world, replace(CONTROLLER, concurrency=1)):
        await asyncio.sleep(1)
        assert world.pending() == []
