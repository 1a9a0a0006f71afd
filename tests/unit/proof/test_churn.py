"""Half an hour in which everything changes all the time, and what is left of it in memory."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol.transport import TransportError
from tests.unit.adapters.runtime.world import DOMAIN, SERVICES, Ears, at_work, service
from tests.unit.proof.landscapes import CONTROLLER, Landscape
from tests.unit.proof.network import Network
from tests.virtual_clock import run

LONG: Final = 1800.0
"""Seconds: what is remembered of the past is kept for ten minutes at most."""
QUIET: Final = 1300.0
"""Seconds without anybody doing anything after which nothing is remembered of what was."""
UNDISTURBED: Final = 600.0
"""Seconds at the end of that time in which nothing is listed anew, so that nobody forgets because of that."""
SEED: Final = 5


async def churn(world: Landscape) -> int:
    """Half an hour of it; how many things have happened."""
    loop, numbers, deeds = asyncio.get_running_loop(), Random(SEED), 0  # noqa: S311 -- the same numbers every time
    end = loop.time() + LONG
    while loop.time() < end:
        await asyncio.sleep(numbers.choice((0.0, 0.01, 1.0, 5.0, 10.0)))
        world.happen()
        deeds += 1
        if loop.time() < end - UNDISTURBED:
            disturb(world, numbers)
        else:
            world.send_bookmarks()
    return deeds


def disturb(world: Landscape, numbers: Random) -> None:
    """Now and then the server forgets the past, or ends all watches."""
    if numbers.random() < 0.05:
        world.compact()
    if numbers.random() < 0.1:
        world.close_watches(numbers.choice((None, TransportError("cut off"))))
    if numbers.random() < 0.1:
        world.send_bookmarks()


async def one_more(world: Landscape, name: str) -> None:
    """Something to write and something to tell: what is old is forgotten when there is something new to remember."""
    world.create(SERVICES, service(ObjectKey("shop", name)))
    world.create(SERVICES, service(ObjectKey("shop", f"{name}-broken"), {f"{DOMAIN}/namespace-selectors": "{"}))
    await asyncio.sleep(60)


def sizes(root: object) -> dict[str, int]:
    """How much every collection holds that an object has, or one of ours that can be reached from it, by its path."""
    found: dict[str, int] = {}
    seen: set[int] = set()

    def visit(value: Any, path: str) -> None:
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, dict | list | set | deque | tuple | OrderedDict | asyncio.Queue):
            held = value._queue if isinstance(value, asyncio.Queue) else value  # type: ignore[attr-defined] # its deque
            found[path] = found.get(path, 0) + len(held)
            for each in held.values() if isinstance(held, dict) else held:
                if is_ours(each) or isinstance(each, dict | list | set | deque):
                    visit(each, f"{path}[]")
        elif is_ours(value):
            for name, part in parts(value):
                visit(part, f"{path}.{name}")

    visit(root, type(root).__name__)
    return found


def is_ours(value: object) -> bool:
    is_instance = type(value).__module__.startswith("hedgerow_adapters.")
    return is_instance and not isinstance(value, InMemoryCluster)


def parts(value: object) -> Iterator[tuple[str, Any]]:
    yield from getattr(value, "__dict__", {}).items()
    for kind in type(value).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if hasattr(value, name):
                yield name, getattr(value, name)


def test_after_half_an_hour_of_churn_all_is_as_wanted_and_nothing_has_grown() -> None:
    world, ears = Landscape(SEED, services=12), Ears()

    async def two_lives() -> tuple[dict[str, int], dict[str, int], int]:
        async with at_work(world, CONTROLLER, transport=Network(world), observer=ears) as veteran:
            await asyncio.sleep(QUIET)
            tasks = len(asyncio.all_tasks())
            deeds = await churn(world)
            await asyncio.sleep(QUIET)
            assert world.pending(CONTROLLER) == []
            assert len(asyncio.all_tasks()) == tasks
            await one_more(world, "last")
            after = sizes(veteran)
        async with at_work(world, CONTROLLER, transport=Network(world)) as newcomer:
            await asyncio.sleep(QUIET)
            await one_more(world, "the-very-last")
            return after, sizes(newcomer), deeds

    after, fresh, deeds = run(two_lives())

    assert deeds > 500
    assert ears.errors == []
    assert {path: (size, fresh.get(path, 0)) for path, size in after.items() if size > fresh.get(path, 0)} == {}
