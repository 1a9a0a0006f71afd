"""The examples of network-and-nodes §5.10, by their ids, but for those about changes and errors."""

from typing import Any

import pytest

from hedgerow.api.kubernetes import NODES
from tests.unit.core.resource_manager.nodes.surroundings import (
    DS1,
    DS2,
    NODE,
    ONLY_THE_TAINT,
    TAINT,
    affinity,
    cluster,
    csi_node,
    daemon_set,
    label_term,
    name_term,
    node,
    pod,
    taint,
    taints_of,
    told,
    turn,
)

READY = ("Normal", "NodeCriticalComponentsReady", "All node-critical components got ready, removing taint")
UNSCHEDULED = "Node-critical DaemonSets found that were not scheduled to Node yet: "
UNREADY = "Unready node-critical Pods found on Node: "
NO_DRIVERS = "Unready required CSI drivers for Node: "
NONE: dict[str, str] = {}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
FOO, BAR = "foo.driver.example.com", "bar.driver.example.com"
FOO_POD = pod("p", csi={"driver": FOO})
UNKNOWN_TERM = label_term("kubernetes.io/os", "Like", "linux")
ONE_LABELLED = daemon_set("critical1", template_labels=NONE)


def affine(*terms: dict[str, Any]) -> dict[str, Any]:
    return daemon_set("critical1", affinity=affinity(*terms))


@pytest.mark.parametrize(
    ("objects", "csi_nodes"),
    [
        pytest.param([], [], id="N1"),
        pytest.param([daemon_set("a", labels=NONE), daemon_set("b", labels={"x": "true"})], [], id="N2"),
        pytest.param([daemon_set("a", labels={"node.gardener.cloud/critical-component": "false"})], [], id="N2 false"),
        pytest.param([DS1, DS2, pod("a", DS1), pod("b", DS2)], [], id="N7"),
        pytest.param([daemon_set("critical1", nodeSelector={"kubernetes.io/os": "windows"})], [], id="N9"),
        pytest.param([daemon_set("critical1", tolerations=())], [], id="N10"),
        pytest.param([daemon_set("critical1", nodeName="node-2")], [], id="N11"),
        pytest.param([ONE_LABELLED], [], id="N12"),
        pytest.param([affine(name_term("In", "node-2"))], [], id="N13 another node"),
        pytest.param([pod("p", ready=True)], [], id="N14 ready"),
        pytest.param([pod("p", ready=False, labels=NONE)], [], id="N15"),
        pytest.param([pod("p", ready=False, on="node-2")], [], id="N15 another node"),
        pytest.param([FOO_POD], [csi_node(FOO)], id="N17"),
        pytest.param([FOO_POD], [csi_node("x", FOO, "y")], id="N19"),
        pytest.param([affine()], [], id="N28 no terms"),
        pytest.param([daemon_set("critical1", affinity={"nodeAffinity": {REQUIRED: {}}})], [], id="N28 no list"),
        pytest.param([affine({})], [], id="N28 an empty term"),
        pytest.param([affine(UNKNOWN_TERM)], [], id="N28 unknown operator"),
        pytest.param([affine(name_term("In", "node-1", "node-2"))], [], id="N28 two values"),
    ],
)
def test_the_taint_goes_from_a_node_that_lacks_nothing(objects: list[Any], csi_nodes: list[Any]) -> None:
    clusters = cluster(*objects, csi_nodes=csi_nodes)

    course = turn(clusters)

    assert taints_of(clusters) == []
    assert told(course) == [READY]
    assert course.end.requeue_after is None


@pytest.mark.parametrize(
    ("objects", "reason", "note"),
    [
        pytest.param(
            [DS1, DS2, pod("p")],
            "UnscheduledNodeCriticalDaemonSets",
            f"{UNSCHEDULED}default/critical2, kube-system/critical1",
            id="N5",
        ),
        pytest.param(
            [DS1, DS2, pod("p", DS1)],
            "UnscheduledNodeCriticalDaemonSets",
            f"{UNSCHEDULED}default/critical2",
            id="N6",
        ),
        pytest.param(
            [DS1, DS2, pod("z", DS1, ready=False), pod("a", DS2, ready=False)],
            "UnreadyNodeCriticalPods",
            f"{UNREADY}default/a, default/z",
            id="N8",
        ),
        pytest.param(
            [affine(name_term("In", "node-1"))],
            "UnscheduledNodeCriticalDaemonSets",
            f"{UNSCHEDULED}kube-system/critical1",
            id="N13",
        ),
        pytest.param([pod("p", ready=None)], "UnreadyNodeCriticalPods", f"{UNREADY}default/p", id="N14"),
        pytest.param([FOO_POD], "UnreadyRequiredCSIDrivers", f"{NO_DRIVERS}[{FOO}]", id="N16"),
        pytest.param(
            [DS1, pod("p", ready=False)],
            "UnscheduledNodeCriticalDaemonSets",
            f"{UNSCHEDULED}kube-system/critical1",
            id="N25",
        ),
        pytest.param(
            [affine(UNKNOWN_TERM, label_term("kubernetes.io/os", "In", "linux"))],
            "UnscheduledNodeCriticalDaemonSets",
            f"{UNSCHEDULED}kube-system/critical1",
            id="N29",
        ),
        pytest.param(
            [DS1, pod("p", DS1, owner_version="extensions/v1beta1")],
            "UnscheduledNodeCriticalDaemonSets",
            f"{UNSCHEDULED}kube-system/critical1",
            id="N34",
        ),
        pytest.param(
            [pod("p", csi={"a": "z", "b": "x.y"})], "UnreadyRequiredCSIDrivers", f"{NO_DRIVERS}[x.y z]", id="N35"
        ),
    ],
)
def test_a_node_waits_for_what_it_lacks(objects: list[Any], reason: str, note: str) -> None:
    clusters = cluster(*objects)

    course = turn(clusters)

    assert taints_of(clusters) == [TAINT]
    assert told(course) == [("Warning", reason, note)]
    assert course.end.requeue_after == 10.0
    assert not course.end.failures


def test_nothing_is_done_about_a_node_without_the_taint() -> None:  # N3
    course = turn(cluster(DS1, nodes=[node(taint("a"))]))

    assert (course.actions, course.questions, told(course)) == ([], [], [])
    assert course.end.requeue_after is None


def test_nothing_is_done_about_a_node_that_is_gone() -> None:  # N4
    course = turn(cluster(DS1, nodes=[]))

    assert (course.actions, course.questions, told(course)) == ([], [], [])


def test_every_driver_that_a_pod_names_is_required_once() -> None:  # N18
    pods = [pod("a", csi={"x": FOO}), pod("b", csi={"y": FOO}), pod("c", csi={"z": BAR})]
    clusters = cluster(*pods, csi_nodes=[csi_node()])  # N20

    assert told(turn(clusters))[0][2] == f"{NO_DRIVERS}[{BAR} {FOO}]"


def test_the_drivers_of_a_node_are_asked_for_only_where_a_pod_names_one() -> None:  # N21
    def asked(*objects: Any) -> set[str]:
        return {question.resource.kind for question in turn(cluster(*objects)).questions}

    assert asked(DS1, pod("p", DS1)) == {"DaemonSet", "Pod"}
    assert asked(FOO_POD) == {"DaemonSet", "Pod", "CSINode"}


def test_other_taints_stay_in_their_order_with_all_that_is_in_them() -> None:  # N22
    a, b = taint("a", "NoExecute", timeAdded="2026-01-01T00:00:00Z"), taint("b", "NoExecute", value="v")
    clusters = cluster(DS1, pod("p", DS1), nodes=[node(a, taint(), b)])

    turn(clusters)

    assert clusters.target[NODES][NODE]["spec"]["taints"] == [a, b]


@pytest.mark.parametrize("taints", [[taint(effect="NoExecute")], [taint(effect="NoExecute"), taint()]], ids=str)
def test_the_taint_goes_whatever_its_effect(taints: list[Any]) -> None:  # N23
    clusters = cluster(nodes=[node(*taints)])

    turn(clusters)

    assert taints_of(clusters) == []


@pytest.mark.parametrize(
    ("term", "waits"),
    [
        pytest.param(label_term("n", "Gt", "4"), True, id="greater"),
        pytest.param(label_term("n", "Gt", "5"), False, id="equal"),
        pytest.param(label_term("n", "Lt", "6"), True, id="lesser"),
        pytest.param(label_term("n", "Gt", "4", "3"), False, id="two values"),
        pytest.param(label_term("n", "Gt", "four"), False, id="no number"),
        pytest.param(label_term("zz", "Gt", "4"), False, id="no label"),
        pytest.param(label_term("n", "Lt", "9223372036854775808"), False, id="beyond 64 bits"),
        pytest.param(label_term("zz", "NotIn", "5"), True, id="not in"),
        pytest.param(label_term("n", "Exists"), True, id="exists"),
        pytest.param(label_term("n", "Exists", "5"), False, id="exists with a value"),
        pytest.param({**label_term("n", "Exists"), **name_term("NotIn", "node-1")}, False, id="all have to hold"),
        pytest.param(name_term("NotIn", "node-2"), True, id="another name"),
        pytest.param(name_term("NotIn", "x", key="metadata.namespace"), False, id="another field"),
    ],
)
def test_a_daemon_set_wants_its_pod_where_a_term_matches(term: dict[str, Any], *, waits: bool) -> None:  # N30
    clusters = cluster(affine(term), nodes=[node(labels={"n": "5"})])

    turn(clusters)

    assert (taints_of(clusters) == [TAINT]) is waits


@pytest.mark.parametrize(
    ("extra", "pod_spec", "waits"),
    [
        pytest.param(taint("p", "PreferNoSchedule"), {}, True, id="N31"),
        pytest.param(taint("node.kubernetes.io/disk-pressure"), {}, True, id="N32"),
        pytest.param(taint("node.kubernetes.io/not-ready"), {}, False, id="N33"),
        pytest.param(taint("node.kubernetes.io/not-ready", "NoExecute"), {}, True, id="always tolerated"),
        pytest.param(taint("node.kubernetes.io/network-unavailable"), {}, False, id="network"),
        pytest.param(taint("node.kubernetes.io/network-unavailable"), {"hostNetwork": True}, True, id="host network"),
    ],
)
def test_a_daemon_set_is_waited_for_only_where_it_tolerates_all_that_keeps_pods_away(
    extra: dict[str, str], pod_spec: dict[str, Any], *, waits: bool
) -> None:
    clusters = cluster(daemon_set("critical1", tolerations=ONLY_THE_TAINT, **pod_spec), nodes=[node(taint(), extra)])

    turn(clusters)

    assert taints_of(clusters) == ([TAINT, extra["key"]] if waits else [extra["key"]])


@pytest.mark.parametrize(
    ("toleration", "waits"),
    [
        pytest.param({"key": TAINT, "value": "v"}, True, id="equal without saying so"),
        pytest.param({"key": TAINT, "operator": "Equal", "value": "v"}, True, id="equal"),
        pytest.param({"key": TAINT, "operator": "Equal", "value": "w"}, False, id="another value"),
        pytest.param({"key": TAINT, "operator": "Exists", "effect": "NoExecute"}, False, id="another effect"),
        pytest.param({"key": "a", "operator": "Exists"}, False, id="another key"),
        pytest.param({"key": TAINT, "operator": "Like", "value": "v"}, False, id="unknown operator"),
    ],
)
def test_a_toleration_is_for_taints_of_its_key_value_and_effect(toleration: dict[str, str], *, waits: bool) -> None:
    clusters = cluster(daemon_set("critical1", tolerations=[toleration]), nodes=[node(taint(value="v"))])

    turn(clusters)

    assert taints_of(clusters) == ([TAINT] if waits else [])


def test_a_pod_that_a_daemon_set_owns_without_controlling_it_does_not_count() -> None:
    owned = pod("p", DS1)
    owned["metadata"]["ownerReferences"][0]["controller"] = False
    clusters = cluster(DS1, owned)

    turn(clusters)

    assert taints_of(clusters) == [TAINT]
