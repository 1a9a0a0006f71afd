"""New nodes are kept from pods until everything critical runs on them, as the real API server sees it."""

import http.client
from collections.abc import Iterator
from typing import Any, Final

import pytest

from hedgerow.resource_manager.nodes import node_controller
from tests.control_plane import ControlPlane
from tests.e2e.declared_roles import allowed
from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.sandbox import Sandbox

NODES: Final = "/api/v1/nodes"
CSI_NODES: Final = "/apis/storage.k8s.io/v1/csinodes"
EVENTS: Final = "/apis/events.k8s.io/v1/namespaces/default/events"
TAINT: Final = "node.gardener.cloud/critical-components-not-ready"
CRITICAL: Final = {"node.gardener.cloud/critical-component": "true"}
DRIVER: Final = "disk.example.com"
CONTAINERS: Final = [{"name": "c", "image": "registry.example.com/c"}]
SWITCHED_ON: Final = {"node": {"enabled": True, "backoff": "200ms"}}


class Nodes:
    """The nodes of one test, and what is critical for them: for those of all tests, so that it goes with them."""

    def __init__(self, control_plane: ControlPlane, prefix: str) -> None:
        self.control_plane = control_plane
        self._prefix = prefix
        self._created: list[str] = []

    def clear(self) -> None:
        for path in reversed(self._created):
            self.control_plane.request("DELETE", path, {"gracePeriodSeconds": 0})

    def create(self, collection: str, manifest: dict[str, Any]) -> dict[str, Any]:
        self._created.append(f"{collection}/{manifest['metadata']['name']}")
        return self.send("POST", collection, manifest)

    def create_node(self, name: str, *taints: str) -> str:
        """The full name of a new node; the server taints it itself besides, as nobody has said that it is ready."""
        full = f"{self._prefix}-{name}"
        spec = {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]}
        self.create(NODES, {"metadata": {"name": full}, "spec": spec})
        return full

    def taints(self, name: str) -> list[str]:
        return [each["key"] for each in self.send("GET", f"{NODES}/{name}")["spec"].get("taints", ())]

    def events(self, name: str) -> dict[str, dict[str, Any]]:
        """The events about a node, by reason; there is but one of each."""
        found = [each for each in self.send("GET", EVENTS)["items"] if each["regarding"]["name"] == name]
        by_reason = {each["reason"]: each for each in found}
        assert len(by_reason) == len(found)
        return by_reason

    def send(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        status, answer = self.control_plane.request(method, path, body)
        assert status in {http.client.OK, http.client.CREATED}, answer
        return answer


@pytest.fixture
def nodes(sandbox: Sandbox) -> Iterator[Nodes]:
    own = Nodes(sandbox.control_plane, sandbox.prefix)
    yield own
    own.clear()


@pytest.fixture
def process(sandbox: Sandbox) -> Iterator[ResourceManager]:
    """A process that looks after nodes, may do what that takes, and is not ready yet."""
    with (
        allowed(sandbox, node_controller()),
        ResourceManager(sandbox.folder, sandbox.configuration(controllers=SWITCHED_ON)) as running,
    ):
        yield running


def daemon_set() -> dict[str, Any]:
    labels = {"app": "network", **CRITICAL}
    pod_spec = {"tolerations": [{"operator": "Exists"}], "containers": CONTAINERS}
    template = {"metadata": {"labels": labels}, "spec": pod_spec}
    spec = {"selector": {"matchLabels": {"app": "network"}}, "template": template}
    return {"metadata": {"name": "network", "labels": CRITICAL}, "spec": spec}


def daemon_pod(uid: str, node: str) -> dict[str, Any]:
    """A pod of the DaemonSet on a node, which asks to wait for a driver."""
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "network", "uid": uid, "controller": True}
    annotations = {"node.gardener.cloud/wait-for-csi-node-disk": DRIVER}
    metadata = {"name": "network-1", "labels": CRITICAL, "annotations": annotations, "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"nodeName": node, "containers": CONTAINERS}}


def test_a_node_loses_its_taint_once_everything_critical_is_there(
    sandbox: Sandbox, process: ResourceManager, nodes: Nodes
) -> None:
    process.wait_ready()
    shop = sandbox.namespace("shop")
    since = sandbox.control_plane.audit_position()
    daemon_sets = f"/apis/apps/v1/namespaces/{shop}/daemonsets"
    uid = nodes.create(daemon_sets, daemon_set())["metadata"]["uid"]

    node = nodes.create_node("new", "first", TAINT, "last")

    def waits_for(reason: str) -> str:
        """What is said of the node as soon as anything is said for that reason."""
        process.wait_for(lambda: reason in nodes.events(node), f"has not said {reason}")
        assert TAINT in nodes.taints(node)
        return str(nodes.events(node)[reason]["note"])

    missing = "Node-critical DaemonSets found that were not scheduled to Node yet: "
    assert waits_for("UnscheduledNodeCriticalDaemonSets") == f"{missing}{shop}/network"
    pods = f"/api/v1/namespaces/{shop}/pods"
    nodes.create(pods, daemon_pod(uid, node))
    unready = "Unready node-critical Pods found on Node: "
    assert waits_for("UnreadyNodeCriticalPods") == f"{unready}{shop}/network-1"
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    nodes.send("PATCH", f"{pods}/network-1/status", status)
    assert waits_for("UnreadyRequiredCSIDrivers") == f"Unready required CSI drivers for Node: [{DRIVER}]"
    drivers = [{"name": DRIVER, "nodeID": node, "topologyKeys": None}]
    nodes.create(CSI_NODES, {"metadata": {"name": node}, "spec": {"drivers": drivers}})

    process.wait_for(lambda: TAINT not in nodes.taints(node), "has not removed the taint")
    assert [key for key in nodes.taints(node) if key in {"first", "last"}] == ["first", "last"]
    process.wait_for(lambda: "NodeCriticalComponentsReady" in nodes.events(node), "has not told of its success")
    events = nodes.events(node)
    assert {each["reportingController"] for each in events.values()} == {"gardener-node-controller"}
    assert {each["regarding"]["uid"] for each in events.values()} == {
        nodes.send("GET", f"{NODES}/{node}")["metadata"]["uid"]
    }
    assert sorted(sandbox.writes(since)) == [*["create events"] * 4, "patch nodes"]
    assert errors_of(process.log_lines()) == []


def test_a_taint_that_was_there_before_the_process_goes_and_one_that_comes_later_stays(
    sandbox: Sandbox, process: ResourceManager, nodes: Nodes
) -> None:
    old = nodes.create_node("old", TAINT)
    process.wait_ready()
    process.wait_for(lambda: TAINT not in nodes.taints(old), "has not looked at what was there")

    nodes.send("PATCH", f"{NODES}/{old}", {"spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]}})
    new = nodes.create_node("new", TAINT)
    process.wait_for(lambda: TAINT not in nodes.taints(new), "has not looked at what is new")

    assert nodes.taints(old) == [TAINT]
    assert errors_of(process.log_lines()) == []
