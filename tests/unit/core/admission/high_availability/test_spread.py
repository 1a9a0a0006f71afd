"""How pods spread over Nodes and zones, row by row of the specification."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.core.admission.high_availability.objects import deployment, hpa, made_of, namespace

SELECTOR = {"matchLabels": {"foo": "bar"}}
ANYWAY, NOT = "ScheduleAnyway", "DoNotSchedule"
OTHER = {"topologyKey": "some-key", "maxSkew": 12}
EXISTING = [
    {"topologyKey": "kubernetes.io/hostname", "maxSkew": 34},
    OTHER,
    {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 56},
]


def host(when: str, selector: Mapping[str, Any] = SELECTOR) -> Mapping[str, Any]:
    return {
        "topologyKey": "kubernetes.io/hostname",
        "maxSkew": 1,
        "whenUnsatisfiable": when,
        "labelSelector": selector,
    }


def zone(skew: int, domains: int) -> Mapping[str, Any]:
    return {
        "topologyKey": "topology.kubernetes.io/zone",
        "maxSkew": skew,
        "minDomains": domains,
        "whenUnsatisfiable": NOT,
        "labelSelector": SELECTOR,
    }


@pytest.mark.parametrize(
    ("failure_tolerance", "zones", "replicas", "maximum", "constraints"),
    [
        pytest.param(None, "a,b,c", 0, None, None, id="T01-0"),
        pytest.param("zone", "a,b,c", 1, 9, None, id="T01-1"),
        pytest.param(None, "", 2, None, [host(ANYWAY)], id="T02-0"),
        pytest.param(None, "a", 2, None, [host(ANYWAY)], id="T02-1"),
        pytest.param("", "a", 2, None, [host(ANYWAY)], id="T03"),
        pytest.param("foo", "a", 2, None, [host(NOT)], id="T04-foo"),
        pytest.param("node", "a", 2, None, [host(NOT)], id="T04-node"),
        pytest.param(None, "a,b", 2, None, [host(ANYWAY), zone(1, 2)], id="T05"),
        pytest.param("", "a,b", 2, None, [host(ANYWAY)], id="T06"),
        pytest.param("foo", "a,b", 2, None, [host(NOT)], id="T07-foo"),
        pytest.param("node", "a,b,c", 2, None, [host(NOT)], id="T07-node"),
        pytest.param("zone", "a,b", 2, None, [host(NOT), zone(1, 2)], id="T08"),
        pytest.param(None, "a,b,c", 2, None, [host(ANYWAY), zone(1, 2)], id="T09"),
        pytest.param(None, "a,b,c", 5, None, [host(ANYWAY), zone(1, 3)], id="T10"),
        pytest.param(None, "a,b,c", 6, None, [host(ANYWAY), zone(2, 3)], id="T11"),
        pytest.param(None, "a,b,c", 7, None, [host(ANYWAY), zone(2, 3)], id="T12"),
        pytest.param(None, "a,b", 2, 4, [host(ANYWAY), zone(2, 2)], id="T13"),
        pytest.param(None, "a,b,c", 2, 5, [host(ANYWAY), zone(1, 3)], id="T14"),
        pytest.param(None, "a,b,c", 5, 2, [host(ANYWAY), zone(1, 3)], id="T15"),
    ],
)
def test_constraints_of_a_workload(
    failure_tolerance: str | None, zones: str, replicas: int, maximum: int | None, constraints: Any
) -> None:
    hpas = [] if maximum is None else [hpa(1, maximum)]
    result = made_of(deployment(replicas), namespace(failure_tolerance, zones), hpas)

    assert result["spec"]["template"]["spec"].get("topologySpreadConstraints") == constraints


def test_the_replicas_that_a_workload_will_have_count() -> None:
    result = made_of(deployment(1, "server"), namespace(zones="a,b,c"), [hpa(1, 6)])  # T16

    assert result["spec"]["template"]["spec"]["topologySpreadConstraints"] == [host(ANYWAY), zone(2, 3)]


@pytest.mark.parametrize(
    ("failure_tolerance", "zones", "replicas", "constraints"),
    [
        pytest.param(None, "a,b,c", 1, EXISTING, id="T01-existing"),
        pytest.param("node", "a", 2, [OTHER, host(NOT)], id="T17"),
        pytest.param(None, "a,b,c", 2, [OTHER, host(ANYWAY), zone(1, 2)], id="T18"),
    ],
)
def test_constraints_over_other_topologies_stay_and_come_first(
    failure_tolerance: str | None, zones: str, replicas: int, constraints: Any
) -> None:
    workload = deployment(replicas, pod={"topologySpreadConstraints": EXISTING})
    result = made_of(workload, namespace(failure_tolerance, zones))

    assert result["spec"]["template"]["spec"]["topologySpreadConstraints"] == constraints


def test_pods_without_labels_are_selected_by_the_empty_selector() -> None:
    result = made_of(deployment(2, labels={}), namespace())  # T19

    assert result["spec"]["template"]["spec"]["topologySpreadConstraints"] == [host(ANYWAY, {})]
