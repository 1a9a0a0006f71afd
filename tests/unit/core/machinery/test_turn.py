"""What a turn knows at each of its plans."""

from datetime import UTC, datetime

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import Kind, ObjectKey, Resource
from hedgerow.machinery.plan import Create, Outcome, Plan
from hedgerow.machinery.questions import Answer, Found, Kinds, NotAnswered, ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.turn import MOST_STAGES, EndlessTurnError, Turn
from hedgerow_adapters.cache import StoreSnapshot

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRETS = Resource("", "v1", "secrets", "Secret")
DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition")
HEDGES = Resource("example.com", "v1", "hedges", "Hedge")
HEDGE, POLE = Kind("example.com/v1", "Hedge"), Kind("example.com/v1", "Pole")
NOT_SERVED = NotAnswered(404, "NotFound", "no such kind")
QUESTION = ObjectQuestion(SECRETS, ObjectKey("shop", "a"), Cluster.TARGET)
KEY = ObjectKey("shop", "cart")


def turn(told: list[Context[None]], memory: object = None) -> Turn[None]:
    """A turn whose decision never ends, and notes what it is told."""

    def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[None]) -> Plan:
        told.append(context)
        return Plan(goes_on=True)

    return Turn(Controller("noting", SECRETS, (), (), None, 1, None, reconcile), KEY, memory)


def planned(of: Turn[None], known: Kinds | None = None) -> Plan:
    return of.plan(StoreSnapshot({}), NOW, known or {})


def outcome(resource: Resource) -> Outcome:
    return Outcome(Create(resource, {}, "wanted"))


def test_all_that_was_found_out_is_told_in_order_and_again() -> None:
    told: list[Context[None]] = []
    answer: Answer = Found(())
    first = turn(told, "memory").after([outcome(SECRETS)]).told({QUESTION: answer}, {HEDGE: HEDGES})
    second = first.after([outcome(HEDGES)]).told({}, {POLE: NOT_SERVED})

    planned(second, {Kind("v1", "Secret"): SECRETS})

    assert told == [
        Context(
            NOW,
            None,
            {QUESTION: answer},
            {HEDGE: HEDGES, POLE: NOT_SERVED, Kind("v1", "Secret"): SECRETS},
            (outcome(SECRETS), outcome(HEDGES)),
            "memory",
        )
    ]


def test_what_the_whole_process_knows_of_a_kind_is_fresher() -> None:
    told: list[Context[None]] = []

    planned(turn(told).told({}, {HEDGE: NOT_SERVED}), {HEDGE: HEDGES})

    assert told[0].kinds[HEDGE] == HEDGES


def test_nothing_is_asked_or_looked_up_twice() -> None:
    plan = Plan(questions=(QUESTION, QUESTION), kinds=(HEDGE, POLE, HEDGE))
    first = turn([])

    assert first.open_questions(plan) == (QUESTION,)
    assert first.open_kinds(plan, {POLE: NOT_SERVED}) == (HEDGE,)
    knowing = first.told({QUESTION: Found(())}, {HEDGE: HEDGES})
    assert knowing.open_questions(plan) == ()
    assert knowing.open_kinds(plan, {}) == (POLE,)


@pytest.mark.parametrize(("written", "open_kinds"), [(SECRETS, ()), (DEFINITIONS, (POLE,))])
def test_a_kind_that_is_not_served_may_be_once_a_definition_was_written(
    written: Resource, open_kinds: tuple[Kind, ...]
) -> None:
    knowing = turn([]).told({}, {HEDGE: HEDGES, POLE: NOT_SERVED}).after([outcome(written)])

    assert knowing.open_kinds(Plan(kinds=(HEDGE, POLE)), {}) == open_kinds


def test_a_turn_is_at_its_end_after_so_many_plans_and_says_whose_it_is() -> None:
    going_on = turn([])
    for _ in range(MOST_STAGES):
        planned(going_on)
        going_on = going_on.after([])

    with pytest.raises(EndlessTurnError, match="shop/cart"):
        planned(going_on)
