"""Fresh lists on demand: whatever an informer is at, and whoever else asks, on virtual time."""

import asyncio

import pytest

from hedgerow_adapters.informer.machine import Delivery
from hedgerow_adapters.memory import Fault, InMemoryCluster, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol.transport import TransportError
from tests.unit.adapters.informer.servers import (
    Flow,
    Listener,
    Script,
    Wire,
    config_map,
    create_all,
    informer_of,
    listed,
    running,
)
from tests.virtual_clock import run, virtual_time

DOWN = TransportError("connection refused")
FINE = listed(config_map("a"))


def now() -> float:
    return asyncio.get_running_loop().time()


@virtual_time
async def test_while_watching_a_fresh_list_is_taken_at_once_and_the_watch_goes_on() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    wire = Wire(MemoryTransport(cluster), latency=2.0)
    informer = informer_of(wire, listener)

    async with running(informer):
        await asyncio.sleep(60)
        create_all(cluster, ["a"])
        await informer.relist()

        assert now() == 62.0
        assert (listener.replacements, listener.names) == (2, ["a"])
        await asyncio.sleep(1)
        create_all(cluster, ["b"])
        await asyncio.sleep(1)
        assert listener.names == ["a", "b"]


@virtual_time
async def test_a_pause_after_failures_is_cut_short_but_the_failures_are_not_forgotten() -> None:
    wire, listener = Wire(Script([DOWN] * 9 + [FINE], [Flow()])), Listener()
    informer = informer_of(wire, listener)

    async with running(informer):
        await asyncio.sleep(60)
        before = len(wire.asked)
        asking = asyncio.create_task(informer.relist())
        await asyncio.sleep(0.1)
        assert (wire.asked[before].at, wire.asked[-1].at) == (60.0, 60.0)
        await asking

    assert [asked.at for asked in wire.asked[before : before + 2]] == [60.0, 90.0]


@virtual_time
async def test_a_list_that_had_begun_before_does_not_count() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    create_all(cluster, [f"config-{number:04}" for number in range(1200)])
    wire = Wire(MemoryTransport(cluster), latency=1.0)
    informer = informer_of(wire, listener)

    async with running(informer):
        await asyncio.sleep(2.5)
        create_all(cluster, ["late"])
        await informer.relist()

    assert "late" in listener.names
    assert [asked.at for asked in wire.lists] == [0.0, 2.5]


@virtual_time
async def test_those_who_ask_at_once_share_a_list_and_who_asks_later_gets_another() -> None:
    listener = Listener()
    wire = Wire(Script([FINE], [Flow()]), latency=3.0)
    informer = informer_of(wire, listener)
    returned: list[tuple[str, float]] = []

    async def ask(name: str) -> None:
        await informer.relist()
        returned.append((name, now()))

    async with running(informer):
        await asyncio.sleep(10)
        first, second = asyncio.create_task(ask("first")), asyncio.create_task(ask("second"))
        await asyncio.sleep(1)
        await asyncio.gather(first, second, ask("third"), ask("fourth"))

    assert [asked.at for asked in wire.lists] == [0.0, 10.0, 13.0]
    assert returned == [("first", 13.0), ("second", 13.0), ("third", 16.0), ("fourth", 16.0)]


@virtual_time
async def test_many_who_ask_again_and_again_do_not_keep_a_list_from_its_end() -> None:
    listener = Listener()
    wire = Wire(Script([listed(config_map("a"), continuation="more"), FINE] * 50, [Flow()]), latency=3.0)
    informer = informer_of(wire, listener)

    async with running(informer):
        await asyncio.sleep(60)
        asking = []
        for _ in range(20):
            asking.append(asyncio.create_task(informer.relist()))
            await asyncio.sleep(1)
        await asyncio.gather(*asking)

    assert listener.replacements == 1 + 4 + 1


@virtual_time
async def test_an_ask_survives_failures_and_who_gives_up_asking_harms_nobody() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    informer = informer_of(MemoryTransport(cluster), listener)

    async with running(informer):
        await informer.synced.wait()
        cluster.faults.append(Fault(requests("GET", "configmaps"), Lost(), times=5))
        create_all(cluster, ["a"])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await informer.relist()
        await informer.relist()

        assert listener.names == ["a"]
        assert now() == pytest.approx(0.8 + 1.6 + 3.2 + 6.4 + 12.8)


@virtual_time
async def test_an_ask_before_the_informer_runs_is_answered_by_its_first_list() -> None:
    wire, listener = Wire(Script([FINE], [Flow()])), Listener()
    informer = informer_of(wire, listener)
    asking = asyncio.create_task(informer.relist())
    await asyncio.sleep(1)

    async with running(informer):
        await asking

    assert len(wire.lists) == 1


async def nothing() -> None:
    pass


@pytest.mark.parametrize("in_a_task", [False, True])
@pytest.mark.parametrize("turns", range(40))
def test_whenever_it_is_asked_a_list_that_begins_afterwards_follows_soon(turns: int, *, in_a_task: bool) -> None:
    """Every step of an informer that lists pages, watches briefly, fails and pauses is once the moment of asking."""

    async def scenario() -> None:
        pages = [listed(config_map("a"), continuation="more"), FINE]
        wire = Wire(Script(pages * 20, [Flow(lasts=0), DOWN, Flow([{"type": "BOOKMARK", "object": {}}]), Flow()]))
        informer = informer_of(wire, Listener())
        async with running(informer):
            for turn in range(turns):
                await asyncio.sleep(0.5 if turn % 8 == 7 else 0)
                if in_a_task:
                    await asyncio.create_task(nothing())
            begun, asked_at = len(wire.lists), now()
            await informer.relist()
            assert len(wire.lists) > begun
            assert now() == asked_at

    run(scenario())


@pytest.mark.parametrize("asks", [False, True], ids=["alone", "with a list asked for at that moment"])
@pytest.mark.parametrize("turns", range(30))
def test_whenever_it_is_cancelled_it_ends_and_leaves_nothing_behind(turns: int, *, asks: bool) -> None:
    async def scenario() -> None:
        pages = [listed(config_map("a"), continuation="more"), FINE]
        informer = informer_of(Script(pages * 20, [Flow(lasts=0), DOWN, Flow()]), Listener())
        asking: list[asyncio.Task[None]] = []
        task = asyncio.create_task(informer.run())
        for turn in range(turns):
            await asyncio.sleep(0.5 if turn % 8 == 7 else 0)
        if asks:
            asking.append(asyncio.create_task(informer.relist()))
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        for left in asking:
            left.cancel()
            await asyncio.wait([left])
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(scenario())


@virtual_time
async def test_a_list_that_is_being_delivered_is_delivered_to_its_end_before_a_fresh_one_begins() -> None:
    wire, listener = Wire(Script([FINE, listed(config_map("a"), config_map("b"))], [Flow()])), Listener()
    delivered: list[float] = []

    async def deliver(delivery: Delivery) -> None:
        await asyncio.sleep(5)
        await listener.deliver(delivery)
        delivered.append(now())

    informer = informer_of(wire, listener, deliver=deliver)

    async with running(informer):
        await asyncio.sleep(2)
        await informer.relist()

        assert delivered == [5.0, 10.0]
        assert [asked.at for asked in wire.lists] == [0.0, 5.0]
        assert listener.names == ["a", "b"]
