"""The node controller at work in the in-memory cluster: with its caches, its clock and its events."""

import asyncio

from hedgerow.api.kubernetes import CSI_NODES, DAEMON_SETS, EVENTS, NODES, PODS
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.nodes import node_controller
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation.planning import settle
from tests.unit.adapters.runtime.world import World, at_work
from tests.unit.core.resource_manager.nodes.surroundings import CRITICAL, CSI, EVERYTHING, NODE, TAINT, taint
from tests.virtual_clock import virtual_time

CONTAINERS = [{"name": "c", "image": "registry.example.com/c"}]
NEW_NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node-1", "labels": {"kubernetes.io/os": "linux"}},
    "spec": {"taints": [taint("a"), taint(), taint("b")]},
}
DAEMON_SET = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"namespace": "shop", "name": "network", "labels": CRITICAL},
    "spec": {
        "selector": {"matchLabels": {"app": "network"}},
        "template": {
            "metadata": {"labels": {"app": "network", **CRITICAL}},
            "spec": {"tolerations": list(EVERYTHING), "containers": CONTAINERS},
        },
    },
}
CSI_NODE = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSINode",
    "metadata": {"name": "node-1"},
    "spec": {"drivers": [{"name": "disk.example.com", "nodeID": "node-1"}]},
}
POD = ObjectKey("shop", "network-1")
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def daemon_pod(world: World) -> dict[str, object]:
    """The pod of the DaemonSet on the node, not ready yet, which waits for a driver."""
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "network", "controller": True}
    (stored,) = world.objects(DAEMON_SETS)
    metadata = {
        "namespace": POD.namespace,
        "name": POD.name,
        "labels": {"app": "network", **CRITICAL},
        "annotations": {f"{CSI}disk": "disk.example.com"},
        "ownerReferences": [{**owner, "uid": stored["metadata"]["uid"]}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": "node-1", "containers": CONTAINERS},
    }


def taints(world: InMemoryCluster) -> list[str]:
    node = world.get(NODES, NODE)
    assert node is not None
    return [each["key"] for each in node["spec"].get("taints") or ()]


def reasons(world: World) -> list[str]:
    """Why there were events, which are where those of cluster-scoped objects are."""
    assert {event["metadata"]["namespace"] for event in world.objects(EVENTS)} == {"default"}
    return sorted(event["reason"] for event in world.objects(EVENTS))


@virtual_time
async def test_a_node_waits_for_one_thing_after_another_and_then_loses_the_taint() -> None:
    world = World()
    world.create(DAEMON_SETS, DAEMON_SET)
    async with at_work(world, node_controller()):
        world.create(NODES, NEW_NODE)
        await asyncio.sleep(45)
        assert reasons(world) == ["UnscheduledNodeCriticalDaemonSets"], "however often it has looked"

        world.create(PODS, daemon_pod(world))
        await asyncio.sleep(10)
        world.handle(requests.merge_patch(PODS, POD, READY, subresource="status"))
        await asyncio.sleep(10)
        assert taints(world) == ["a", TAINT, "b"]

        world.create(CSI_NODES, CSI_NODE)
        await asyncio.sleep(10)

    assert taints(world) == ["a", "b"]
    assert reasons(world) == [
        "NodeCriticalComponentsReady",
        "UnreadyNodeCriticalPods",
        "UnreadyRequiredCSIDrivers",
        "UnscheduledNodeCriticalDaemonSets",
    ]


@virtual_time
async def test_a_taint_that_a_node_gets_later_stays_and_one_of_a_node_that_is_there_already_goes() -> None:  # N27
    world = World()
    world.create(NODES, NEW_NODE)
    async with at_work(world, node_controller()):
        await asyncio.sleep(1)
        assert taints(world) == ["a", "b"]

        world.patch(NODES, NODE, {"spec": {"taints": [taint()]}})
        await asyncio.sleep(60)

    assert taints(world) == [TAINT]


def test_in_a_simulation_a_node_that_lacks_nothing_loses_the_taint() -> None:
    world = World()
    world.create(NODES, NEW_NODE)

    settled = settle(world, [node_controller()])

    assert not settled.unrest
    assert taints(world) == ["a", "b"]
