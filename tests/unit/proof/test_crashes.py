"""A process that dies, or loses an answer, at any of its writes."""

import asyncio
from collections.abc import Callable

import pytest

from hedgerow_adapters.memory import Fault, Lost
from hedgerow_adapters.protocol.transport import Request
from tests.unit.adapters.runtime.world import POLICIES, at_work
from tests.unit.proof.landscapes import CONTROLLER, LONG_ENOUGH, Landscape, neglected
from tests.unit.proof.network import LATENCY, Network
from tests.unit.proof.witness import Witness, creations
from tests.virtual_clock import run


async def everything_done(network: Network, world: Landscape) -> None:
    async with at_work(world, CONTROLLER, transport=network):
        await asyncio.sleep(LONG_ENOUGH)
    assert world.pending(CONTROLLER) == []


def undisturbed(seed: int) -> tuple[dict[str, object], int]:
    """How a landscape ends up, and how many writes that takes."""
    world = neglected(seed)
    before = int(world.resource_version)

    async def life() -> None:
        await everything_done(Network(world), world)

    run(life())
    return world.contents, int(world.resource_version) - before


async def killed(world: Landscape, network: Network, write: int, *, later: float) -> None:
    """A process that dies some seconds after so many of its writes were stored; what it sent before still arrives."""
    moment = asyncio.Event()
    before = int(world.resource_version)
    end = world.subscribe(
        POLICIES, lambda _change: moment.set() if int(world.resource_version) - before >= write else None
    )
    async with at_work(world, CONTROLLER, transport=network):
        async with asyncio.timeout(LONG_ENOUGH):
            if write:
                await moment.wait()
        await asyncio.sleep(later)
    end()


@pytest.mark.parametrize(
    ("seed", "later"), [(0, 0.0), (1, LATENCY * 0.75)], ids=["before its answer comes", "after its answer came"]
)
def test_after_a_death_at_any_write_the_next_process_gets_to_the_same_end(seed: int, later: float) -> None:
    expected, writes = undisturbed(seed)
    assert writes > 15

    async def two_lives(world: Landscape, witness: Witness, write: int) -> None:
        first, second = Network(world, on_arrival=witness.hear), Network(world, on_arrival=witness.hear)
        await killed(world, first, write, later=later)
        await everything_done(second, world)
        assert witness.repeated <= creations(first.unanswered)

    for write in range(writes + 1):
        world = neglected(seed)
        witness = Witness(world)
        run(two_lives(world, witness, write))
        assert world.contents == expected, write
        assert witness.wrong == []


@pytest.mark.parametrize(
    ("seed", "hangs"), [(0, False), (1, True)], ids=["the connection breaks", "the answer never comes"]
)
def test_an_answer_that_is_lost_after_any_write_changes_nothing(seed: int, *, hangs: bool) -> None:
    expected, writes = undisturbed(seed)

    async def life(world: Landscape, witness: Witness) -> None:
        network = Network(world, on_arrival=witness.hear)
        await everything_done(network, world)
        assert witness.repeated <= creations(network.unanswered)

    for write in range(1, writes + 1):
        world = neglected(seed)
        witness = Witness(world)
        world.faults = [Fault(the_write(write), Lost(after_commit=True, hangs=hangs))]
        run(life(world, witness))
        assert world.faults[0].times == 0
        assert world.contents == expected, write
        assert witness.wrong == []


def the_write(number: int) -> Callable[[Request], bool]:
    """A predicate for one of the writes of policies, counted from 1."""
    seen = 0

    def picks(request: Request) -> bool:
        nonlocal seen
        seen += request.method != "GET" and "networkpolicies" in request.path
        return seen == number

    return picks
