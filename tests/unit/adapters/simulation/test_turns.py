"""Decisions that are driven without an event loop: in in-memory clusters, and where nothing is written."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, DynamicWatch, Watch
from hedgerow.machinery.execution import EndlessDecisionError
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.plan import Create, Decision, Delete, InOrder, JsonPatch, MergePatch, Plan, Update
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce, Pause
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation import Imagined, Surroundings, decided, settle
from tests.in_memory import InMemory, snapshot_of

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SECRETS = Resource("", "v1", "secrets", "Secret")
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
WISH = ObjectKey("default", "wish")
ABSENT = ObjectKey("default", "absent")

Decide = Callable[[Snapshot, Context[None]], Plan | Decision]


def config_map(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": {"made-by": "wish"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def question(name: str) -> ObjectQuestion:
    return ObjectQuestion(CONFIG_MAPS, ObjectKey("default", name), Cluster.TARGET)


def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
    return (key_of(manifest),)


def controller(decide: Decide, **changes: Any) -> Controller[None]:
    """A controller of Secrets that decides about each as a test says."""
    declared: dict[str, Any] = {
        "name": "wishing",
        "primary": SECRETS,
        "watches": (Watch(SECRETS, dict, enqueue=own_key),),
        "indexes": (),
        "owned": None,
        "concurrency": 1,
        "config": None,
        "reconcile": lambda _key, snapshot, context: decide(snapshot, context),
    }
    return Controller(**declared | changes)


@pytest.fixture
def cluster() -> InMemoryCluster:
    """A cluster with one Secret, the wish, and the ConfigMap `old`."""
    cluster = InMemoryCluster()
    cluster.handle(requests.create(SECRETS, {"metadata": {"name": "wish"}}, "default"))
    cluster.handle(requests.create(CONFIG_MAPS, config_map("old", x="1"), "default"))
    return cluster


def in_memory(cluster: InMemoryCluster) -> InMemory:
    return InMemory(dict.fromkeys(Cluster, cluster))


def imagined(cluster: InMemoryCluster) -> Imagined:
    """Nothing but reads reach the cluster."""
    real = in_memory(cluster)
    return Imagined(real.answer, real.look_up, NOW)


@pytest.fixture(params=[in_memory, imagined], ids=["in memory", "imagined"])
def surroundings(request: pytest.FixtureRequest, cluster: InMemoryCluster) -> Surroundings:
    """Both surroundings of the cluster."""
    made: Surroundings = request.param(cluster)
    return made


def create(name: str) -> Create:
    return Create(CONFIG_MAPS, config_map(name, x="1"), "wished-for")


def test_everything_that_a_turn_asks_for_is_told_each_with_what_was_there_before(
    cluster: InMemoryCluster, surroundings: Surroundings
) -> None:
    failure = Failure(SECRETS, WISH, Problem("", "cannot be had in full"))

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        made, refused = await AtOnce((create("new"), create("old")))
        assert (made.error, refused.error and refused.error.code) == (None, 409)
        found = await question("old")
        assert isinstance(found, Found)
        assert made.stored is not None
        changed = {**found.objects[0], "data": {"x": "2"}}
        return Plan((Update(CONFIG_MAPS, changed, "drifted"), Delete(CONFIG_MAPS, key_of(made.stored), "over")),
                    failures=(failure,))  # fmt: skip

    one = controller(decide)
    _, snapshot = snapshot_of(dict.fromkeys(Cluster, cluster), one)

    decision = decided(one, WISH, snapshot, NOW, surroundings)

    assert decision.plan.failures == (failure,)
    shown = [
        (type(step.action), step.action.key.name, step.before and step.before["data"], step.is_done, step.is_last)
        for step in decision.steps
    ]
    assert shown == [
        (Create, "new", None, True, False),
        (Create, "old", {"x": "1"}, False, False),
        (Update, "old", {"x": "1"}, False, True),
        (Delete, "new", {"x": "1"}, False, True),
    ]
    assert cluster.objects(CONFIG_MAPS)[-1]["data"] == {"x": "1"}, "the last plan is not carried out"


def test_in_order_what_follows_a_refusal_is_no_step(cluster: InMemoryCluster, surroundings: Surroundings) -> None:
    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        await InOrder(tuple(create(name) for name in ("a", "old", "c")))
        return Plan()

    one = controller(decide)
    _, snapshot = snapshot_of(dict.fromkeys(Cluster, cluster), one)

    steps = decided(one, WISH, snapshot, NOW, surroundings).steps

    assert [step.action.key.name for step in steps] == ["a", "old"]


def test_what_is_written_counts_for_what_is_asked_and_written_afterwards(surroundings: Surroundings) -> None:
    held = config_map("held")
    held["metadata"]["finalizers"] = ["hedgerow.dev/hold"]
    patch = [{"op": "test", "path": "/data/x", "value": "1"}, {"op": "replace", "path": "/data/x", "value": "2"}]
    outcomes = [
        surroundings.carry_out(action)
        for action in (
            create("a"),
            MergePatch(CONFIG_MAPS, key_of(config_map("a")), {"data": {"y": "1"}}, "edited"),
            JsonPatch(CONFIG_MAPS, key_of(config_map("a")), patch, "edited"),
            JsonPatch(CONFIG_MAPS, key_of(config_map("a")), patch, "edited"),
            Create(CONFIG_MAPS, held, "wished-for"),
            Delete(CONFIG_MAPS, key_of(held), "over"),
            Delete(CONFIG_MAPS, ObjectKey("default", "old"), "over"),
            Delete(CONFIG_MAPS, ABSENT, "over"),
            MergePatch(CONFIG_MAPS, ABSENT, {}, "edited"),
        )
    ]

    assert [outcome.error and (outcome.error.code, outcome.error.reason) for outcome in outcomes] == [
        None, None, None, (422, "Invalid"), None, None, None, None, (404, "NotFound")
    ]  # fmt: skip
    assert outcomes[2].stored is not None
    assert outcomes[2].stored["data"] == {"x": "2", "y": "1"}
    assert surroundings.answer(question("a")) == Found((outcomes[2].stored,))
    marked = outcomes[5].stored
    assert marked is not None
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert outcomes[6].stored is outcomes[7].stored is None
    gone = surroundings.answer(question("old"))
    assert isinstance(gone, NotAnswered)
    assert gone.is_not_found


def test_lists_and_kinds_are_those_of_the_cluster(surroundings: Surroundings) -> None:
    mine = ListQuestion(CONFIG_MAPS, Cluster.TARGET, "default", "made-by=wish", metadata_only=True)

    answer = surroundings.answer(mine)

    assert isinstance(answer, Found)
    assert [key_of(each).name for each in answer.objects] == ["old"]
    assert surroundings.answer(replace(mine, field_selector="metadata.name=new")) == Found(())
    assert surroundings.look_up(Kind("v1", "Secret")) == SECRETS
    missing = surroundings.look_up(Kind("example.com/v1", "Hedge"))
    assert isinstance(missing, NotAnswered)
    assert missing.is_not_found


def test_who_only_imagines_writes_nothing_and_reads_each_object_once(cluster: InMemoryCluster) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Answer:
        asked.append(question)
        return in_memory(cluster).answer(question)

    imagining = Imagined(ask, in_memory(cluster).look_up, NOW)
    before = cluster.resource_version

    for action in (create("a"), create("a"), Delete(CONFIG_MAPS, ObjectKey("default", "a"), "over"), create("a")):
        imagining.carry_out(action)

    assert asked == [question("a")]
    assert cluster.resource_version == before


def test_what_was_sent_is_imagined_as_a_server_would_hand_it_back(cluster: InMemoryCluster) -> None:
    real = in_memory(cluster)
    imagining = Imagined(real.answer, real.look_up, NOW, lambda sent: {**sent, "handed": "back"})

    created = imagining.carry_out(create("a")).stored

    assert created == {**create("a").manifest, "handed": "back"}
    assert imagining.answer(question("a")) == Found((created,))


def test_a_decision_that_never_ends_is_a_defect_here_as_well(cluster: InMemoryCluster) -> None:
    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        while True:
            await Pause()

    endless = controller(decide)
    _, snapshot = snapshot_of(dict.fromkeys(Cluster, cluster), endless)

    with pytest.raises(EndlessDecisionError, match="default/wish"):
        decided(endless, WISH, snapshot, NOW, in_memory(cluster))


def test_what_a_controller_follows_is_shown_as_far_as_it_is_served(cluster: InMemoryCluster) -> None:
    def named_kinds(secret: Manifest) -> Iterator[Kind]:
        for kind in labels_of(secret).values():
            yield Kind("v1", kind)

    kinds = Index("kinds by secret", SECRETS, named_kinds)
    dynamic = DynamicWatch(kinds, lambda resource: (Watch(resource, dict, enqueue=own_key),))
    following = controller(lambda _snapshot, _context: Plan(), indexes=(kinds,), dynamic_watches=(dynamic,))
    patch = {"metadata": {"labels": {"a": "ConfigMap", "b": "Unknown", "c": "Secret"}}}
    cluster.handle(requests.merge_patch(SECRETS, WISH, patch))

    declared, snapshot = snapshot_of(dict.fromkeys(Cluster, cluster), following)

    assert [watch.resource for watch in declared.watches] == [SECRETS, CONFIG_MAPS]
    assert [key_of(each).name for each in snapshot.list(CONFIG_MAPS)] == ["old"]


def test_controllers_settle_over_decisions_of_several_steps(cluster: InMemoryCluster) -> None:
    """What is refused on the way is dealt with by the decision, and no problem of the settlement."""

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        await create("old")
        return Plan() if isinstance(await question("made"), Found) else Plan((create("made"),))

    settlement = settle(cluster, [controller(decide)])

    assert settlement.is_settled
    assert [(step.action.key.name, step.error) for step in settlement.steps] == [("made", "")]


def test_who_writes_the_same_on_the_way_again_and_again_does_not_come_to_rest(cluster: InMemoryCluster) -> None:
    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        await MergePatch(CONFIG_MAPS, ObjectKey("default", "old"), {"data": {"x": "1"}}, "again")
        return Plan()

    assert not settle(cluster, [controller(decide)]).is_settled


def test_in_order_what_was_refused_in_a_round_keeps_back_the_rest_in_the_next(cluster: InMemoryCluster) -> None:
    plan = Plan((create("old"), create("c")), in_order=True)

    settlement = settle(cluster, [controller(lambda _snapshot, _context: plan)])

    assert settlement.is_settled
    assert [(step.action.key.name, bool(step.error)) for step in settlement.steps] == [("old", True)]


def test_what_a_subresource_is_asked_for_is_made_and_the_object_stays(
    cluster: InMemoryCluster, surroundings: Surroundings
) -> None:
    cluster.handle(requests.create(SERVICE_ACCOUNTS, {"metadata": {"name": "baker"}}, "default"))
    account = ObjectQuestion(SERVICE_ACCOUNTS, ObjectKey("default", "baker"), Cluster.TARGET)
    before = surroundings.answer(account)

    asked, in_vain = (
        surroundings.carry_out(
            Create(
                SERVICE_ACCOUNTS,
                {
                    "apiVersion": "authentication.k8s.io/v1",
                    "kind": "TokenRequest",
                    "metadata": {"name": name, "namespace": "default"},
                    "spec": {"audiences": [], "expirationSeconds": 3600},
                },
                "wished",
                subresource="token",
            )
        )
        for name in ("baker", "nobody")
    )

    assert asked.stored is not None
    assert asked.stored["status"]["token"]
    assert asked.stored["status"]["expirationTimestamp"] == "2026-01-01T01:00:00Z"
    assert surroundings.answer(account) == before
    assert in_vain.error is not None
    assert in_vain.error.code == 404
