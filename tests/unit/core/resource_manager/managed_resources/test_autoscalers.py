"""What autoscalers size, and what of it is left alone."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.api.references import identity
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered
from hedgerow.machinery.steps import AtOnce, Execution, Step
from hedgerow.resource_manager.managed_resources.autoscalers import (
    NOT_SCALED,
    ScaledObjects,
    Scaling,
    all_scaled_objects,
    scaled_objects,
)
from hedgerow.resource_manager.managed_resources.equivalences import equivalences
from hedgerow_adapters.cache import StoreSnapshot

AUTOSCALERS: Final = (HORIZONTAL_POD_AUTOSCALERS, HVPAS)
UNSERVED: Final = NotAnswered(404, "NoMatch", "no such resource")


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


def scaled_by(answers: Mapping[Resource, Answer]) -> ScaledObjects | tuple[str, bool]:
    """What is scaled where autoscalers are not watched, by the answers about them."""
    with Execution(all_scaled_objects(StoreSnapshot({}))) as execution:
        step = execution.begin()
        assert step == AtOnce(tuple(ListQuestion(each, Cluster.TARGET) for each in AUTOSCALERS))
        found = execution.go_on(tuple(answers.get(each, UNSERVED) for each in AUTOSCALERS))
        assert not isinstance(found, Step)
        return found


def test_autoscalers_that_are_not_watched_are_listed_and_may_not_be_served() -> None:
    deployment = identity("apps", "Deployment", "ns", "a")

    found = scaled_by({HORIZONTAL_POD_AUTOSCALERS: Found((hpa(),))})

    assert isinstance(found, ScaledObjects)
    assert found.scaling_of(deployment, equivalences()) == Scaling(replicas=True)
    assert isinstance(scaled_by({}), ScaledObjects)


@pytest.mark.parametrize(("code", "reason", "is_unreachable"), [(500, "", True), (403, "Forbidden", False)])
def test_a_list_of_autoscalers_that_fails_is_told(code: int, reason: str, *, is_unreachable: bool) -> None:
    refused = NotAnswered(code, reason, "not today")

    assert scaled_by({HVPAS: refused}) == ("failed to list all HVPAs: not today", is_unreachable)
    assert scaled_by({HORIZONTAL_POD_AUTOSCALERS: refused}) == ("failed to list all HPAs: not today", is_unreachable)


def test_autoscalers_that_cannot_be_understood_are_told() -> None:
    problem, is_unreachable = scaled_by({HORIZONTAL_POD_AUTOSCALERS: Found((hpa("a/b/c"),))})  # type: ignore[misc]  # it fails

    assert problem.endswith("unexpected GroupVersion string: a/b/c")
    assert not is_unreachable
