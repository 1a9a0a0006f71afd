"""The journal of a live decision notes what it is told, and is kept however the decision ends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Create, Plan, WriteResult
from hedgerow.machinery.recording.journal import Journal, LiveTurn, Lookup, NotedSnapshot, Part, WriteReply, journaled
from hedgerow.machinery.recording.playback import outline, played
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Execution, Now, Pause, Step

KEY = ObjectKey("shop", "cart")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
LATER = BEGAN + timedelta(minutes=1)
GET = Lookup("get", CONFIG_MAPS, Cluster.TARGET, KEY)
OTHER = Lookup("get", CONFIG_MAPS, Cluster.TARGET, ObjectKey("shop", "till"))
WRITE = Create(CONFIG_MAPS, {"metadata": {"namespace": "shop", "name": "cart"}}, "missing")
STORED = {"metadata": {"namespace": "shop", "name": "cart", "uid": "u"}}
PLAN = Plan(requeue_after=60)


@dataclass
class Decided:
    """A decision under way, and what was kept of it."""

    decide: Callable[[Snapshot], Any]
    world: Mapping[Lookup, Any] = field(default_factory=lambda: {GET: None, OTHER: STORED})
    kept: list[LiveTurn] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.controller: Controller[None] = Controller(
            "test", CONFIG_MAPS, (), 1, None, lambda _key, snapshot, _context: self.decide(snapshot)
        )
        context = Context(BEGAN, None, state="state", jitter=0.5, server_versions=frozenset({"b", "a"}))
        self.execution = Execution(
            journaled(self.controller, KEY, NotedSnapshot(self.world), context, self.kept.append), KEY
        )

    @property
    def journal(self) -> Journal:
        (turn,) = self.kept
        return turn.journal


async def steps(snapshot: Snapshot) -> Plan:
    """Reads, waits, writes, reads again."""
    snapshot.get(CONFIG_MAPS, KEY)
    await Pause()
    await Now()
    await Now()
    result = await WRITE
    assert result == WriteResult(WRITE, STORED)
    snapshot.get(CONFIG_MAPS, OTHER.what)
    return PLAN


def reply_to(step: Step[Any]) -> Any:
    match step:
        case Now():
            return LATER
        case Create():
            return WriteResult(step, STORED)
        case _:
            return None


def test_a_part_ends_with_what_asks_or_writes_and_holds_the_times() -> None:
    decided = Decided(steps)

    step = decided.execution.begin()
    while isinstance(step, Step):
        step = decided.execution.go_on(reply_to(step))

    assert step == PLAN
    assert decided.journal == Journal(
        "test",
        KEY,
        BEGAN,
        0.5,
        ("a", "b"),
        has_state=True,
        parts=(
            Part({GET: None}, (LATER, LATER), WRITE, WriteReply(STORED, None)),
            Part({OTHER: STORED}, (), PLAN),
        ),
    )
    assert decided.kept[0].state == "state"


def test_a_decision_that_is_made_at_once_is_kept_as_well() -> None:
    decided = Decided(lambda _: PLAN)

    assert decided.execution.begin() == PLAN
    assert decided.journal.parts == (Part(wants=PLAN),)


@pytest.mark.parametrize(("performed", "parts"), [(0, 0), (2, 0), (3, 1)], ids=["pause", "time", "write"])
def test_a_decision_that_is_stopped_is_kept_up_to_the_step_that_it_waits_for(performed: int, parts: int) -> None:
    decided = Decided(steps)
    step = decided.execution.begin()
    for _ in range(performed):
        assert isinstance(step, Step)
        step = decided.execution.go_on(reply_to(step))

    decided.execution.close()

    assert [(part.wants, part.reply) for part in decided.journal.parts] == [(WRITE, None)][:parts]
    assert (decided.journal.end, decided.journal.raised) == (None, "")


def test_a_decision_that_raises_is_kept_with_the_name_of_the_defect() -> None:
    async def raises(snapshot: Snapshot) -> Plan:
        await WRITE
        snapshot.get(CONFIG_MAPS, KEY)
        raise KeyError("a secret")

    decided = Decided(raises)
    decided.execution.begin()

    with pytest.raises(KeyError):
        decided.execution.go_on(WriteResult(WRITE, STORED))

    assert decided.journal.raised == "KeyError"
    assert decided.journal.parts[-1] == Part({GET: None})


def test_a_decision_made_again_may_pause_otherwise_and_ask_for_the_time_more_often() -> None:
    decided = Decided(steps)
    step = decided.execution.begin()
    while isinstance(step, Step):
        step = decided.execution.go_on(reply_to(step))
    told = []

    async def other(snapshot: Snapshot) -> Plan:
        told.append(await Now())
        await Pause()
        await Pause()
        told.extend([await Now(), await Now()])
        snapshot.get(CONFIG_MAPS, KEY)
        await WRITE
        told.append(await Now())
        return PLAN

    decided.decide = other

    assert [each.wants for each in played(decided.controller, decided.journal, None)] == [WRITE, PLAN]
    assert told == [LATER] * 4


@pytest.mark.parametrize(
    ("lookup", "text"),
    [
        (GET, "ConfigMap shop/cart"),
        (Lookup("get", SECRETS, Cluster.SOURCE, KEY), "Secret shop/cart of the source cluster"),
        (Lookup("has_synced", SECRETS, Cluster.TARGET), "whether secrets have synced"),
        (Lookup("list", SECRETS, Cluster.TARGET, (None, None)), "all secrets"),
        (
            Lookup("list", SECRETS, Cluster.SOURCE, ("shop", LabelSelector((("a", "b"),)))),
            "all secrets in namespace shop with a=b of the source cluster",
        ),
        (Lookup("index", SECRETS, Cluster.TARGET, ("by owner", KEY)), 'secrets under shop/cart of "by owner"'),
    ],
)
def test_a_lookup_is_named_as_people_say_it(lookup: Lookup, text: str) -> None:
    assert str(lookup) == text


def test_a_decision_that_raised_is_outlined_as_such() -> None:
    assert outline(None) == ["raised"]
