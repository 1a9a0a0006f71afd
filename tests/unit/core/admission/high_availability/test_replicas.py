"""How many replicas workloads have and autoscalers give, row by row of the specification."""

from typing import Any

import pytest

from hedgerow.admission import Denied
from hedgerow.machinery.objects import Manifest
from tests.unit.core.admission.high_availability.objects import (
    DOMAIN,
    decision,
    deployment,
    hpa,
    hvpa,
    made_of,
    namespace,
)

KINDS = ("hpas", "hvpas")
HPA = {"hpas": [hpa(1, 10)]}
HVPA = {"hvpas": [hvpa(1, 10)]}
IDLE_HVPA = {"hvpas": [hvpa(1, 10, deploy=False)]}
FOREIGN_HPA = {"hpas": [hpa(1, 10, target={"apiVersion": None})]}


@pytest.mark.parametrize(
    ("failure_tolerance", "stated", "scaled", "replicas"),
    [
        pytest.param(None, (1, "controller", None), {}, 2, id="R01"),
        pytest.param("", (1, "controller", None), {}, 1, id="R02"),
        pytest.param("foo", (1, "controller", None), {}, 2, id="R03"),
        pytest.param(None, (1, "server", None), {}, 2, id="R04-absent"),
        pytest.param("", (1, "server", None), {}, 2, id="R04-empty"),
        pytest.param("foo", (1, "server", None), {}, 2, id="R04-foo"),
        pytest.param(None, (1, None, "4"), {}, 1, id="R05-absent"),
        pytest.param("", (1, None, "4"), {}, 1, id="R05-empty"),
        pytest.param("zone", (1, "", "4"), {}, 1, id="R05-empty-type"),
        pytest.param("zone", (1, None, "abc"), {}, 1, id="R05-no-number"),
        pytest.param("", (1, "other", None), {}, 2, id="R06"),
        pytest.param(None, (0, "controller", None), {}, 0, id="R07"),
        pytest.param("zone", (0, "server", "4"), HPA, 0, id="R07-stated"),
        pytest.param("zone", (0, "server", "abc"), {}, 0, id="R07-no-number"),
        pytest.param(None, (None, "controller", None), {}, None, id="R08-absent"),
        pytest.param("zone", (None, "controller", "4"), HPA, None, id="R08-zone"),
        pytest.param("", (3, "controller", None), {}, 1, id="R09"),
        pytest.param("", (3, "server", None), {}, 2, id="R10"),
        pytest.param(None, (1, "controller", None), HPA, 2, id="R11"),
        pytest.param(None, (5, "controller", None), HPA, 5, id="R12"),
        pytest.param(None, (1, "controller", None), HVPA, 2, id="R13-1"),
        pytest.param(None, (5, "controller", None), HVPA, 5, id="R13-5"),
        pytest.param(None, (5, "controller", None), IDLE_HVPA, 2, id="R14"),
        pytest.param(None, (1, "controller", "4"), {}, 4, id="R15"),
        pytest.param(None, (2, "controller", "4"), HPA, 4, id="R16-2"),
        pytest.param(None, (5, "controller", "4"), HPA, 5, id="R16-5"),
        pytest.param(None, (1, "controller", ""), {}, 2, id="R17"),
        pytest.param(None, (1, "controller", "+3"), {}, 3, id="R18"),
        pytest.param(None, (1, "controller", "0"), {}, 0, id="R19"),
        pytest.param(None, (1, "controller", "-1"), {}, -1, id="R19-negative"),
        pytest.param(None, (5, "controller", None), FOREIGN_HPA, 2, id="R21"),
    ],
)
def test_replicas_of_a_workload(failure_tolerance: str | None, stated: Any, scaled: Any, replicas: Any) -> None:
    workload = deployment(*stated)

    for each in (workload, {**workload, "kind": "StatefulSet"}):
        hpas, hvpas = ([scaling(autoscaler, each["kind"]) for autoscaler in scaled.get(kind, ())] for kind in KINDS)
        assert made_of(each, namespace(failure_tolerance), hpas, hvpas)["spec"].get("replicas") == replicas


def scaling(autoscaler: Manifest, kind: str) -> Manifest:
    """The autoscaler with another kind of target."""
    field = "targetRef" if "targetRef" in autoscaler["spec"] else "scaleTargetRef"
    return {**autoscaler, "spec": {**autoscaler["spec"], field: {**autoscaler["spec"][field], "kind": kind}}}


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        pytest.param("abc", 'Invalid value: "abc": must be an integer', id="R20"),
        pytest.param(" 3", 'Invalid value: " 3": must be an integer', id="R20-blank"),
        pytest.param("2147483648", 'Invalid value: "2147483648": must be an integer of 32 bits', id="R20-too-large"),
    ],
)
def test_a_number_of_replicas_that_is_none_is_refused(stated: str, problem: str) -> None:
    refusal = Denied(403, f"metadata.annotations[{DOMAIN}/replicas]: {problem}", "Forbidden")

    assert decision(deployment(1, "controller", stated), namespace()) == refusal
    assert decision(hpa(1, 2, "controller", stated), namespace()) == refusal


@pytest.mark.parametrize(
    ("failure_tolerance", "component", "before", "stated", "after"),
    [
        pytest.param(None, None, (1, 2), None, (1, 2), id="H01"),
        pytest.param("zone", None, (1, 2), None, (1, 2), id="H01-zone"),
        pytest.param("zone", "controller", (1, 2), None, (2, 2), id="H02"),
        pytest.param("zone", "controller", (1, 1), None, (2, 2), id="H03"),
        pytest.param("zone", "controller", (1, 2), "12", (12, 12), id="H04"),
        pytest.param("zone", "controller", (12, 16), None, (12, 16), id="H05"),
        pytest.param("", "controller", (1, 1), None, (1, 1), id="H06"),
        pytest.param("zone", "controller", (None, 1), None, (None, 1), id="H07-absent"),
        pytest.param("zone", "controller", (0, 1), None, (0, 1), id="H07-zero"),
        pytest.param("zone", "controller", (5, 3), None, (5, 3), id="H08"),
        pytest.param("zone", "controller", (5, 1), None, (5, 2), id="H08-too-few"),
    ],
)
def test_bounds_of_an_hpa(
    failure_tolerance: str | None, component: str | None, before: Any, stated: str | None, after: Any
) -> None:
    minimum, maximum = before
    spec = made_of(hpa(minimum, maximum, component, stated), namespace(failure_tolerance))["spec"]

    assert (spec.get("minReplicas"), spec.get("maxReplicas")) == after


def test_bounds_of_an_hvpa() -> None:
    spec = made_of(hvpa(1, 1, "controller"), namespace("zone"))["spec"]  # H10

    assert spec["hpa"] == {"deploy": True, "template": {"spec": {"minReplicas": 2, "maxReplicas": 2}}}
