"""What wakes the node controller, what it asks for, and what it does when that goes wrong."""

from datetime import timedelta

import pytest

from hedgerow.api.kubernetes import CSI_NODES, DAEMON_SETS, NODES, PODS
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.plan import ApiError, MergePatch, Plan
from hedgerow.machinery.questions import ListQuestion
from hedgerow.resource_manager.nodes import (
    CriticalComponents,
    Done,
    NodeConfig,
    controller,
    decide,
    node_controller,
)
from hedgerow.resource_manager.nodes.controller import transform_node
from hedgerow.resource_manager.nodes.scheduling import NodeView
from tests.unit.core.resource_manager.nodes.surroundings import (
    DS1,
    NODE,
    TAINT,
    cluster,
    csi_node,
    node,
    pod,
    taint,
    taints_of,
    told,
    turn,
)
from tests.unit.core.resource_manager.turns import take_turn

CONTROLLER = node_controller()
PLAIN = node(taint("other"))


@pytest.mark.parametrize(
    ("change", "wakes"),
    [
        pytest.param(Change(None, node()), True, id="created"),
        pytest.param(Change(None, PLAIN), False, id="created without"),
        pytest.param(Change(node(), node(resourceVersion="8")), False, id="N27"),
        pytest.param(Change(PLAIN, node()), False, id="N27 tainted later"),
        pytest.param(Change(node(), node(uid="another")), True, id="created anew"),
        pytest.param(Change(node(), None), False, id="deleted"),
    ],
)
def test_a_node_is_looked_at_when_it_is_created_with_the_taint(change: Change, *, wakes: bool) -> None:
    (watch,) = CONTROLLER.watches
    kept = Change(change.old and watch.transform(change.old), change.new and watch.transform(change.new))

    assert concerned_keys(watch, kept, cluster().snapshot(CONTROLLER)) == ({NODE} if wakes else set())


def test_no_more_is_kept_of_a_node_than_is_read() -> None:
    full = {**node(annotations={"a": "b"}), "status": {"images": ["many"]}}

    assert transform_node(full) == node()


def test_the_patch_is_for_the_version_that_was_seen() -> None:
    (action,) = turn(cluster()).actions

    assert isinstance(action, MergePatch)
    assert (action.resource_version, action.patch) == ("7", {"spec": {"taints": None}})


def test_a_patch_that_comes_too_late_is_a_failure_of_the_turn_and_made_again() -> None:  # N24
    clusters = cluster()
    clusters.refused = {NODE: ApiError(409, "Conflict", "the object has been modified")}

    course = turn(clusters)
    clusters.refused = {}
    turn(clusters)

    assert course.end.actions, "so that the refusal counts"
    assert course.end.requeue_after is None, "so that it is tried again with the usual back-off"
    assert taints_of(clusters) == []


@pytest.mark.parametrize("resource", [DAEMON_SETS, PODS, CSI_NODES], ids=str)
def test_what_cannot_be_listed_or_read_is_a_failure_and_no_event(resource: object) -> None:  # N26
    clusters = cluster(pod("p", csi={"x": "foo"}), csi_nodes=[csi_node("foo")])
    clusters.broken = lambda question: question.resource == resource

    course = turn(clusters)

    (failure,) = course.end.failures
    assert failure.retryable
    assert failure.problem.text == "cannot be read: the server is on fire"
    assert (course.actions, told(course)) == ([], [])


def test_a_list_that_is_not_served_is_not_an_empty_one() -> None:
    clusters = cluster()
    del clusters.target[PODS]

    course = turn(clusters)

    assert course.problems == ["cannot be read: the server could not find the requested resource"]
    assert taints_of(clusters) == [TAINT]


def test_it_looks_again_after_exactly_the_configured_time() -> None:
    course = turn(cluster(DS1), NodeConfig(backoff=timedelta(seconds=3)))

    assert course.end.requeue_after == 3.0


def test_only_the_configured_namespaces_are_asked_for_and_count() -> None:
    clusters = cluster(DS1, pod("p", ready=False))

    course = turn(clusters, NodeConfig(namespaces=("shop", "web")))

    lists = [question for question in course.questions if isinstance(question, ListQuestion)]
    assert {(question.resource.kind, question.namespace) for question in lists} == {
        (kind, namespace) for kind in ("DaemonSet", "Pod") for namespace in ("shop", "web")
    }
    assert taints_of(clusters) == []


def test_events_are_about_the_node_and_come_from_the_name_that_people_know() -> None:
    (event,) = turn(cluster()).end.events

    assert (event.key, event.uid) == (NODE, "node-uid")
    assert CONTROLLER.events_from == "gardener-node-controller"


def test_a_driver_without_a_name_is_waited_for_and_told() -> None:
    clusters = cluster(pod("p", csi={"x": ""}), csi_nodes=[csi_node("foo")])

    course = turn(clusters)

    (failure,) = course.end.failures
    assert str(failure) == (
        "Pod default/p: metadata.annotations[node.gardener.cloud/wait-for-csi-node-...]: "
        "names no CSI driver, so that its node waits for ever"
    )
    assert course.end.requeue_after == 10.0
    assert taints_of(clusters) == [TAINT]


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        pytest.param(
            [{**pod("p"), "status": {"conditions": "Ready"}}],
            "Pod default/p: status.conditions: expected a list, got a string",
            id="pod",
        ),
        pytest.param(
            [{**DS1, "spec": {"template": 1}}],
            "DaemonSet kube-system/critical1: spec.template: expected an object, got an integer",
            id="daemon set",
        ),
        pytest.param(
            [{**DS1, "spec": {"template": {"spec": {"tolerations": [{}, {"key": 5}]}}}}],
            "DaemonSet kube-system/critical1: spec.template.spec.tolerations[1].key: expected a string, got an integer",
            id="toleration",
        ),
    ],
)
def test_an_object_of_another_shape_is_told_and_looked_at_again(objects: list[Manifest], problem: str) -> None:
    clusters = cluster(*objects)

    course = turn(clusters)

    assert [str(each) for each in course.end.failures] == [problem]
    assert course.end.requeue_after == 10.0
    assert taints_of(clusters) == [TAINT]


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize(
    ("other", "left"),
    [
        pytest.param(None, None, id="gone"),
        pytest.param(node(uid="another"), [TAINT], id="created anew"),
        pytest.param(node(taint("other")), ["other"], id="without the taint"),
        pytest.param(node(taint(), taint("new"), resourceVersion="8"), ["new"], id="with one more taint"),
        pytest.param(node(labels={"zone": "a"}, resourceVersion="8"), [], id="with one more label"),
    ],
)
def test_a_node_that_changes_meanwhile_is_decided_about_as_it_is_by_then(
    step: int, other: Manifest | None, left: list[str] | None
) -> None:
    clusters = cluster(pod("p", csi={"a": "driver"}), csi_nodes=[csi_node("driver")])

    def meanwhile(performed: int) -> None:
        if performed == step:
            clusters.target[NODES] = {} if other is None else {NODE: other}

    course = take_turn(clusters, CONTROLLER, NODE, meanwhile=meanwhile)

    assert len(course.steps) == 2
    assert (taints_of(clusters) if clusters.target[NODES] else None) == left


def test_a_node_of_another_shape_is_told_and_looked_at_again() -> None:
    course = turn(cluster(nodes=[node(taint(), {"key": 5})]))  # type: ignore[dict-item]  # the shape is the point

    assert [str(failure) for failure in course.end.failures] == [
        "Node node-1: spec.taints[1].key: expected a string, got an integer"
    ]
    assert course.end.requeue_after == 10.0
    assert course.actions == []


def test_a_node_without_the_taint_is_done() -> None:
    components = CriticalComponents(NodeView.of(PLAIN), (), ())

    assert decide(components) == Done()
    assert controller._plan(components, 10.0) == Plan()
