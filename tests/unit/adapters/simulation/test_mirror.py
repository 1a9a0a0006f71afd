"""What a controller sees of in-memory clusters is what it declares to watch."""

from dataclasses import replace
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, Watch
from hedgerow.machinery.objects import ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation import world_of
from hedgerow_adapters.simulation.mirror import Mirror

SECRETS = Resource("", "v1", "secrets", "Secret")
WATCH = Watch(SECRETS, dict, lambda manifest, _snapshot: (key_of(manifest),), namespace="shop")
WATCHING: Controller[Any] = Controller(
    name="watching",
    primary=SECRETS,
    watches=(WATCH,),
    indexes=(),
    owned=None,
    concurrency=1,
    config=None,
    reconcile=lambda _key, _snapshot, _context: Plan(),
)


@pytest.mark.parametrize(
    ("cluster", "seen", "shown"),
    [
        pytest.param(Cluster.TARGET, (), ["shop"], id="where all is in sight"),
        pytest.param(Cluster.TARGET, ("default", "shop"), ["shop"], id="where more is in sight"),
        pytest.param(Cluster.TARGET, ("default",), [], id="out of sight"),
        pytest.param(Cluster.SOURCE, ("default",), ["shop"], id="in another cluster"),
    ],
)
def test_of_a_watch_within_a_namespace_nothing_else_is_seen(
    cluster: Cluster, seen: tuple[str, ...], shown: list[str]
) -> None:
    memory = InMemoryCluster(namespaces=("default", "shop"))
    within = replace(WATCHING, watches=(replace(WATCH, cluster=cluster),), primary_cluster=cluster)
    mirror = Mirror(within, dict.fromkeys(Cluster, memory), lambda _key: None, namespaces=seen)

    for namespace in ("default", "shop"):
        memory.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, namespace))

    keys = [ObjectKey(namespace, "till") for namespace in shown]
    assert [key_of(each) for each in mirror.snapshot.list(SECRETS, cluster=cluster)] == keys
    assert mirror.all_keys() == keys
    in_sight = seen if cluster is Cluster.TARGET else ()
    assert [key_of(each) for each in world_of(memory, within, in_sight)[SECRETS]] == keys
