"""Decisions that compute for long: one at a time, within memory, and everybody else gets a turn in between."""

import asyncio
from itertools import pairwise

from hedgerow.machinery.controller import Context, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Plan, RecordEvents
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Pause
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests as build
from hedgerow_adapters.runtime.steps import MOST_HELD, LongDecisions, NoRoomError
from hedgerow_adapters.runtime.turns import PAUSE
from tests.unit.adapters.runtime.wishes import CONFIG_MAPS, SECRETS, a_while, controller, secret
from tests.unit.adapters.runtime.world import Ears, at_work
from tests.virtual_clock import virtual_time


class Waking:
    """Which turns may begin, which of them are next, and which keys are woken."""

    def __init__(self) -> None:
        self.decisions = LongDecisions()
        self.woken: list[str] = []
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def begins(self, *turns: str) -> str:
        """The turns of these that may compute, once each has asked in its order."""
        before = len(self.begun)
        for turn in turns:
            self.tasks[turn] = asyncio.create_task(self._begin(turn))
        return await self.then(before)

    async def then(self, before: int | None = None) -> str:
        """The turns that have begun by now, since then."""
        before = len(self.begun) if before is None else before
        await a_while(0.001)
        return "".join(self.begun[before:])

    async def ends(self, turn: str) -> str:
        """The turns that begin at the end of one."""
        self.decisions.end(turn)
        return await self.then()

    async def _begin(self, turn: str) -> None:
        try:
            await self.decisions.begin(turn, lambda: self.woken.append(turn))
        except NoRoomError:
            self.decisions.end(turn)
        else:
            self.begun.append(turn)


@virtual_time
async def test_one_decision_computes_at_a_time_and_the_next_follow_in_their_order() -> None:
    at = Waking()

    assert await at.begins("a", "b", "c", "a") == "aa"
    at.decisions.computed("a", 10)
    assert await at.then() == "b"
    assert await at.ends("b") == "c"
    assert at.woken == []


@virtual_time
async def test_few_are_next_and_others_are_woken_when_there_is_room() -> None:
    at = Waking()

    assert await at.begins("a", "b", "c", "d", "e") == "a"
    assert await at.ends("a") == "b"
    assert at.woken == ["d"]
    assert await at.begins("d") == ""
    assert await at.ends("b") == "c"
    assert at.woken == ["d", "e"]
    assert await at.ends("c") == "d"


@virtual_time
async def test_the_end_of_any_turn_wakes_who_waits_where_one_that_was_woken_did_not_begin() -> None:
    at = Waking()
    assert await at.begins("a", "b", "c", "d", "e") == "a"

    for turn in "abc":
        await at.ends(turn)

    assert at.woken == ["d", "e"]


@virtual_time
async def test_one_that_is_next_and_is_cancelled_leaves_its_place() -> None:
    at = Waking()
    assert await at.begins("a", "b", "c") == "a"

    at.tasks["b"].cancel()
    at.decisions.end("a")

    assert await at.then() == "c"


@virtual_time
async def test_nobody_begins_while_turns_hold_too_much() -> None:
    at = Waking()
    assert await at.begins("a") == "a"
    at.decisions.computed("a", MOST_HELD + 1)

    assert await at.begins("b") == ""
    assert await at.ends("another") == ""
    assert at.woken == []
    await at.ends("a")
    assert at.woken == ["b"]


@virtual_time
async def test_one_that_is_next_does_not_begin_while_turns_hold_too_much() -> None:
    at = Waking()
    assert await at.begins("a", "b") == "a"
    at.decisions.computed("a", MOST_HELD + 1)

    assert await at.then() == ""
    assert await at.ends("a") == "b"


@virtual_time
async def test_a_turn_that_holds_much_may_go_on() -> None:
    at = Waking()
    assert await at.begins("a") == "a"
    at.decisions.computed("a", MOST_HELD + 1)

    assert await at.begins("a") == "a"


@virtual_time
async def test_a_turn_that_has_computed_goes_on_beside_another_one() -> None:
    at = Waking()
    assert await at.begins("a") == "a"
    at.decisions.computed("a", 0)
    assert await at.begins("b") == "b"

    assert await at.begins("a") == "a"
    await at.ends("a")
    assert await at.begins("a") == ""
    assert at.woken == []


@virtual_time
async def test_a_turn_that_has_not_computed_waits_although_it_has_asked() -> None:
    at = Waking()
    assert await at.begins("a") == "a"

    at.decisions.computed("b", 0)

    assert await at.begins("b") == ""


SLICES = 50


class Slices:
    """Decisions about ConfigMaps that take many slices, and about Secrets that take one; and who had a turn when."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def decide(self, key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
        self.log.append(key.name)
        for _ in range(0 if key.name.startswith("small") else SLICES - 1):
            await Pause()
            self.log.append(key.name)
        return Plan()


def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
    return (key_of(manifest),)


@virtual_time
async def test_slices_of_long_decisions_leave_turns_to_others_and_to_the_loop() -> None:
    cluster, ears, slices = InMemoryCluster(), Ears(), Slices()
    large = [f"large-{number}" for number in range(10)]
    for name in large:
        cluster.handle(build.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default"))
    both = controller(
        lambda *_: Plan(),
        watches=(Watch(CONFIG_MAPS, dict, enqueue=own_key), Watch(SECRETS, dict, enqueue=own_key)),
        reconcile=slices.decide,
    )

    async def look() -> None:
        """Have work all the time, as probes and webhooks do that are answered."""
        while True:
            slices.log.append("loop")
            await asyncio.sleep(PAUSE / 4)

    async with at_work(cluster, both, observer=ears):
        looking = asyncio.create_task(look())
        await a_while(0.02)
        cluster.handle(build.create(SECRETS, secret("small"), "default"))
        await a_while(10 * SLICES * 0.01)
        looking.cancel()

    computed = [name for name in slices.log if name.startswith("large")]
    in_turn = [name for name, after in pairwise(computed) if name == after]
    assert {name: computed.count(name) >= SLICES for name in large} == dict.fromkeys(large, True)
    assert len(in_turn) >= 10 * (SLICES - 2)
    assert "small" in slices.log[: slices.log.index(computed[-1]) + len(slices.log) // 2]
    assert [key for key, _ in ears.errors] == []
    pairs = list(pairwise(slices.log))
    assert not [pair for pair in pairs if pair[0] == pair[1] != "loop"]


@virtual_time
async def test_a_decision_holds_what_it_has_decoded_even_if_it_pauses_for_other_work_later() -> None:
    cluster, ears = InMemoryCluster(), Ears()
    log: list[str] = []

    async def decide(key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
        await Pause(MOST_HELD + 1 if key.name == "first" else 0)
        for _ in range(SLICES):
            log.append(key.name)
            await RecordEvents(())
            await Pause()
        return Plan()

    for name in ("first", "second"):
        cluster.handle(build.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default"))
    pausing = controller(lambda *_: Plan(), watches=(Watch(CONFIG_MAPS, dict, enqueue=own_key),), reconcile=decide)

    async with at_work(cluster, pausing, observer=ears):
        await a_while(10 * SLICES * PAUSE)

    until_second = log[: log.index("second")]
    assert until_second.count("first") % SLICES == 0
    assert [key for key, _ in ears.errors] == []
