"""What is said of a ManagedResource, by the objects that it manages."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.machinery.conditions import Condition, ConditionStatus
from hedgerow.machinery.objects import Kind, ObjectKey
from hedgerow.resource_manager.health.verdicts import (
    Absence,
    Observed,
    Verdict,
    evaluate_health,
    evaluate_progress,
    recorded,
)
from tests.unit.core.resource_manager.health.objects import (
    condition,
    deployment,
    existing,
    live,
    load_balancer,
    pod,
    skipped,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HEALTHY = ("ResourcesHealthy", "True", "ResourcesHealthy", "All resources are healthy.")
ROLLED_OUT = (
    "ResourcesProgressing",
    "False",
    "ResourcesRolledOut",
    "All resources have been fully rolled out.",
)
PENDING = 'pod is in invalid phase "Pending" (expected one of ["Running" "Succeeded"])'


def said(verdict: Verdict) -> tuple[str, str, str, str]:
    return verdict.type, verdict.status.value, verdict.reason, verdict.message


def absent(api_version: str, kind: str, absence: Absence = Absence.NOT_FOUND, namespace: str = "ns") -> Observed:
    return Observed(Kind(api_version, kind), ObjectKey(namespace, "non-existing"), absence)


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param([], id="HL-4"),
        pytest.param([existing(pod("Running")), existing(live("v1", "ConfigMap"))], id="HL-8 running"),
        pytest.param([existing(skipped(pod("Pending")))], id="HL-9"),
    ],
)
def test_all_resources_are_healthy_if_none_is_not(observed: list[Observed]) -> None:
    assert said(evaluate_health(observed)) == HEALTHY


@pytest.mark.parametrize(
    ("observed", "reason", "message"),
    [
        pytest.param(
            absent("v1", "ConfigMap"),
            "ConfigMapMissing",
            'Required ConfigMap "non-existing" in namespace "ns" is missing',
            id="HL-5",
        ),
        pytest.param(
            absent("example.com/v1", "Foo", namespace=""),
            "FooMissing",
            'Required Foo "non-existing" in namespace "" is missing',
            id="HL-6",
        ),
        pytest.param(
            absent("non-existing.k8s.io/v1", "ConfigMap", Absence.NOT_SERVED),
            "ConfigMapMissing",
            'Required ConfigMap "non-existing" in namespace "ns" is missing: '
            'no matches for kind "ConfigMap" in version "non-existing.k8s.io/v1"',
            id="HL-7",
        ),
        pytest.param(existing(pod("Pending")), "PodUnhealthy", f'Pod "ns/name" is unhealthy: {PENDING}', id="HL-8"),
        pytest.param(
            existing(live("apiextensions.k8s.io/v1", "CustomResourceDefinition", namespace=None, name="foos.x")),
            "CustomResourceDefinitionUnhealthy",
            'CustomResourceDefinition "/foos.x" is unhealthy: condition "NamesAccepted" is missing',
            id="HL-11",
        ),
        pytest.param(
            existing(live("batch/v1", "Job", status=[])),
            "HealthCheckError",
            'Error executing health check for Job "ns/name": status: expected an object, got a list',
            id="not readable",
        ),
    ],
)
def test_one_resource_is_to_blame(observed: Observed, reason: str, message: str) -> None:
    assert said(evaluate_health([existing(pod("Running")), observed])) == (
        "ResourcesHealthy",
        "False",
        reason,
        message,
    )


def test_only_the_first_is_reported_and_nothing_is_looked_up_behind_it() -> None:  # HL-10
    def lookups() -> Iterator[Observed]:
        yield existing(deployment())
        pytest.fail("nobody needs to know")

    verdict = evaluate_health(lookups())

    assert verdict.message == 'Deployment "ns/name" is unhealthy: condition "Available" is missing'


def warning(number: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"event-{number}", "namespace": "ns"},
        "type": "Warning",
        "involvedObject": {"apiVersion": "v1", "kind": "Service", "namespace": "ns", "name": "name"},
        "source": {"component": "service-controller"},
        "firstTimestamp": f"2026-01-01T11:0{number}:00Z",
        "lastTimestamp": f"2026-01-01T11:0{number}:00Z",
        "message": f"failed {number}",
    }


def test_a_service_is_reported_with_its_last_warnings() -> None:  # HL-13
    verdict = evaluate_health([existing(load_balancer())])

    assert verdict.with_events([warning(number) for number in (3, 1, 7, 2, 6, 5, 4)], NOW).message == (
        'Service "ns/name" is unhealthy: service is missing ingress status\n'
        "\n"
        "-> Events:\n"
        "* service-controller reported 57m ago: failed 3\n"
        "* service-controller reported 56m ago: failed 4\n"
        "* service-controller reported 55m ago: failed 5\n"
        "* service-controller reported 54m ago: failed 6\n"
        "* service-controller reported 53m ago: failed 7"
    )
    assert verdict.with_events([], NOW) == verdict


def test_only_a_service_that_is_to_blame_is_reported_with_warnings() -> None:
    for observed in (existing(pod("Pending")), absent("v1", "Service")):
        verdict = evaluate_health([observed])
        assert verdict.service is None
        assert verdict.with_events([warning(1)], NOW) == verdict


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param(existing(live("v1", "ConfigMap")), id="PR-1"),
        pytest.param(absent("apps/v1", "Deployment"), id="PR-1 missing"),
        pytest.param(absent("apps/v1", "Deployment", Absence.NOT_SERVED), id="PR-1 not served"),
        pytest.param(existing(skipped(live("apps/v1", "StatefulSet", status={}))), id="PR-11"),
    ],
)
def test_what_does_not_roll_out_has_rolled_out(observed: Observed) -> None:
    assert said(evaluate_progress([observed])) == ROLLED_OUT


@pytest.mark.parametrize(
    ("observed", "reason", "message"),
    [
        (
            existing(deployment(condition("Progressing", "False", "ProgressDeadlineExceeded", "m")), 1),
            "DeploymentProgressing",
            'Deployment "ns/name" is progressing: m',
        ),
        (
            existing(deployment(condition("Progressing", "True", "NewReplicaSetAvailable")), 2),
            "DeploymentProgressing",
            'Deployment "ns/name" is progressing: there are still non-terminated old pods',
        ),
        (
            existing(deployment(condition("Progressing", "True", "ReplicaSetUpdated")), 1),
            "DeploymentProgressing",
            'Deployment "ns/name" is progressing: ',
        ),
        (
            existing(live("apps/v1", "StatefulSet", spec={"replicas": 3}, status={"updatedReplicas": 2})),
            "StatefulSetProgressing",
            'StatefulSet "ns/name" is progressing: 2 of 3 replica(s) have been updated',
        ),
    ],
)
def test_the_first_rollout_is_reported(observed: Observed, reason: str, message: str) -> None:
    last = existing(live("apps/v1", "DaemonSet", generation=1))

    assert said(evaluate_progress([observed, last])) == ("ResourcesProgressing", "True", reason, message)


def test_a_verdict_is_recorded_once() -> None:
    applied = Condition("ResourcesApplied", "True", "ApplySucceeded", "All resources are applied.", NOW, NOW)
    verdict = evaluate_health([])

    first = recorded((applied,), verdict, NOW)
    second = recorded(first, verdict, NOW + timedelta(minutes=1))

    assert first == (applied, Condition(*HEALTHY, NOW, NOW))
    assert second == first


def test_a_changed_verdict_takes_the_place_of_the_last() -> None:
    stored = recorded(recorded((), evaluate_health([]), NOW), evaluate_progress([]), NOW)
    later = NOW + timedelta(minutes=1)

    changed = recorded(stored, evaluate_health([absent("v1", "ConfigMap")]), later)

    assert [each.type for each in changed] == ["ResourcesHealthy", "ResourcesProgressing"]
    assert (changed[0].status, changed[0].last_transition_time) == (ConditionStatus.FALSE, later)
    assert changed[1] == stored[1]
