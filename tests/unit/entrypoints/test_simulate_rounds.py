"""What becomes of actions that get into each other's way."""

from collections.abc import Callable

import pytest

from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, Create, Delete, MergePatch, Plan
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation.planning import settle

SECRETS = Resource("", "v1", "secrets", "Secret")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SHARED = ObjectKey("default", "shared")

Decision = Callable[[ObjectKey, Manifest | None], Action | None]
"""What the owner of a key does about the shared ConfigMap as it is."""


def controller(decide: Decision) -> Controller[None]:
    """A controller of Secrets, all of which have their own idea of one ConfigMap."""

    def reconcile(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        action = decide(key, snapshot.get(CONFIG_MAPS, SHARED))
        return Plan((action,) if action else ())

    def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
        return (key_of(manifest),)

    def every_secret(_manifest: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        return [key_of(secret) for secret in snapshot.list(SECRETS)]

    def owners(_config_map: Manifest) -> tuple[ObjectKey, ...]:
        return ()

    return Controller(
        name="sharing",
        primary=SECRETS,
        watches=(Watch(SECRETS, dict, own_key), Watch(CONFIG_MAPS, dict, every_secret)),
        owned=Index("none", CONFIG_MAPS, owners),
        concurrency=1,
        config=None,
        reconcile=reconcile,
    )


def shared(**data: str) -> Manifest:
    return {"metadata": {"name": "shared", "namespace": "default"}, "data": data}


@pytest.fixture
def cluster() -> InMemoryCluster:
    """A cluster with two Secrets."""
    cluster = InMemoryCluster()
    for name in ("one", "two"):
        cluster.handle(requests.create(SECRETS, {"metadata": {"name": name}}, "default"))
    return cluster


def create_where_it_is_missing(_key: ObjectKey, config_map: Manifest | None) -> Action | None:
    return None if config_map else Create(CONFIG_MAPS, shared(), "missing")


def add_oneself(key: ObjectKey, config_map: Manifest | None) -> Action | None:
    if config_map is None or key.name in config_map.get("data", {}):
        return None
    version = config_map["metadata"]["resourceVersion"]
    return MergePatch(CONFIG_MAPS, SHARED, {"data": {key.name: "here"}}, "not-in-it", version)


def delete_where_it_is_there(_key: ObjectKey, config_map: Manifest | None) -> Action | None:
    return Delete(CONFIG_MAPS, SHARED, "not-wanted") if config_map else None


@pytest.mark.parametrize(
    ("before", "decide", "after", "done"),
    [
        pytest.param(None, create_where_it_is_missing, {}, ["one"], id="created twice"),
        pytest.param({}, add_oneself, {"one": "here", "two": "here"}, ["one", "two"], id="changed twice"),
        pytest.param({}, delete_where_it_is_there, None, ["one"], id="deleted twice"),
    ],
)
def test_what_comes_too_late_is_decided_anew(
    before: dict[str, str] | None,
    decide: Decision,
    after: dict[str, str] | None,
    done: list[str],
    cluster: InMemoryCluster,
) -> None:
    if before is not None:
        cluster.handle(requests.create(CONFIG_MAPS, shared(**before), "default"))

    settlement = settle(cluster, [controller(decide)])

    assert not settlement.unrest
    assert settlement.problems() == []
    assert [step.key.name for step in settlement.steps] == done
    left = cluster.get(CONFIG_MAPS, SHARED)
    assert (left and left.get("data", {})) == after


def test_what_is_refused_though_nobody_was_faster_is_told(cluster: InMemoryCluster) -> None:
    def create_always(_key: ObjectKey, _config_map: Manifest | None) -> Action:
        return Create(CONFIG_MAPS, shared(), "always")

    settlement = settle(cluster, [controller(create_always)])

    assert not settlement.unrest
    assert [(step.key.name, bool(step.error)) for step in settlement.steps] == [
        ("one", False),
        ("one", True),
        ("two", True),
    ]
    assert settlement.problems() == ['ConfigMap default/shared: configmaps "shared" already exists'] * 2
