"""What a controller leaves alone where it is restricted to some namespaces: its keys, and what its plans speak of."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import (
    SINGLETON,
    Change,
    Context,
    Controller,
    DynamicWatch,
    Watch,
    all_keys,
    concerned_keys,
    owned_objects,
)
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.plan import (
    Action,
    ApiError,
    Create,
    Delete,
    Event,
    InOrder,
    MergePatch,
    Plan,
    RecordEvents,
    WriteResult,
)
from hedgerow.machinery.restriction import restricted
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce, Pause, Step
from hedgerow_adapters.cache import StoreSnapshot
from tests.executions import executed, plan_of
from tests.snapshots import snapshot_over

OWNERS = Resource("", "v1", "owners", "Owner")
THINGS = Resource("", "v1", "things", "Thing")
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
OURS, THEIRS = ObjectKey("a", "x"), ObjectKey("b", "x")
CONTEXT = Context(datetime(2026, 1, 1, tzinfo=UTC), None)


def thing(namespace: str, name: str, owner: ObjectKey | None = None) -> Manifest:
    labels = {"owner": str(owner)} if owner else {}
    return {"metadata": {"namespace": namespace, "name": name, "labels": labels}}


def owners(manifest: Manifest) -> list[ObjectKey]:
    owner = labels_of(manifest).get("owner")
    return [ObjectKey(*owner.split("/"))] if owner else []


def planning(*actions: Action, events: tuple[Event, ...] = ()) -> Controller[None]:
    """A controller that plans the same for every key."""
    owned = Index("things by owner", THINGS, owners)

    def own_key(manifest: Manifest, _snapshot: Snapshot) -> list[ObjectKey]:
        return [key_of(manifest)]

    return Controller(
        name="planning",
        primary=OWNERS,
        watches=(Watch(OWNERS, dict, own_key), Watch(THINGS, dict, lambda manifest, _snapshot: owners(manifest))),
        indexes=(owned,),
        owned=owned,
        concurrency=1,
        config=None,
        reconcile=lambda _key, _snapshot, _context: Plan(actions, events),
    )


def snapshot_of(controller: Controller[None], *things: Manifest) -> StoreSnapshot:
    return snapshot_over(controller, {OWNERS: [], THINGS: things})


def planned(controller: Controller[None], key: ObjectKey, *things: Manifest) -> Plan:
    return plan_of(controller.reconcile(key, snapshot_of(controller, *things), CONTEXT))


def test_without_a_restriction_the_controller_stays_as_it_is() -> None:
    controller = planning()

    assert restricted(controller) is controller


def test_an_object_of_an_owner_out_of_sight_gives_no_key_and_is_not_owned() -> None:
    controller = restricted(planning(), target=["a"])
    ours, theirs = thing("a", "ours", OURS), thing("a", "theirs", THEIRS)
    snapshot = snapshot_of(controller, ours, theirs)

    assert all_keys(controller, snapshot) == [OURS]
    assert owned_objects(controller, snapshot) == [ours]
    assert concerned_keys(controller.watches[1], Change(theirs, ours), snapshot) == {OURS}


def test_a_dynamic_watch_gives_no_key_out_of_sight_either() -> None:
    followed = Watch(THINGS, lambda manifest: manifest, lambda manifest, _snapshot: owners(manifest))
    dynamic = DynamicWatch(Index("kinds", OWNERS, lambda _: ()), lambda _resource: (followed,))
    controller = restricted(replace(planning(), dynamic_watches=(dynamic,)), target=["a"])

    ((watch,),) = (each.watches(THINGS) for each in controller.dynamic_watches)

    nothing: set[ObjectKey] = set()
    for owner, keys in ((OURS, {OURS}), (THEIRS, nothing)):
        assert concerned_keys(watch, Change(None, thing("a", "t", owner)), snapshot_of(controller)) == keys


def test_the_single_key_of_a_periodic_controller_is_always_in_sight() -> None:
    create = Create(THINGS, thing("a", "t"), "missing")
    event = Event(THINGS, ObjectKey("b", "t"), None, "Warning", "R", "note")
    controller = restricted(replace(planning(create, events=(event,)), periodic=True), target=["a"])

    assert all_keys(controller, snapshot_of(controller)) == [SINGLETON]
    assert planned(controller, SINGLETON) == Plan((create,), (event,))


def test_for_an_owner_out_of_sight_nothing_is_planned() -> None:
    delete = Delete(THINGS, ObjectKey("a", "t"), "owner-gone")
    controller = restricted(planning(delete), target=["a"])

    assert planned(controller, THEIRS) == Plan()
    assert planned(controller, OURS) == Plan((delete,))


def test_what_lies_in_other_namespaces_is_left_out_of_a_plan() -> None:
    within, without = Create(THINGS, thing("a", "t"), "wanted"), Create(THINGS, thing("b", "t"), "wanted")
    of_no_namespace = MergePatch(NODES, ObjectKey("", "node"), {}, "wanted")
    events = tuple(Event(THINGS, ObjectKey(namespace, "t"), None, "Warning", "R", "note") for namespace in "ab")
    controller = restricted(planning(within, without, of_no_namespace, events=events), target=["a"])

    assert planned(controller, OURS) == Plan((within, of_no_namespace), events[:1])


def test_a_namespace_out_of_sight_is_not_written_to_itself() -> None:
    patches = [MergePatch(NAMESPACES, ObjectKey("", name), {}, "wanted") for name in "ab"]
    events = tuple(Event(NAMESPACES, patch.key, None, "Warning", "R", "note") for patch in patches)
    controller = restricted(planning(*patches, events=events), target=["a"])

    assert planned(controller, OURS) == Plan((patches[0],), events[:1])


def test_a_controller_of_namespaces_has_those_for_keys_that_are_seen() -> None:
    patch = MergePatch(NODES, ObjectKey("", "node"), {}, "wanted")
    controller = restricted(replace(planning(patch), primary=NAMESPACES), target=["a"])

    assert [planned(controller, ObjectKey("", name)) for name in "ab"] == [Plan((patch,)), Plan()]


def test_what_belongs_to_an_owner_out_of_sight_is_not_taken_and_the_plan_says_so() -> None:
    key = ObjectKey("a", "t")
    patch = MergePatch(THINGS, key, {"spec": {}}, "wanted")
    controller = restricted(planning(patch), target=["a"])

    problem = "belongs to b/x, which is in a namespace that is not looked after here"
    refusal = Failure(THINGS, key, Problem("", problem), retryable=True)
    assert planned(controller, OURS, thing("a", "t", THEIRS)) == Plan((), (), (refusal,))
    assert planned(controller, OURS, thing("a", "t", OURS)) == Plan((patch,))
    assert planned(controller, OURS, thing("a", "t")) == Plan((patch,)), "nobody claims it"


@pytest.mark.parametrize(
    ("restriction", "keys", "places"),
    [
        pytest.param({"source": ["a"]}, [OURS], "ab", id="keys by the cluster of what they name"),
        pytest.param({"target": ["a"]}, [OURS, THEIRS], "a", id="actions by the cluster that they are sent to"),
    ],
)
def test_each_cluster_has_a_restriction_of_its_own(
    restriction: dict[str, list[str]], keys: list[ObjectKey], places: str
) -> None:
    creations = [Create(THINGS, thing(namespace, "t"), "wanted") for namespace in "ab"]
    elsewhere = replace(planning(*creations), primary_cluster=Cluster.SOURCE)
    controller = restricted(elsewhere, **restriction)

    plans = {key: planned(controller, key) for key in (OURS, THEIRS)}

    assert [key for key, plan in plans.items() if plan.actions] == keys
    assert "".join(action.key.namespace for action in plans[OURS].actions) == places


def awaiting(step: Step[Any], told: list[Any]) -> Controller[None]:
    """A controller whose decision awaits one step, and keeps the reply."""

    async def reconcile(_key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
        told.append(await step)
        return Plan()

    return replace(planning(), reconcile=reconcile)


def performed(step: Step[Any]) -> Any:
    match step:
        case AtOnce(steps):
            return tuple(performed(each) for each in steps)
        case InOrder(actions):
            return tuple(WriteResult(each) for each in actions)
        case Create() | MergePatch():
            return WriteResult(step)
        case _:
            return None


def driven(step: Step[Any], *things: Manifest) -> tuple[Any, list[Step[Any]], Plan]:
    """The reply that a decision gets, the steps that are performed for it, and its plan."""
    told: list[Any] = []
    controller = restricted(awaiting(step, told), target=["a"])
    decision = controller.reconcile(OURS, snapshot_of(controller, *things), CONTEXT)
    plan, steps = executed(decision, performed)
    return told[0], steps, plan


WITHIN, WITHOUT = (Create(THINGS, thing(namespace, "t"), "wanted") for namespace in "ab")
OUT_OF_SIGHT = WriteResult(
    WITHOUT, error=ApiError(0, "OutOfSight", "is not in a namespace that this process is configured to see")
)


@pytest.mark.parametrize(
    ("step", "reply", "steps"),
    [
        pytest.param(WITHIN, WriteResult(WITHIN), [WITHIN], id="within"),
        pytest.param(WITHOUT, OUT_OF_SIGHT, [], id="without"),
        pytest.param(
            AtOnce((WITHOUT, WITHIN, Pause())), (OUT_OF_SIGHT, WriteResult(WITHIN), None),
            [AtOnce((WITHIN, Pause()))], id="at once",
        ),
        pytest.param(
            InOrder((WITHIN, WITHOUT, WITHIN)), (WriteResult(WITHIN), OUT_OF_SIGHT), [InOrder((WITHIN,))], id="in order"
        ),
    ],
)  # fmt: skip
def test_what_lies_in_other_namespaces_is_left_out_of_a_step_and_the_decision_hears_of_it(
    step: Step[Any], reply: Any, steps: list[Step[Any]]
) -> None:
    assert driven(step) == (reply, steps, Plan())


def test_events_of_a_step_about_objects_in_other_namespaces_are_left_out() -> None:
    events = tuple(Event(THINGS, ObjectKey(namespace, "t"), None, "Warning", "R", "note") for namespace in "ab")

    assert driven(RecordEvents(events))[1] == [RecordEvents(events[:1])]


def test_what_belongs_to_an_owner_out_of_sight_is_not_taken_by_a_step_and_the_plan_says_so() -> None:
    patch = MergePatch(THINGS, ObjectKey("a", "t"), {"spec": {}}, "wanted")

    _, steps, plan = driven(patch, thing("a", "t", THEIRS))

    assert steps == []
    assert [failure.problem.text for failure in plan.failures] == [
        "belongs to b/x, which is in a namespace that is not looked after here"
    ]
