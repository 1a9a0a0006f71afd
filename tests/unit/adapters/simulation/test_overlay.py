"""Plans of controllers: in in-memory clusters, and over a cluster to which nothing is written."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, DynamicWatch, Watch
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.plan import (
    Action,
    Create,
    Decision,
    Delete,
    InOrder,
    JsonPatch,
    MergePatch,
    Plan,
    Update,
    WriteResult,
)
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce, Pause
from hedgerow_adapters.kubernetes.discovery import Discovery
from hedgerow_adapters.kubernetes.live_reads import Questions
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, MemoryTransport
from hedgerow_adapters.memory.faults import requests as picked
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.executor import Executor, Unanswered
from hedgerow_adapters.simulation.clusters import CrashedTurnError, ReadingError, World, Worlds, in_memory
from hedgerow_adapters.simulation.overlay import Overlay, imagined
from hedgerow_adapters.simulation.planning import MOST_TURNS, KeyPlan, Planner, settle
from tests.in_memory import snapshot_of
from tests.virtual_clock import run

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


@pytest.fixture(params=["in memory", "imagined"])
def worlds(request: pytest.FixtureRequest, cluster: InMemoryCluster) -> Worlds:
    """The cluster itself, and one in which writes are imagined."""
    if request.param == "in memory":
        return in_memory(cluster)
    return imagined(dict.fromkeys(Cluster, MemoryTransport(cluster)), NOW)


class Surroundings:
    """Questions and actions that a test puts to a cluster itself."""

    def __init__(self, world: World) -> None:
        self._transports = dict.fromkeys(Cluster, world.transport)

    def answer(self, question: Question) -> Answer:
        return run(Questions(self._transports).ask(question))

    def look_up(self, kind: Kind) -> Resource | NotAnswered:
        async def look_up() -> Resource | NotAnswered:
            return (await Discovery(self._transports[Cluster.TARGET]).look_up([kind]))[kind]

        return run(look_up())

    def carry_out(self, action: Action) -> WriteResult:
        async def carry_out() -> WriteResult:
            (report,) = await Executor(self._transports[Cluster.TARGET]).carry_out([action])
            assert not isinstance(report, Unanswered)
            return report.result

        return run(carry_out())


@pytest.fixture
def surroundings(worlds: Worlds) -> Surroundings:
    return Surroundings(worlds[Cluster.TARGET])


def create(name: str) -> Create:
    return Create(CONFIG_MAPS, config_map(name, x="1"), "wished-for")


def planned(decide: Decide, worlds: Worlds) -> KeyPlan:
    with Planner(controller(decide), worlds, NOW) as planner:
        return planner.plan(WISH)


def test_everything_that_a_turn_asks_for_is_told_each_with_what_was_there_before(worlds: Worlds) -> None:
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

    steps, failures = planned(decide, worlds)

    assert failures == (failure,)
    shown = [(type(step.action), step.action.key.name, step.before and step.before["data"]) for step in steps]
    assert shown == [(Create, "new", None), (Update, "old", {"x": "1"}), (Delete, "new", {"x": "1"})]


def test_in_order_what_follows_a_refusal_is_no_step(worlds: Worlds) -> None:
    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        await InOrder(tuple(create(name) for name in ("a", "old", "c")))
        return Plan()

    assert [step.action.key.name for step in planned(decide, worlds).steps] == ["a"]


def test_what_the_final_plan_asks_for_and_is_refused_is_a_failure(worlds: Worlds) -> None:
    steps, failures = planned(lambda _snapshot, _context: Plan((create("old"),)), worlds)

    assert [*steps] == []
    assert [str(failure) for failure in failures] == [
        'ConfigMap default/old: is refused: configmaps "old" already exists'
    ]


def test_a_key_that_asks_for_it_is_looked_at_until_there_is_nothing_to_write(worlds: Worlds) -> None:
    async def decide(_snapshot: Snapshot, context: Context[None]) -> Plan:
        number = context.state or 0
        writes = (create(str(number)),) if number < 3 else ()
        return Plan(writes, requeue_after=3600, state=number + 1)

    steps, failures = planned(decide, worlds)

    assert [step.action.key.name for step in steps] == ["0", "1", "2"]
    assert [*failures] == []


def test_a_key_that_never_comes_to_rest_is_a_failure(worlds: Worlds) -> None:
    def decide(_snapshot: Snapshot, context: Context[None]) -> Plan:
        number = context.state or 0
        return Plan((create(str(number)),), requeue_after=1, state=number + 1)

    steps, failures = planned(decide, worlds)

    assert len(steps) == MOST_TURNS
    assert [failure.problem.text for failure in failures] == [
        "did not come to rest within 10 looks: what follows is not planned"
    ]


def test_a_write_that_changes_nothing_is_rest(worlds: Worlds) -> None:
    def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        same = MergePatch(CONFIG_MAPS, ObjectKey("default", "old"), {"data": {"x": "1"}}, "again")
        return Plan((same,), requeue_after=1)

    steps, failures = planned(decide, worlds)

    assert [step.is_change for step in steps] == [False]
    assert [*failures] == []


def test_what_one_key_has_led_to_is_seen_by_the_next(worlds: Worlds) -> None:
    def decide(snapshot: Snapshot, _context: Context[None]) -> Plan:
        is_there = snapshot.get(CONFIG_MAPS, ObjectKey("default", "new")) is not None
        return Plan(() if is_there else (create("new"),))

    watches = tuple(Watch(resource, dict, enqueue=own_key) for resource in (SECRETS, CONFIG_MAPS))
    with Planner(controller(decide, watches=watches), worlds, NOW) as planner:
        first, second = planner.plan(WISH), planner.plan(ABSENT)

    assert [step.action.key.name for step in first.steps] == ["new"]
    assert [*second.steps] == []


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


class Wire(MemoryTransport):
    """Notes what reaches the cluster."""

    def __init__(self, cluster: InMemoryCluster) -> None:
        super().__init__(cluster)
        self.asked: list[tuple[str, str]] = []

    async def send(self, request: Request, **options: Any) -> Response:
        self.asked.append((request.method, request.path))
        return await super().send(request, **options)


def overlay(
    cluster: InMemoryCluster, *, stored: Callable[[Manifest], Manifest] = lambda sent: sent
) -> tuple[Wire, World]:
    wire = Wire(cluster)
    return wire, World(Overlay(wire, NOW, stored))


def test_nothing_is_written_and_each_object_is_read_once(cluster: InMemoryCluster) -> None:
    wire, world = overlay(cluster)
    before = cluster.resource_version

    for action in (create("a"), create("a"), Delete(CONFIG_MAPS, ObjectKey("default", "a"), "over"), create("a")):
        Surroundings(world).carry_out(action)

    assert wire.asked == [("GET", "/api/v1/namespaces/default/configmaps/a")]
    assert cluster.resource_version == before


def test_of_its_own_objects_a_controller_knows_what_there_is(cluster: InMemoryCluster) -> None:
    wire, world = overlay(cluster)
    owned = Index("owned", CONFIG_MAPS, lambda _manifest: (WISH,))
    watches = tuple(Watch(resource, dict, enqueue=own_key) for resource in (SECRETS, CONFIG_MAPS))
    wanted = Plan((create("new"), Delete(CONFIG_MAPS, ObjectKey("default", "old"), "over")))
    one = controller(lambda _snapshot, _context: wanted, watches=watches, indexes=(owned,), owned=owned)

    with Planner(one, dict.fromkeys(Cluster, world), NOW) as planner:
        steps, _ = planner.plan(WISH)

    assert {path for _, path in wire.asked} == {"/api/v1/secrets", "/api/v1/configmaps"}
    assert [step.before and step.before["kind"] for step in steps] == [None, "ConfigMap"]


def test_what_was_sent_is_imagined_as_a_server_would_hand_it_back(cluster: InMemoryCluster) -> None:
    _, world = overlay(cluster, stored=lambda sent: {**sent, "handed": "back"})

    created = Surroundings(world).carry_out(create("a")).stored

    assert created is not None
    assert created["handed"] == "back"
    assert Surroundings(world).answer(question("a")) == Found((created,))


def test_lists_show_what_was_written(surroundings: Surroundings) -> None:
    mine = ListQuestion(CONFIG_MAPS, Cluster.TARGET, "default", "made-by=wish")
    other = {**config_map("other"), "metadata": {"name": "other", "namespace": "default"}}
    for action in (
        create("new"),
        Create(CONFIG_MAPS, other, "wished-for"),
        Delete(CONFIG_MAPS, key_of(config_map("old")), ""),
    ):
        assert surroundings.carry_out(action).error is None

    answer = surroundings.answer(mine)

    assert isinstance(answer, Found)
    assert [key_of(each).name for each in answer.objects] == ["new"]


def test_who_writes_for_a_version_before_its_own_write_is_refused(surroundings: Surroundings) -> None:
    found = surroundings.answer(question("old"))
    assert isinstance(found, Found)
    stale = found.objects[0]

    outcomes = [
        surroundings.carry_out(Update(CONFIG_MAPS, {**stale, "data": {"x": value}}, "drifted")) for value in ("2", "3")
    ]

    assert [outcome.error and outcome.error.reason for outcome in outcomes] == [None, "Conflict"]


def test_an_object_that_is_held_goes_with_its_last_finalizer(surroundings: Surroundings) -> None:
    held = config_map("held")
    held["metadata"]["finalizers"] = ["hedgerow.dev/hold"]
    free = MergePatch(CONFIG_MAPS, key_of(held), {"metadata": {"finalizers": None}}, "let-go")

    for action in (Create(CONFIG_MAPS, held, ""), Delete(CONFIG_MAPS, key_of(held), ""), free):
        assert surroundings.carry_out(action).error is None

    gone = surroundings.answer(question("held"))
    assert isinstance(gone, NotAnswered)
    assert gone.is_not_found


def test_a_read_for_a_write_that_is_forbidden_ends_the_plan(cluster: InMemoryCluster) -> None:
    denial = {"kind": "Status", "reason": "Forbidden", "message": 'User "me" cannot get resource "configmaps"'}
    cluster.faults.append(Fault(picked(path="/configmaps/new"), Answered(Response(403, denial))))
    _, world = overlay(cluster)

    with pytest.raises(ReadingError, match="missing permission: get configmaps in namespace default"):
        planned(lambda _snapshot, _context: Plan((create("new"),)), dict.fromkeys(Cluster, world))


def test_a_decision_that_never_ends_is_a_defect_here_as_well(worlds: Worlds) -> None:
    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        while True:
            await Pause()

    with pytest.raises(CrashedTurnError, match="about default/wish crashed: EndlessDecisionError: "):
        planned(decide, worlds)


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

    assert not settlement.unrest
    assert [(step.action.key.name, step.error) for step in settlement.steps] == [("made", "")]


def test_who_writes_the_same_on_the_way_again_and_again_does_not_come_to_rest(cluster: InMemoryCluster) -> None:
    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        await MergePatch(CONFIG_MAPS, ObjectKey("default", "old"), {"data": {"x": "1"}}, "again")
        return Plan()

    assert settle(cluster, [controller(decide)]).unrest


def test_in_order_what_was_refused_in_a_round_keeps_back_the_rest_in_the_next(cluster: InMemoryCluster) -> None:
    plan = Plan((create("old"), create("c")), in_order=True)

    settlement = settle(cluster, [controller(lambda _snapshot, _context: plan)])

    assert not settlement.unrest
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
