"""How decisions of several steps end, and what the next one knows of them, on virtual time."""

import asyncio

import pytest

from hedgerow.machinery.controller import Context, Watch
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, Delete, Event, InOrder, Plan, RecordEvents, WriteResult
from hedgerow.machinery.questions import Found
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import MOST_STEPS, AtOnce, Pause
from hedgerow_adapters.memory import MemoryTransport
from hedgerow_adapters.protocol import requests as build
from hedgerow_adapters.runtime.runner import TIME_LIMIT
from hedgerow_adapters.runtime.turns import PAUSE
from tests.unit.adapters.runtime.wishes import (
    CONFIG_MAPS,
    SECRETS,
    WISH,
    Asking,
    Late,
    a_while,
    controller,
    create,
    names,
    nobody,
    question,
    secret,
    touch,
    world,
)
from tests.unit.adapters.runtime.world import Ears, Wire, at_work
from tests.virtual_clock import virtual_time


@virtual_time
async def test_what_a_turn_remembers_is_told_to_the_next_one_until_it_remembers_nothing() -> None:
    cluster = world()
    remembered = iter(["first", "second", None, "fourth"])
    told: list[object] = []

    async def decide(_snapshot: Snapshot, context: Context[None]) -> Plan:
        await question("a")
        told.append(context.state)
        return Plan(state=next(remembered))

    async with at_work(cluster, controller(decide)):
        for number in range(3):
            await a_while()
            touch(cluster, f"{number}")
        await a_while()

    assert told == [None, "first", "second", None]


@virtual_time
async def test_a_turn_that_breaks_off_is_told_and_the_next_one_begins_from_nothing() -> None:
    cluster, ears = world(), Ears()
    told: list[object] = []

    def decide(_snapshot: Snapshot, context: Context[None]) -> Plan:
        told.append(context.state)
        if len(told) == 2:
            raise RuntimeError("a defect")
        return Plan(state="all is well")

    async with at_work(cluster, controller(decide), observer=ears):
        await a_while()
        touch(cluster, "again")
        await a_while(60)

    assert told == [None, "all is well", None]
    assert ears.errors == [(WISH, "RuntimeError: a defect")]


@virtual_time
async def test_what_fails_or_is_refused_by_the_decision_is_remembered_all_the_same() -> None:
    cluster = world()
    told: list[object] = []

    def decide(_snapshot: Snapshot, context: Context[None]) -> Plan:
        told.append(context.state)
        failure = Failure(CONFIG_MAPS, WISH, Problem("", "is not to be had yet"), retryable=True)
        return Plan(failures=(failure,) * (len(told) == 1), state=len(told))

    async with at_work(cluster, controller(decide)):
        await a_while()

    assert told == [None, 1]


@virtual_time
async def test_events_are_recorded_by_steps_and_by_the_plan() -> None:
    cluster, ears = world(), Ears()

    def event(reason: str) -> Event:
        return Event(CONFIG_MAPS, WISH, None, "Normal", reason, "as it says")

    asking = Asking(RecordEvents((event("Begun"),)), Plan(events=(event("Ended"),), requeue_after=50))

    async with at_work(cluster, controller(asking), observer=ears) as runner:
        await a_while(40)
        assert ears.results == [(WISH, "requeue_after")]
        await a_while(20)
        assert len(ears.results) == 2
        assert runner.queue.idle

    assert ears.failures == []
    events = cluster.objects(Resource("events.k8s.io", "v1", "events", "Event"))
    assert {event["reason"] for event in events} == {"Begun", "Ended"}


@virtual_time
async def test_a_decision_that_never_ends_is_told_counted_and_tried_again_and_lets_others_live() -> None:
    cluster, ears = world(), Ears()

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        while True:
            await Pause()

    async with at_work(cluster, controller(decide), observer=ears):
        await a_while((MOST_STEPS + 1) * PAUSE + 0.001)

    (key, error), = ears.errors  # fmt: skip
    assert key == WISH
    assert error.startswith("EndlessDecisionError: the decision about default/wish has not ended after")
    assert ears.results == [(WISH, "error")]


@virtual_time
async def test_a_lease_that_is_lost_in_the_middle_of_a_plan_in_order_ends_the_turn_and_nothing_more_is_sent() -> None:
    cluster, ears = world(), Ears()
    leads = True

    async def lose_the_lease(write: int) -> None:
        nonlocal leads
        leads = write < 2

    wire = Wire(MemoryTransport(cluster), after_write=lose_the_lease)
    told: list[WriteResult] = []

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        told.extend(await InOrder(tuple(create(name) for name in "abcd")))
        await question("a")
        return Plan((create("e"),))

    async with at_work(cluster, controller(decide), transport=wire, observer=ears, may_write=lambda: leads):
        await a_while(0.001)
        assert names(cluster) == ["a", "b"]
        asked = len(wire.asked)
        await a_while(0.001)
        assert len(wire.asked) == asked

    assert told == [], "nobody decides on what cannot be done"
    assert [failed.problem for failed in ears.failed] == ["this process no longer holds the lease"]
    assert ears.results == [(WISH, "error")]
    assert ears.errors == []


@virtual_time
async def test_a_crash_between_two_steps_is_made_good_by_another_process() -> None:
    cluster = world()

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        for name in "ab":
            if not isinstance(await question(name), Found):
                await create(name)
        return Plan()

    reached = asyncio.Event()

    async def stop(_write: int) -> None:
        reached.set()
        await asyncio.sleep(1000)

    async with at_work(cluster, controller(decide), transport=Wire(MemoryTransport(cluster), after_write=stop)):
        await reached.wait()
    assert names(cluster) == ["a"]

    ears = Ears()
    async with at_work(cluster, controller(decide), observer=ears):
        await a_while()
    assert names(cluster) == ["a", "b"]
    assert [action.key.name for action in ears.actions] == ["b"]


@virtual_time
async def test_writes_of_any_step_of_a_turn_are_seen_before_the_next_one_begins_while_the_turn_waits_for_none() -> None:
    cluster, ears = world(), Ears()
    shown: list[tuple[float, set[str]]] = []

    def look(snapshot: Snapshot) -> None:
        seen = {key_of(each).name for each in snapshot.list(SECRETS)}
        shown.append((round(asyncio.get_running_loop().time(), 1), seen))

    async def decide(snapshot: Snapshot, _context: Context[None]) -> Plan:
        look(snapshot)
        if len(shown) > 1:
            return Plan()
        await create("a")
        look(snapshot)
        return Plan(requeue_after=0.1)

    watches = (*controller(decide).watches, Watch(SECRETS, dict, enqueue=nobody))

    async with at_work(cluster, controller(decide, watches=watches), transport=Late(cluster), observer=ears):
        await a_while()

    assert shown == [(0.0, set()), (0.0, set()), (1.0, {"a"})]
    assert ears.behind == []


@pytest.mark.parametrize(("in_order", "tried"), [(False, 31), (True, 2)])
@virtual_time
async def test_deletions_are_held_back_in_every_step_of_a_turn_and_the_decision_hears_of_it(
    tried: int, *, in_order: bool
) -> None:
    """The guard knows only of controllers that say what they own."""
    cluster, ears = world(), Ears()
    told: list[tuple[WriteResult, ...]] = []
    for number in range(30):
        cluster.handle(build.create(SECRETS, secret(f"s-{number:02}"), "default"))

    def owners(_secret: Manifest) -> tuple[ObjectKey, ...]:
        return (WISH,)

    async def decide(snapshot: Snapshot, _context: Context[None]) -> Plan:
        await question("a")
        unwanted = sorted(key_of(each) for each in snapshot.list(SECRETS))
        actions: tuple[Action, ...] = (create("a"), *(Delete(SECRETS, key, "unwanted") for key in unwanted))
        told.append(await (InOrder(actions) if in_order else AtOnce(actions)))
        return Plan()

    index = Index("owned", SECRETS, owners)
    watches = (*controller(decide).watches, Watch(SECRETS, dict, enqueue=nobody))
    guarded = controller(decide, owned=index, indexes=(index,), watches=watches)

    async with at_work(cluster, guarded, observer=ears):
        await a_while()

    assert len(names(cluster)) == 31
    refusals = [outcome.error.reason for outcome in told[0] if outcome.error]
    assert len(told[0]) == tried
    assert refusals == ["DeletionsHeld"] * (tried - 1)
    assert ears.held


@virtual_time
async def test_a_controller_that_owns_nothing_it_could_lose_deletes_unasked() -> None:
    cluster, ears = world(), Ears()
    for number in range(30):
        cluster.handle(build.create(SECRETS, secret(f"s-{number:02}"), "default"))
    unwanted = Plan(tuple(Delete(SECRETS, ObjectKey("default", f"s-{number:02}"), "unwanted") for number in range(30)))

    async with at_work(cluster, controller(lambda *_: unwanted), observer=ears):
        await a_while()

    assert names(cluster) == []
    assert ears.held == []


@virtual_time
async def test_a_periodic_controller_makes_its_round_at_the_start_when_it_wants_to_and_with_every_resync() -> None:
    cluster = world()
    rounds: list[float] = []

    def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        rounds.append(asyncio.get_running_loop().time())
        return Plan(requeue_after=1000.0 if len(rounds) == 1 else None)

    periodic = controller(decide, periodic=True, watches=())

    async with at_work(cluster, periodic, resync_period=2500.0) as runner:
        await a_while(4000)
        assert runner.queue.idle

    assert [round(at / 100) * 100 for at in rounds] == [0, 1000, 2500]


@pytest.mark.parametrize("in_order", [True, False])
@virtual_time
async def test_a_turn_that_runs_out_of_time_has_taken_note_of_what_was_answered(*, in_order: bool) -> None:
    cluster, ears = world(), Ears()

    async def hang(number: int) -> None:
        if number == 2:
            await asyncio.Event().wait()

    def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        return Plan((create("a"), create("b")), in_order=in_order)

    wire = Wire(MemoryTransport(cluster), before_write=hang)
    async with at_work(cluster, controller(decide), transport=wire, observer=ears):
        await a_while(TIME_LIMIT - 1)
        assert ears.errors == []
        await a_while(1.5)

        assert ears.errors == [(WISH, "TimeoutError: the turn did not end within 180 s")]
        assert ears.actions[:1] == [create("a")]
