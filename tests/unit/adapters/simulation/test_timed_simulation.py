"""Controllers as time passes: when keys are looked at, what wakes them, and what failing costs."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import SINGLETON, Context, Controller, DynamicWatch, Watch
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.plan import Event, JsonPatch, MergePatch, Plan
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.token_requests import token_requestor
from hedgerow_adapters.files.sources import LoadedObject, Source
from hedgerow_adapters.simulation.clusters import Happening
from hedgerow_adapters.simulation.planning import Arrival, Arrived, TimedSimulation
from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.simulation import RestlessError
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SECRETS = Resource("", "v1", "secrets", "Secret")
START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

Decide = Callable[[ObjectKey, Snapshot, Context[None]], Plan]


def config_map(name: str, *, labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
    return (key_of(manifest),)


WATCH = Watch(CONFIG_MAPS, dict, enqueue=own_key)


def controller(decide: Decide, **changes: Any) -> Controller[None]:
    """A controller of ConfigMaps that decides as a test says."""
    declared: dict[str, Any] = {
        "name": "ticking",
        "primary": CONFIG_MAPS,
        "watches": (WATCH,),
        "indexes": (),
        "owned": None,
        "concurrency": 1,
        "config": None,
        "reconcile": decide,
    }
    return Controller(**declared | changes)


def loaded(*manifests: Manifest) -> list[LoadedObject]:
    return [LoadedObject(each, Source("file.yaml", 1)) for each in manifests]


def simulation(
    controllers: Controller[Any] | list[Controller[Any]],
    *manifests: Manifest,
    length: timedelta = HOUR,
    later: Iterable[tuple[timedelta, Manifest]] = (),
    seed: int = 0,
) -> TimedSimulation:
    loop = CalendarLoop(START)
    arrivals = [Arrival(after, "later.yaml", loaded(manifest)) for after, manifest in later]
    coming = [each for arrival in arrivals for each in arrival.objects]
    cluster, problems = seeded_cluster(loaded(*manifests), now=loop.utc_now, later=coming)
    assert problems == ()
    clusters = {Cluster.TARGET: cluster, Cluster.SOURCE: cluster}
    chosen = controllers if isinstance(controllers, list) else [controllers]
    return TimedSimulation(loop, clusters, chosen, length, seed=seed, arrivals=arrivals)


def seconds(passing: TimedSimulation, at: datetime) -> float:
    return (at - passing.began).total_seconds()


class Diary:
    """When a controller looked at which key; what it decides is for a test to say."""

    def __init__(self, plan: Callable[[ObjectKey, Snapshot, Context[None]], Plan]) -> None:
        self.entries: list[tuple[float, str]] = []
        self._plan = plan
        self._began: datetime | None = None

    def __call__(self, key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
        self._began = self._began or context.now
        self.entries.append(((context.now - self._began).total_seconds(), key.name))
        return self._plan(key, snapshot, context)


def written(key: ObjectKey, **data: str) -> MergePatch:
    return MergePatch(CONFIG_MAPS, key, {"data": data}, "because")


def test_a_key_is_looked_at_when_it_asked_for_it_and_no_other_is() -> None:
    waits = {"a": 1500.0, "b": 2500.5}
    diary = Diary(lambda key, _snapshot, _context: Plan(requeue_after=waits.get(key.name)))
    passing = simulation(controller(diary), *(config_map(name) for name in "abc"))

    assert list(passing) == []

    assert diary.entries == [(0, "a"), (0, "b"), (0, "c"), (1500, "a"), (2500.5, "b"), (3000, "a")]
    assert passing.turns == 6
    assert seconds(passing, passing.now) == 3600
    assert passing.due is not None
    assert seconds(passing, passing.due) == 4500


def test_a_change_wakes_whom_it_concerns_and_nobody_else() -> None:
    def decide(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
        live = snapshot.get(CONFIG_MAPS, key)
        if key.name == "a" and context.now.minute == 30 and live is not None and "x" not in live["data"]:
            return Plan((written(ObjectKey("default", "b"), y="1"), written(key, x="1")))
        return Plan(requeue_after=1800 if key.name == "a" and context.now.minute == 0 else None)

    diary = Diary(decide)
    happened = list(simulation(controller(diary), config_map("a", z="1"), config_map("b"), config_map("c")))

    assert diary.entries == [(0, "a"), (0, "b"), (0, "c"), (1800, "a"), (1800, "b"), (1800, "a")]
    (only,) = happened
    assert isinstance(only, Happening)
    assert [(step.action.key.name, step.error) for step in only.steps] == [("b", ""), ("a", "")]


def test_a_key_that_fails_is_tried_again_later_and_later() -> None:
    failure = Failure(CONFIG_MAPS, ObjectKey("default", "a"), Problem("", "not yet"), retryable=True)

    def decide(_key: ObjectKey, _snapshot: Snapshot, context: Context[None]) -> Plan:
        return Plan(failures=(failure,) if context.now.minute < 10 else ())

    passing = simulation(controller(decide), config_map("a"))
    happened = [each for each in passing if isinstance(each, Happening)]

    waits = [each.again_after for each in happened]
    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits == [min(0.005 * 2**at, 1000) for at in range(len(waits))]
    assert sum(wait or 0 for wait in waits) > 600
    assert passing.failing == []
    assert passing.turns == len(waits) + 1


def test_bad_input_is_not_retried_and_counts_as_failing_until_it_is_corrected() -> None:
    failure = Failure(CONFIG_MAPS, ObjectKey("default", "a"), Problem("data", "is bad"))

    def decide(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        live = snapshot.get(CONFIG_MAPS, key)
        return Plan(failures=(failure,) if live and live["data"]["value"] == "bad" else ())

    passing = simulation(
        controller(decide),
        config_map("a", value="bad"),
        config_map("b", value="bad"),
        later=[(HOUR / 2, config_map("a", value="good"))],
    )
    happened = list(passing)

    assert [each.key.name for each in happened if isinstance(each, Happening)] == ["a", "b"]
    assert [seconds(passing, each.at) for each in happened if isinstance(each, Arrived)] == [1800]
    assert [each.key.name for each in passing.failing] == ["b"]
    assert passing.turns == 3


def test_what_the_server_refuses_is_shown_and_tried_again() -> None:
    def decide(key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
        return Plan((JsonPatch(CONFIG_MAPS, key, [{"op": "remove", "path": "/data/x"}], "because"),))

    passing = simulation(controller(decide), config_map("a", x="1"), length=timedelta(seconds=0.02))
    refusals = [each.steps[0].error for each in passing if isinstance(each, Happening)]

    assert refusals[0] == ""
    assert len(refusals) == 4
    assert all(refusals[1:])
    assert len(passing.failing) == 1


def test_who_undoes_its_own_work_for_ever_is_stopped() -> None:
    def decide(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        live = snapshot.get(CONFIG_MAPS, key)
        return Plan((written(key, x=f"{int((live or {})['data']['x']) + 1}"),))

    with pytest.raises(RestlessError, match="ticking did not come to rest about default/a"):
        list(simulation(controller(decide), config_map("a", x="0")))


def test_a_controller_without_keys_has_its_rounds() -> None:
    diary = Diary(lambda _key, _snapshot, _context: Plan(requeue_after=1200))

    passing = simulation(controller(diary, periodic=True))
    assert list(passing) == []

    assert diary.entries == [(at, SINGLETON.name) for at in (0, 1200, 2400, 3600)]


def test_the_next_turn_is_told_what_the_last_one_remembers() -> None:
    told: list[object] = []

    def decide(_key: ObjectKey, _snapshot: Snapshot, context: Context[None]) -> Plan:
        told.append(context.state)
        return Plan(requeue_after=1800, state=len(told))

    list(simulation(controller(decide), config_map("a")))

    assert told == [None, 1, 2]


def test_what_has_no_longer_the_label_is_gone_for_who_selects_by_it() -> None:
    seen: list[tuple[float, bool]] = []

    def decide(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
        seen.append((context.now.minute, snapshot.get(CONFIG_MAPS, key) is not None))
        return Plan()

    red, blue = (config_map("a", labels={"colour": colour}) for colour in ("red", "blue"))
    later = [(timedelta(minutes=10 * at), body) for at, body in enumerate((blue, {**blue, "data": {"x": "1"}}, red), 1)]
    list(simulation(controller(decide, watches=(replace(WATCH, label_selector="colour=red"),)), red, later=later))

    assert seen == [(0, True), (10, False), (30, True)]


def test_kinds_that_come_to_be_named_and_served_are_followed() -> None:
    tills = Resource("example.org", "v1", "tills", "Till")
    names = Index("named kinds", CONFIG_MAPS, lambda each: [Kind("example.org/v1", "Till")] if labels_of(each) else [])
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "tills.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "tills", "singular": "till", "kind": "Till", "listKind": "TillList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }
    till = {"apiVersion": "example.org/v1", "kind": "Till", "metadata": {"name": "a", "namespace": "default"}}
    seen: list[tuple[int, str, bool, int]] = []

    def decide(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
        seen.append((context.now.minute, key.name, snapshot.has_synced(tills), len(snapshot.list(tills))))
        return Plan()

    dynamic = DynamicWatch(names, lambda resource: (Watch(resource, dict, enqueue=own_key),))
    passing = simulation(
        controller(decide, indexes=(names,), dynamic_watches=(dynamic,)),
        config_map("a", labels={"names": "tills"}),
        config_map("b"),
        later=[(timedelta(minutes=10), definition), (timedelta(minutes=20), till)],
    )
    list(passing)

    assert seen == [(0, "a", False, 0), (0, "b", False, 0), (10, "a", True, 0), (20, "a", True, 1)]


def test_what_would_be_recorded_is_told() -> None:
    key = ObjectKey("default", "a")
    event = Event(CONFIG_MAPS, key, None, "Warning", "Late", "it is late")

    (only,) = simulation(controller(lambda *_: Plan(events=(event,))), config_map("a"))

    assert isinstance(only, Happening)
    assert (only.events, only.is_failure) == ((event,), False)


def token_secret(name: str) -> dict[str, Any]:
    prefix = "serviceaccount.resources.gardener.cloud/"
    metadata = {
        "name": name,
        "namespace": "default",
        "labels": {"resources.gardener.cloud/purpose": "token-requestor"},
        "annotations": {f"{prefix}name": "robot", f"{prefix}namespace": "kube-system"},
    }
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


def renewals(seed: int) -> dict[str, list[float]]:
    """After how many seconds the tokens of three Secrets are renewed in three days."""
    passing = simulation(token_requestor(), *map(token_secret, "abc"), length=3 * DAY, seed=seed)
    found: dict[str, list[float]] = {}
    for each in passing:
        assert isinstance(each, Happening)
        assert not each.is_failure
        found.setdefault(each.key.name, []).append(seconds(passing, each.at))
    return found


def test_tokens_are_renewed_at_80_to_84_percent_of_their_life() -> None:
    life = 12 * 3600

    for times in renewals(seed=1).values():
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        # The moment is written down in whole seconds, and never later than was decided.
        assert all(0.80 * life - 1 <= gap <= 0.84 * life for gap in gaps)
        assert times[0] == 0
        assert 3 * DAY.total_seconds() - times[-1] < 0.84 * life
        assert len(set(gaps)) > 1


def test_the_same_seed_has_the_same_course_and_another_one_has_not() -> None:
    assert renewals(seed=1) == renewals(seed=1) != renewals(seed=2)
