"""The journal of a live decision notes what it is told, and is kept however the decision ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import (
    ApiError,
    Create,
    Delete,
    Event,
    InOrder,
    MergePatch,
    Plan,
    RecordEvents,
    Update,
    WriteResult,
)
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.machinery.recording.journal import (
    Journal,
    LiveTurn,
    Lookup,
    NotedSnapshot,
    NotReadError,
    Part,
    WriteReply,
    has_same_reply,
    journaled,
    noted,
    replied,
)
from hedgerow.machinery.recording.playback import outline, played
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce, Execution, Now, Pause, Step

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


BY_OWNER: Index[str] = Index("by owner", CONFIG_MAPS, lambda _: ["cart"], Cluster.SOURCE)
SELECTOR = LabelSelector((("a", "b"),))


class World:
    """Answers with what it is asked."""

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Any:
        return {"asked": ("get", resource, key, cluster)}

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> Any:
        return ("has_synced", resource, cluster)

    def list(self, resource: Resource, **asked: Any) -> Sequence[Any]:
        return [resource, asked]

    def by_index(self, index: Index[Any], value: Any) -> Sequence[Any]:
        return [index, value]


def ask_all(snapshot: Snapshot) -> list[Any]:
    return [
        snapshot.get(CONFIG_MAPS, KEY, Cluster.SOURCE),
        snapshot.has_synced(SECRETS, Cluster.SOURCE),
        snapshot.list(SECRETS, namespace="shop", selector=SELECTOR, cluster=Cluster.SOURCE),
        snapshot.by_index(BY_OWNER, "cart"),
    ]


NOTES = {
    Lookup("get", CONFIG_MAPS, Cluster.SOURCE, KEY): {"asked": ("get", CONFIG_MAPS, KEY, Cluster.SOURCE)},
    Lookup("has_synced", SECRETS, Cluster.SOURCE): ("has_synced", SECRETS, Cluster.SOURCE),
    Lookup("list", SECRETS, Cluster.SOURCE, ("shop", SELECTOR)): (
        SECRETS,
        {"namespace": "shop", "selector": SELECTOR, "cluster": Cluster.SOURCE},
    ),
    Lookup("index", CONFIG_MAPS, Cluster.SOURCE, ("by owner", "cart")): (BY_OWNER, "cart"),
}


def test_the_answers_of_the_world_are_noted_and_given_again_without_it() -> None:
    noting = NotedSnapshot({}, World())

    assert ask_all(noting) == list(NOTES.values())
    assert noting.reads == NOTES
    assert not noting.has_moved
    assert ask_all(NotedSnapshot(NOTES)) == list(NOTES.values())


def test_what_was_not_noted_is_not_known() -> None:
    with pytest.raises(NotReadError, match=r"^asks for ConfigMap shop/cart, which was not read then$"):
        NotedSnapshot(NOTES).get(CONFIG_MAPS, KEY)


def test_an_answer_that_changes_is_noted_as_it_is_now() -> None:
    answers = iter([STORED, STORED, None])

    class Moving(World):
        def get(self, *_lookup: object) -> Any:
            return next(answers)

    snapshot = NotedSnapshot({}, Moving())
    found = [(snapshot.get(CONFIG_MAPS, KEY), snapshot.has_moved, snapshot.reads[GET]) for _ in range(3)]

    assert found == [(STORED, False, STORED), (STORED, False, STORED), (None, True, None)]


DELETION = Delete(CONFIG_MAPS, KEY, "gone")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (WRITE, Create(CONFIG_MAPS, STORED, "missing")),
        (MergePatch(SECRETS, KEY, {}, "a"), MergePatch(SECRETS, KEY, {"a": "b"}, "a", "1")),
        (InOrder((WRITE, DELETION)), InOrder((WRITE, DELETION))),
        (AtOnce((WRITE,)), AtOnce((Create(CONFIG_MAPS, STORED, "missing"),))),
        (Plan(), PLAN),
        (RecordEvents(()), RecordEvents((Event(SECRETS, KEY, None, "Normal", "A", ""),))),
        (Pause(), Pause(5)),
        (ObjectQuestion(SECRETS, KEY, Cluster.TARGET), ObjectQuestion(SECRETS, KEY, Cluster.TARGET)),
        (None, None),
    ],
)
def test_a_reply_is_one_to_what_asks_the_same_or_writes_the_same_object(one: Any, other: Any) -> None:
    assert has_same_reply(one, other)
    assert has_same_reply(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (WRITE, DELETION),
        (WRITE, PLAN),
        (WRITE, None),
        (WRITE, replace(WRITE, resource=SECRETS)),
        (WRITE, replace(WRITE, manifest={"metadata": {"name": "till"}})),
        (WRITE, replace(WRITE, reason="otherwise")),
        (WRITE, replace(WRITE, cluster=Cluster.SOURCE)),
        (WRITE, replace(WRITE, subresource="token")),
        (Update(SECRETS, STORED, "a"), Update(SECRETS, STORED, "a", dry_run=True)),
        (InOrder((WRITE, DELETION)), InOrder((WRITE,))),
        (InOrder((WRITE, DELETION)), InOrder((DELETION, WRITE))),
        (InOrder((WRITE,)), AtOnce((WRITE,))),
        (ObjectQuestion(SECRETS, KEY, Cluster.TARGET), ObjectQuestion(SECRETS, KEY, Cluster.SOURCE)),
        (Plan(), None),
    ],
)
def test_a_reply_is_none_to_what_asks_or_writes_another_thing(one: Any, other: Any) -> None:
    assert not has_same_reply(one, other)
    assert not has_same_reply(other, one)


def test_a_reply_is_noted_without_its_action_and_given_again_with_that_of_the_step() -> None:
    error = ApiError(409, "Conflict", "changed")
    steps = InOrder((WRITE, DELETION, WRITE))
    results = (WriteResult(WRITE, STORED), WriteResult(DELETION, None, error))

    notes = noted(results)

    assert notes == (WriteReply(STORED, None), WriteReply(None, error))
    assert replied(steps, notes) == results
    assert replied(AtOnce(steps.actions[:2]), notes) == results
    assert replied(ObjectQuestion(SECRETS, KEY, Cluster.TARGET), noted(Found((STORED,)))) == Found((STORED,))


def test_the_weight_of_a_journal_grows_with_replies_and_writes_and_the_length_of_their_data() -> None:
    data = {"data": {"a": "x" * 100, "b": "y" * 10, "c": 5}}
    parts = (
        Part(),
        Part(reply=WriteReply(data, None)),
        Part(reply=Found((data, STORED))),
        Part(reply=(WriteReply(data, None), WriteReply(None, None))),
        Part(wants=Create(CONFIG_MAPS, data, "missing")),
        Part(wants=Plan((Create(CONFIG_MAPS, data, "missing"), DELETION))),
        Part(reply={"data": "no mapping"}),
    )

    def weight(*weighed: Part) -> int:
        return Journal("test", KEY, BEGAN, parts=weighed).weight

    empty = weight(Part())
    assert [weight(part) - empty for part in parts] == [
        0,
        empty + 110,
        2 * empty + 110,
        empty + 110,
        empty + 110,
        empty + 110,
        empty,
    ]
    assert weight(*parts) == sum(map(weight, parts))
