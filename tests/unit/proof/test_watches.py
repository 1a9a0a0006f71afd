"""Caches that lag behind the truth, and watches that show it in odd ways."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache, partial
from random import Random

import pytest

from hedgerow_adapters.runtime.expectations import PATIENCE
from tests.unit.adapters.runtime.world import Ears, at_work
from tests.unit.proof.landscapes import CONTROLLER, LONG_ENOUGH, Landscape, Lens, clear, neglected
from tests.unit.proof.lenses import behind, doubled, out_of_step, rewound, skipping
from tests.unit.proof.network import Network
from tests.unit.proof.witness import Witness, creations
from tests.virtual_clock import run

DEEDS = 25
SEEDS = range(2)


def busy_life(seed: int, lens: Lens) -> tuple[Landscape, Witness, Network, Ears]:
    """A landscape in which much has happened before the eyes of a process, and who saw it."""
    world, ears = neglected(seed), Ears()
    witness = Witness(world)

    async def life() -> Network:
        network = Network(world, on_arrival=witness.hear)
        world.lens = lens
        pauses = Random(seed)  # noqa: S311 -- no secret, but the same numbers every time
        async with at_work(world, CONTROLLER, transport=network, observer=ears):
            for _ in range(DEEDS):
                await asyncio.sleep(pauses.choice((0.0, 0.001, 0.01, 0.2, 2.0)))
                world.happen()
                witness.look()
            await asyncio.sleep(LONG_ENOUGH)
        return network

    return world, witness, run(life()), ears


@cache
def expected(seed: int) -> Mapping[str, object]:
    """The policies in the end where the watches show everything at once."""
    return busy_life(seed, clear)[0].contents


def pseudo_random(seed: int) -> Random:
    return Random(f"lens {seed}")  # noqa: S311 -- no secret, but the same numbers every time


LAGS: dict[str, Callable[[Random], Callable[[], int]]] = {
    **{str(events): lambda _numbers, events=events: lambda: events for events in range(6)},  # type: ignore[misc]
    "now and then": lambda numbers: partial(numbers.randint, 0, 5),
}


@pytest.mark.parametrize("lag", LAGS.values(), ids=LAGS)
@pytest.mark.parametrize("seed", SEEDS)
def test_caches_that_are_a_few_events_behind_make_no_create_twice_and_no_delete_wrong(
    seed: int, lag: Callable[[Random], Callable[[], int]]
) -> None:
    world, witness, network, ears = busy_life(seed, behind(lag(pseudo_random(seed)), at_most=PATIENCE * 0.8))

    assert world.contents == expected(seed)
    assert not witness.repeated
    assert witness.wrong == []
    assert len(creations(network.asked)) > 10
    assert ears.behind == []


@pytest.mark.parametrize("seed", SEEDS)
def test_caches_that_are_behind_for_longer_than_anybody_waits_do_no_harm_either(seed: int) -> None:
    world, witness, _, ears = busy_life(seed, behind(lambda: 5, at_most=PATIENCE * 3))

    assert world.contents == expected(seed)
    assert witness.wrong == []
    assert ears.behind


ODD = {
    "doubled": doubled,
    "rewound": rewound,
    "out of step": out_of_step,
    "skipped, then closed": partial(skipping, expires=False),
    "skipped, then expired": partial(skipping, expires=True),
}


@pytest.mark.parametrize("lens", ODD.values(), ids=ODD)
@pytest.mark.parametrize("seed", SEEDS)
def test_however_oddly_the_same_events_are_shown_all_ends_the_same(seed: int, lens: Callable[[Random], Lens]) -> None:
    world, witness, _, ears = busy_life(seed, lens(pseudo_random(seed)))

    assert world.contents == expected(seed)
    assert witness.wrong == []
    assert ears.errors == []
