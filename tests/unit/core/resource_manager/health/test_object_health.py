"""Which objects are healthy, and what is told of those that are not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.objects import Kind
from hedgerow.resource_manager.health import Healthy, NotChecked, NotReadable, Unhealthy, object_health
from hedgerow.resource_manager.health.object_health import RULES
from tests.unit.core.resource_manager.health.objects import (
    CONTENTS,
    JSON,
    condition,
    deployment,
    live,
    load_balancer,
    pod,
    skipped,
)

AVAILABLE = condition("Available", "True")


def cause_of(manifest: dict[str, Any]) -> str | None:
    """What is wrong with an object that is checked; none if nothing."""
    health = object_health(Kind.of(manifest), manifest)
    match health:
        case Unhealthy(cause):
            return cause
        case _:
            assert health == Healthy()
            return None


@pytest.mark.parametrize(
    ("conditions", "cause"),
    [
        pytest.param([AVAILABLE], None, id="HC-1"),
        pytest.param([AVAILABLE, condition("Progressing", "True")], None, id="HC-1 progressing"),
        pytest.param([], 'condition "Available" is missing', id="HC-3"),
        pytest.param(
            [condition("Available", "False", "MinimumReplicasUnavailable", "m")],
            'condition "Available" has invalid status False (expected True) due to MinimumReplicasUnavailable: m',
            id="HC-4",
        ),
        pytest.param(
            [AVAILABLE, condition("Progressing", "False", "r", "m")],
            'condition "Progressing" has invalid status False (expected True) due to r: m',
            id="HC-5 progressing",
        ),
        pytest.param(
            [AVAILABLE, condition("ReplicaFailure", "True", "r", "m")],
            'condition "ReplicaFailure" has invalid status True (expected False) due to r: m',
            id="HC-5 replica failure",
        ),
        pytest.param(
            [condition("ReplicaFailure", "True"), condition("Progressing", "Unknown"), condition("Available", "True")],
            'condition "Progressing" has invalid status Unknown (expected True) due to : ',
            id="in the order of the rules",
        ),
    ],
)
def test_a_deployment_is_as_healthy_as_its_conditions_say(conditions: list[Any], cause: str | None) -> None:
    assert cause_of(deployment(*conditions)) == cause


@pytest.mark.parametrize(
    "kind", ["apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "apps/v1 ReplicaSet"]
)
def test_a_status_about_an_older_spec_says_nothing(kind: str) -> None:  # HC-2
    assert cause_of(live(*kind.split(), generation=1)) == "observed generation outdated (0/1)"


def test_a_status_about_a_newer_spec_is_believed() -> None:
    controller = live("v1", "ReplicationController", generation=1, status={"observedGeneration": 2})

    assert cause_of(controller) is None


@pytest.mark.parametrize(
    ("spec", "ready", "cause"),
    [
        ({}, 1, None),
        ({}, 0, "not enough ready replicas (0/1)"),
        ({"replicas": 2}, 1, "not enough ready replicas (1/2)"),
        ({"replicas": 0}, 0, None),
    ],
)
def test_every_replica_of_a_stateful_set_is_ready(spec: Any, ready: int, cause: str | None) -> None:  # HC-6
    assert cause_of(live("apps/v1", "StatefulSet", spec=spec, status={"readyReplicas": ready})) == cause


def daemon_set(strategy: Any, **numbers: int) -> dict[str, Any]:
    names = {
        "desired": "desiredNumberScheduled",
        "current": "currentNumberScheduled",
        "updated": "updatedNumberScheduled",
        "unavailable": "numberUnavailable",
        "misscheduled": "numberMisscheduled",
        "ready": "numberReady",
    }
    status = {names[name]: number for name, number in numbers.items()}
    return live("apps/v1", "DaemonSet", spec={"updateStrategy": strategy}, status=status)


def rolling(max_unavailable: Any) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable}}


@pytest.mark.parametrize(
    ("manifest", "cause"),
    [
        pytest.param(daemon_set(rolling(1), desired=1), "not enough scheduled pods (0/1)", id="HC-7"),
        pytest.param(daemon_set(rolling(1), misscheduled=1), "misscheduled pods found (1)", id="HC-8"),
        pytest.param(
            daemon_set(rolling(1), desired=3, current=3, updated=2, unavailable=2),
            "too many unavailable pods found (2/3, only max. 1 unavailable pods allowed)",
            id="HC-9",
        ),
        pytest.param(daemon_set(rolling(1), desired=3, current=3, updated=1, unavailable=1), None, id="HC-10"),
        pytest.param(
            daemon_set(rolling(1), desired=2, current=2, unavailable=2),
            "too many unavailable pods found (2/2, only max. 1 unavailable pods allowed)",
            id="HC-11",
        ),
        pytest.param(
            daemon_set(rolling(1), desired=3, current=3, updated=3, unavailable=1),
            "too many unavailable pods found (1/3)",
            id="HC-12",
        ),
        pytest.param(
            daemon_set(rolling("10%"), desired=15, current=15, updated=3, unavailable=1), None, id="HC-13 one"
        ),
        pytest.param(
            daemon_set(rolling("10%"), desired=15, current=15, updated=3, unavailable=2),
            "too many unavailable pods found (2/15, only max. 1 unavailable pods allowed)",
            id="HC-13 two",
        ),
        pytest.param(
            daemon_set({"type": "OnDelete"}, desired=3, current=3, updated=2, unavailable=1),
            "too many unavailable pods found (1/3, only max. 0 unavailable pods allowed)",
            id="HC-14",
        ),
        pytest.param(daemon_set(rolling(1), desired=1, current=1, ready=1), None, id="HC-15"),
        pytest.param(
            daemon_set(rolling(1), current=2, misscheduled=1, unavailable=1),
            "misscheduled pods found (1)",
            id="misscheduled before unavailable",
        ),
    ],
)
def test_a_daemon_set_has_available_pods_where_it_wants_them(manifest: dict[str, Any], cause: str | None) -> None:
    assert cause_of(manifest) == cause


@pytest.mark.parametrize(
    ("strategy", "allowed"),
    [
        (rolling(4), 4),
        (rolling("40%"), 4),
        (rolling("4%0%"), 4),
        (rolling("40"), 4),
        (rolling("49%"), 4),
        (rolling("4x%"), 0),
        (rolling(""), 0),
        (rolling(None), 0),
        (rolling([4]), 0),
        ({"type": "RollingUpdate"}, 0),
        ({"type": "OnDelete", "rollingUpdate": {"maxUnavailable": 4}}, 0),
        (None, 0),
    ],
)
def test_a_rollout_may_take_down_so_many_of_ten_pods(strategy: Any, allowed: int) -> None:
    enough = daemon_set(strategy, desired=10, current=10, updated=1, unavailable=allowed)
    too_many = daemon_set(strategy, desired=10, current=10, updated=1, unavailable=allowed + 1)

    assert cause_of(enough) is None
    assert f"only max. {allowed} unavailable pods allowed" in (cause_of(too_many) or "")


@pytest.mark.parametrize("kind", ["apps/v1 ReplicaSet", "v1 ReplicationController"])
@pytest.mark.parametrize(
    ("spec", "ready", "is_healthy"), [({"replicas": 2}, 2, True), ({"replicas": 2}, 1, False), ({}, 0, True)]
)
def test_replica_sets_have_the_replicas_that_are_asked_for(  # HC-16
    kind: str,
    spec: Any,
    ready: int,
    is_healthy: bool,  # noqa: FBT001 -- a column of the table
) -> None:
    manifest = live(*kind.split(), spec=spec, status={"readyReplicas": ready})

    assert cause_of(manifest) == (None if is_healthy else f"{manifest['kind']} does not have minimum availability")


@pytest.mark.parametrize(
    ("conditions", "cause"),
    [
        ([], None),
        ([condition("Failed", "False")], None),
        (
            [condition("Failed", "True", "BackoffLimitExceeded", "m")],
            'condition "Failed" has invalid status True (expected False) due to BackoffLimitExceeded: m',
        ),
    ],
)
def test_a_job_is_healthy_until_it_has_failed(conditions: list[Any], cause: str | None) -> None:  # HC-17
    assert cause_of(live("batch/v1", "Job", status={"conditions": conditions})) == cause


@pytest.mark.parametrize("phase", ["Pending", "Failed", "Unknown", ""])
def test_a_pod_in_another_phase_is_unhealthy(phase: str) -> None:  # HC-18
    assert cause_of(pod(phase)) == f'pod is in invalid phase "{phase}" (expected one of ["Running" "Succeeded"])'


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_pod_that_runs_or_has_succeeded_is_healthy(phase: str) -> None:  # HC-18
    assert cause_of(pod(phase)) is None


def test_a_load_balancer_has_an_address_and_other_services_need_none() -> None:  # HC-19
    assert cause_of(live("v1", "Service", spec={"type": "ExternalName"})) is None
    assert cause_of(load_balancer({"ip": "192.0.2.1"})) is None
    assert cause_of(load_balancer()) == "service is missing ingress status"


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize(
    ("conditions", "cause"),
    [
        ({"NamesAccepted": "True", "Established": "True"}, None),
        ({"NamesAccepted": "True", "Established": "True", "Terminating": "False"}, None),
        (
            {"NamesAccepted": "True", "Established": "True", "Terminating": "True"},
            'condition "Terminating" has invalid status True (expected False) due to r: m',
        ),
        (
            {"Established": "False", "NamesAccepted": "False"},
            'condition "NamesAccepted" has invalid status False (expected True) due to r: m',
        ),
        ({"NamesAccepted": "True"}, 'condition "Established" is missing'),
        ({}, 'condition "NamesAccepted" is missing'),
    ],
)
def test_a_custom_resource_definition_is_served(  # HC-20 HC-21
    version: str, conditions: dict[str, str], cause: str | None
) -> None:
    status = {"conditions": [condition(name, status, "r", "m") for name, status in conditions.items()]}

    assert cause_of(live(f"apiextensions.k8s.io/{version}", "CustomResourceDefinition", status=status)) == cause


@pytest.mark.parametrize(
    "manifest",
    [
        live("v1", "Namespace", status={"phase": "Terminating"}, deletionTimestamp="2026-01-01T00:00:00Z"),
        live("example.com/v1", "Deployment", generation=1),
        live("apps/v1beta2", "Deployment", generation=1),
    ],
)
def test_other_kinds_are_not_checked(manifest: dict[str, Any]) -> None:  # HC-22
    assert object_health(Kind.of(manifest), manifest) == NotChecked()


def test_an_object_may_be_exempt_by_the_exact_word() -> None:  # HC-23
    assert object_health(Kind("v1", "Pod"), skipped(pod("Pending"))) == NotChecked()
    assert cause_of(skipped(pod("Pending"), "1")) is not None
    assert cause_of(skipped(pod("Pending"), "True")) is not None


def test_a_field_of_another_shape_is_told() -> None:
    definition = live("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", status={"conditions": "none"})

    assert object_health(Kind.of(definition), definition) == NotReadable(
        "status.conditions: expected a list, got a string"
    )


@given(st.sampled_from(sorted(RULES)), CONTENTS, CONTENTS, JSON)
def test_there_is_an_answer_about_whatever_an_object_holds(kind: Kind, spec: Any, status: Any, entry: Any) -> None:
    for contents in (status, {**status, "conditions": [entry]}, entry):
        answer = object_health(kind, {"metadata": {"name": "x", "generation": 0}, "spec": spec, "status": contents})
        assert isinstance(answer, Healthy | Unhealthy | NotReadable)
