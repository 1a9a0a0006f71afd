"""Where pods of system components run, and which taints they tolerate."""

from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Mutated, creation
from hedgerow.admission.config import SystemComponentsConfig
from hedgerow.admission.system_components_config import decide, webhook
from hedgerow.api.kubernetes import NODES, PODS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector
from tests.unit.core.admission.world import changed_object, decided, world

SYSTEM = "worker.gardener.cloud/system-components"
CONFIGURED = {"key": "configured", "operator": "Exists"}
CONFIG = SystemComponentsConfig(
    node_selector=LabelSelector(((SYSTEM, "true"),)),
    pod_node_selector={"additional": "selector"},
    pod_tolerations=(CONFIGURED,),
)
TAINT = {"key": "t1", "value": "v1", "effect": "NoExecute"}
TOLERATION = {"key": "t1", "operator": "Equal", "value": "v1", "effect": "NoExecute"}


def node(*taints: Manifest, name: str = "node", labels: Any = None) -> Manifest:
    metadata = {"name": name, "labels": {SYSTEM: "true"} if labels is None else labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": [*taints]}}


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Manifest:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def pod_creation(spec: Manifest | None = None, owner: Manifest | None = None) -> AdmissionRequest:
    metadata = {"ownerReferences": [owner]} if owner else {}
    return creation(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec or {}})


def spec_after(request: AdmissionRequest, *nodes: Manifest, config: SystemComponentsConfig = CONFIG) -> Any:
    """The spec as it becomes; none if the pod stays as it is."""
    after = changed_object(decide(request, nodes, config))
    return after and after["spec"]


def tolerations_after(spec: Manifest, *nodes: Manifest) -> Any:
    return spec_after(pod_creation(spec), *nodes)["tolerations"]


@pytest.mark.parametrize("nodes", [(), (node(),)], ids=["C01", "C02"])
def test_without_taints_a_pod_gets_what_is_configured(nodes: tuple[Manifest, ...]) -> None:
    assert spec_after(pod_creation(), *nodes) == {
        "nodeSelector": {"additional": "selector"},
        "tolerations": [CONFIGURED],
    }


@pytest.mark.parametrize(
    ("taints", "tolerations"),
    [
        pytest.param(
            [
                TAINT,
                taint("t2"),
                taint("node.kubernetes.io/unreachable", "NoExecute"),
                taint("foo.kubernetes.io/bar", "NoExecute"),
                taint("node.cloudprovider.kubernetes.io/uninitialized"),
                taint("ToBeDeletedByClusterAutoscaler", value="1"),
                taint("DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule", "1"),
                taint("node.gardener.cloud/critical-components-not-ready"),
            ],
            [
                CONFIGURED,
                TOLERATION,
                {"key": "t2", "operator": "Exists", "effect": "NoSchedule"},
                {
                    "key": "DeletionCandidateOfClusterAutoscaler",
                    "operator": "Equal",
                    "value": "1",
                    "effect": "PreferNoSchedule",
                },
                {
                    "key": "node.gardener.cloud/critical-components-not-ready",
                    "operator": "Exists",
                    "effect": "NoSchedule",
                },
            ],
            id="C03",
        )
    ],
)
def test_taints_are_tolerated_but_for_those_of_kubernetes(taints: list[Manifest], tolerations: list[Manifest]) -> None:
    assert tolerations_after({}, node(*taints)) == tolerations


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param([node(TAINT), node(TAINT, name="other")], id="C04"),
        pytest.param([node(taint("configured", effect=""), TAINT)], id="C04 configured"),
    ],
)
def test_equal_tolerations_are_one(nodes: list[Manifest]) -> None:
    assert tolerations_after({}, *nodes) == [CONFIGURED, TOLERATION]


@pytest.mark.parametrize("own", [{**TOLERATION, "tolerationSeconds": 10}], ids=["C05"])
def test_of_a_pods_equal_tolerations_the_first_is_kept(own: Manifest) -> None:
    first = {**own, "unknown": 1}

    assert tolerations_after({"tolerations": [first, own]}) == [first, CONFIGURED]


@pytest.mark.parametrize(
    "own", [{**TOLERATION, "tolerationSeconds": 0}, {**TOLERATION, "effect": ""}, {**TOLERATION, "operator": ""}]
)
def test_tolerations_that_are_spelled_differently_are_two(own: Manifest) -> None:
    assert tolerations_after({"tolerations": [own]}, node(TAINT)) == [own, CONFIGURED, TOLERATION]


@pytest.mark.parametrize("own", [{"a": "b", SYSTEM: "false"}], ids=["C06"])
def test_the_configured_node_selector_wins(own: Manifest) -> None:
    spec = spec_after(
        pod_creation({"nodeSelector": own}), config=SystemComponentsConfig(pod_node_selector={SYSTEM: "true"})
    )

    assert spec == {"nodeSelector": {"a": "b", SYSTEM: "true"}}


DAEMON_SET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "controller": True}


@pytest.mark.parametrize("owner", [DAEMON_SET], ids=["C07"])
def test_a_pod_of_a_daemon_set_stays_as_it_is(owner: Manifest) -> None:
    assert spec_after(pod_creation(owner=owner), node(TAINT)) is None


@pytest.mark.parametrize(
    "difference",
    [
        pytest.param({"controller": False}, id="C08"),
        pytest.param({"controller": None}, id="C08 not said"),
        pytest.param({"apiVersion": "apps/v1beta2"}, id="C08 other version"),
        pytest.param({"kind": "ReplicaSet"}, id="C08 ReplicaSet"),
    ],
)
def test_a_pod_of_another_owner_is_handled(difference: Manifest) -> None:
    assert spec_after(pod_creation(owner={**DAEMON_SET, **difference})) is not None


@pytest.mark.parametrize("labels", [{SYSTEM: "false"}, {}], ids=["C09", "C09 without"])
def test_taints_of_other_nodes_do_not_matter(labels: Manifest) -> None:
    assert tolerations_after({}, node(TAINT, labels=labels)) == [CONFIGURED]


def test_every_node_counts_if_no_selector_is_configured() -> None:
    spec = spec_after(pod_creation(), node(TAINT, labels={}), config=SystemComponentsConfig())

    assert spec == {"tolerations": [TOLERATION]}


def test_a_pod_that_needs_nothing_stays_as_it_is() -> None:
    assert spec_after(pod_creation({"containers": []}), config=SystemComponentsConfig()) is None
    assert spec_after(pod_creation({"nodeSelector": {"additional": "selector"}, "tolerations": [CONFIGURED]})) is None


def test_tolerations_come_in_one_order_whatever_the_order_of_nodes() -> None:
    nodes = [node(taint(f"t{number}b"), taint(f"t{number}a"), name=f"node-{number}") for number in (3, 0, 4, 2, 1)]

    keys = [toleration["key"] for toleration in tolerations_after({"tolerations": [{"key": "own"}]}, *nodes)]

    assert keys == ["own", "configured", *(f"t{number}{letter}" for number in range(5) for letter in "ba")]


def test_a_taint_of_several_nodes_stands_where_the_first_of_them_has_it() -> None:
    nodes = [node(taint("a"), taint("b"), name="second"), node(taint("b"), name="first")]

    assert [toleration["key"] for toleration in tolerations_after({}, *nodes)] == ["configured", "b", "a"]


def test_only_selected_nodes_with_a_taint_that_matters_are_looked_at() -> None:
    hook = webhook(CONFIG)
    snapshot = world(
        hook,
        node(name="without"),
        node(taint("node.kubernetes.io/not-ready"), name="ignored"),
        node(TAINT, name="elsewhere", labels={}),
        node(TAINT, taint("t2"), name="tainted"),
    )
    (index,) = hook.indexes

    assert [each["metadata"]["name"] for each in snapshot.by_index(index, "tainted")] == ["tainted"]


def test_the_webhook_finds_the_nodes() -> None:
    decision = decided(webhook(CONFIG), pod_creation(), node(TAINT))

    assert isinstance(decision, Mutated)
    assert [mutation.rule for mutation in decision.mutations] == ["node-selector", "tolerations"]
    assert decision.object["spec"]["tolerations"] == [CONFIGURED, TOLERATION]


def test_no_more_of_a_node_is_kept_than_is_read() -> None:
    hook = webhook(CONFIG)
    stored = {**node(TAINT), "status": {"images": ["many"]}}
    (kept,) = world(hook, stored).list(NODES)

    assert kept == {"metadata": {"name": "node", "labels": {SYSTEM: "true"}}, "spec": {"taints": [TAINT]}}


class ReadNode(dict[str, Any]):
    """A Node that counts how often somebody looks at its taints."""

    times = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.times += key == "spec"
        return super().get(key, default)


class Nodes:
    """A snapshot of tainted Nodes."""

    def __init__(self, *nodes: Manifest) -> None:
        self.nodes = list(nodes)

    def by_index(self, _index: object, _value: object) -> list[Manifest]:
        return [*self.nodes]


def test_nodes_are_read_when_they_change_and_not_for_every_pod() -> None:
    many = ReadNode(node(TAINT))
    snapshot: Any = Nodes(many)
    reviewing = webhook(CONFIG)

    def keys() -> list[str]:
        decision = reviewing.review(pod_creation(), snapshot)
        assert isinstance(decision, Mutated)
        return [each["key"] for each in decision.object["spec"]["tolerations"]]

    assert [keys() for _ in range(3)] == [["configured", "t1"]] * 3
    assert many.times == 1
    snapshot.nodes.append(node(taint("t2"), name="other"))
    assert keys() == ["configured", "t1", "t2"]
    del snapshot.nodes[:]
    assert keys() == ["configured"]
