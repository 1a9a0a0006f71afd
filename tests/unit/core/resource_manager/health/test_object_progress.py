"""Which workloads still roll out, and what they wait for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.objects import Kind
from hedgerow.resource_manager.health import object_progressing
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of, rolls_out, transform_pod
from tests.unit.core.resource_manager.health.objects import CONTENTS, JSON, condition, deployment, live, skipped

COMPLETE = condition("Progressing", "True", "NewReplicaSetAvailable", "complete")


def description_of(manifest: dict[str, Any], pod_count: int | None = None) -> str | None:
    return object_progressing(Kind.of(manifest), manifest, pod_count)


def generations(observed: int, current: int) -> dict[str, Any]:
    manifest = deployment(COMPLETE, spec={"replicas": 1}, generation=current)
    manifest["status"]["observedGeneration"] = observed
    return manifest


@pytest.mark.parametrize(
    ("manifest", "pod_count", "description"),
    [
        pytest.param(generations(42, 42), 1, None, id="PR-2"),
        pytest.param(generations(41, 42), 1, "observed generation outdated (41/42)", id="PR-3"),
        pytest.param(deployment(), 1, 'condition "Progressing" is missing', id="PR-4"),
        pytest.param(deployment(condition("Progressing", "False", "ProgressDeadlineExceeded", "m")), 1, "m", id="PR-5"),
        pytest.param(deployment(condition("Progressing", "True", "ReplicaSetUpdated", "m")), 1, "m", id="PR-6"),
        pytest.param(
            deployment(condition("Progressing", "Unknown", "NewReplicaSetAvailable", "m")), 1, "m", id="unknown"
        ),
        pytest.param(deployment(condition("Progressing", "True", "ReplicaSetUpdated")), 1, "", id="PR-6 in no words"),
        pytest.param(deployment(COMPLETE, spec={}), 2, "there are still non-terminated old pods", id="PR-7"),
        pytest.param(deployment(COMPLETE, spec={}), 0, "there are still non-terminated old pods", id="too few pods"),
        pytest.param(deployment(COMPLETE, spec={"replicas": 0}), 0, None, id="PR-8"),
        pytest.param(deployment(COMPLETE, spec={}), None, None, id="pods not counted"),
    ],
)
def test_a_deployment_rolls_out_until_only_its_new_pods_are_left(
    manifest: dict[str, Any], pod_count: int | None, description: str | None
) -> None:
    assert description_of(manifest, pod_count) == description


@pytest.mark.parametrize(
    ("spec", "updated", "description"),
    [
        ({"replicas": 3}, 2, "2 of 3 replica(s) have been updated"),
        ({"replicas": 3}, 3, None),
        ({}, 0, "0 of 1 replica(s) have been updated"),
        ({}, 1, None),
    ],
)
def test_a_stateful_set_rolls_out_until_every_replica_is_updated(  # PR-9
    spec: Any, updated: int, description: str | None
) -> None:
    assert description_of(live("apps/v1", "StatefulSet", spec=spec, status={"updatedReplicas": updated})) == description


def daemon_set(updated: int) -> dict[str, Any]:
    status = {"desiredNumberScheduled": 3, "updatedNumberScheduled": updated}
    return live("apps/v1", "DaemonSet", status=status)


def test_a_daemon_set_rolls_out_until_every_node_is_updated() -> None:  # PR-10
    assert description_of(daemon_set(2)) == "2 of 3 replica(s) have been updated"
    assert description_of(daemon_set(3)) is None


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_a_status_about_an_older_spec_is_no_end_of_a_rollout(kind: str) -> None:
    assert description_of(live("apps/v1", kind, generation=2)) == "observed generation outdated (0/2)"


@pytest.mark.parametrize(
    "manifest",
    [
        deployment(condition("Progressing", "False", "ProgressDeadlineExceeded", "m")),
        live("apps/v1", "StatefulSet", status={}),
        daemon_set(2),
    ],
)
def test_what_is_exempt_does_not_count(manifest: dict[str, Any]) -> None:  # PR-11
    assert description_of(manifest) is not None
    assert description_of(skipped(manifest)) is None


def test_a_field_of_another_shape_is_no_end_of_a_rollout() -> None:
    manifest = live("apps/v1", "DaemonSet", status={"updatedNumberScheduled": "3"})

    assert description_of(manifest) == "status.updatedNumberScheduled: expected an integer, got a string"


def test_only_workloads_of_apps_roll_out_in_any_version() -> None:
    kinds = [Kind("apps/v1", "Deployment"), Kind("apps/v1beta2", "StatefulSet"), Kind("apps/v1", "DaemonSet")]
    others = [Kind("apps/v1", "ReplicaSet"), Kind("extensions/v1beta1", "Deployment"), Kind("v1", "Pod")]

    assert [*map(rolls_out, (*kinds, *others))] == [True] * 3 + [False] * 3
    assert [*map(counts_pods, kinds)] == [True, False, False]


def test_pods_count_by_match_labels_alone() -> None:
    expression = {"key": "tier", "operator": "Exists"}
    selector = pods_of(deployment(spec={"selector": {"matchLabels": {"app": "a"}, "matchExpressions": [expression]}}))

    assert selector is not None
    assert selector.matches({"app": "a", "x": "y"})
    assert not selector.matches({"app": "b", "tier": "t"})
    assert pods_of(deployment(spec={"selector": {"matchLabels": "app=a"}})) is None


@given(st.sampled_from(["Deployment", "StatefulSet", "DaemonSet"]), CONTENTS, CONTENTS, JSON)
def test_there_is_an_answer_about_whatever_an_object_holds(kind: str, spec: Any, status: Any, entry: Any) -> None:
    for contents in (status, {**status, "conditions": [entry]}, entry):
        manifest = {"metadata": {"name": "x", "generation": 0}, "spec": spec, "status": contents}
        description = object_progressing(Kind("apps/v1", kind), manifest, 1)
        assert description is None or isinstance(description, str)


def test_a_pod_is_kept_with_no_more_than_it_has() -> None:
    assert transform_pod({"spec": {}}) == {"metadata": {}}
    assert transform_pod({"metadata": {"name": "p", "namespace": "ns"}}) == {
        "metadata": {"name": "p", "namespace": "ns"}
    }
