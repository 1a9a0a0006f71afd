"""What autoscalers size, and what of it is left alone."""

from typing import Any

import pytest

from hedgerow.api.references import identity
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.autoscalers import NOT_SCALED, Scaling, scaled_objects
from hedgerow.resource_manager.managed_resources.equivalences import equivalences


def hpa(api_version: str = "apps/v1", namespace: str = "ns") -> Manifest:
    target = {"apiVersion": api_version, "kind": "Deployment", "name": "a"}
    return {"metadata": {"namespace": namespace, "name": "scaler"}, "spec": {"scaleTargetRef": target}}


def hvpa(*, hpa: bool, vpa: bool) -> Manifest:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    spec = {"targetRef": target, "hpa": {"deploy": hpa}, "vpa": {"deploy": vpa}}
    return {"metadata": {"namespace": "ns", "name": "scaler"}, "spec": spec}


def scaling(hpas: list[Manifest], hvpas: list[Manifest]) -> Scaling:
    deployment = identity("apps", "Deployment", "ns", "a")
    return scaled_objects(hpas, hvpas).unwrap().scaling_of(deployment, equivalences())


@pytest.mark.parametrize(
    "api_version",
    [pytest.param("apps/v1", id="AS-1"), "apps/v1beta2", pytest.param("extensions/v1beta1", id="AS-2")],
)
def test_the_target_of_an_hpa_keeps_its_replicas_under_any_name_of_its_kind(api_version: str) -> None:
    assert scaling([hpa(api_version)], []) == Scaling(replicas=True)


def test_an_hpa_scales_in_its_own_namespace_alone() -> None:  # AS-3
    assert scaling([hpa(namespace="other")], []) == NOT_SCALED


@pytest.mark.parametrize(
    ("horizontally", "vertically"),
    [
        pytest.param(True, False, id="AS-4"),
        pytest.param(False, True, id="AS-5"),
        pytest.param(False, False, id="AS-6"),
        pytest.param(True, True, id="both"),
    ],
)
def test_an_hvpa_sizes_what_it_deploys_an_autoscaler_for(*, horizontally: bool, vertically: bool) -> None:
    assert scaling([], [hvpa(hpa=horizontally, vpa=vertically)]) == (horizontally, vertically)


def test_an_hvpa_without_target_sizes_nothing() -> None:
    aimless = {"metadata": {"namespace": "ns", "name": "v"}, "spec": {"hpa": {"deploy": True}}}

    assert scaling([], [aimless]) == NOT_SCALED


def test_a_target_of_no_group_and_version_is_a_failure() -> None:  # AS-7
    assert scaled_objects([hpa("a/b/c")], []).failure() == (
        "failed to compute all HPA and HVPA target ref object keys: invalid API version in scaleTargetReference of "
        "HorizontalPodAutoscaler 'ns/scaler': unexpected GroupVersion string: a/b/c"
    )


@pytest.mark.parametrize("autoscaler", ["hpa", "vpa"])
def test_the_failure_of_an_hvpa_names_its_kind(autoscaler: str) -> None:
    target = {"apiVersion": "a/b/c", "kind": "D", "name": "d"}
    broken = {
        "metadata": {"namespace": "ns", "name": "v"},
        "spec": {autoscaler: {"deploy": True}, "targetRef": target},
    }

    assert scaled_objects([], [broken]).failure() == (
        "failed to compute all HPA and HVPA target ref object keys: invalid API version in scaleTargetReference of "
        "Hvpa 'ns/v': unexpected GroupVersion string: a/b/c"
    )


@pytest.mark.parametrize("spec", ["text", {"scaleTargetRef": []}, {"scaleTargetRef": {"name": 1}}])
def test_an_autoscaler_of_another_shape_is_a_failure_that_names_the_field(spec: Any) -> None:
    broken = {"metadata": {"namespace": "ns", "name": "v"}, "spec": spec}

    assert (
        scaled_objects([broken], [])
        .failure()
        .startswith("failed to compute all HPA and HVPA target ref object keys: spec")
    )
