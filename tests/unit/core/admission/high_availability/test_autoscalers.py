"""Which autoscaler decides, and what a cache keeps of it."""

from typing import Any

import pytest

from hedgerow.admission.high_availability import (
    Target,
    hpa_targets,
    hvpa_targets,
    scaled_maximum,
    transform_hpa,
    transform_hvpa,
)
from tests.unit.core.admission.high_availability.objects import NAME, NAMESPACE, hpa, hvpa

CART = Target(NAMESPACE, "apps/v1", "Deployment", NAME)


def test_an_hpa_comes_before_an_hvpa_whatever_their_names() -> None:
    assert scaled_maximum(CART, [hpa(maximum=3, name="z")], [hvpa(maximum=4, name="a")]) == 3


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_among_several_the_first_by_name_decides(names: str) -> None:
    maximum = {"a": 3, "b": 4}

    assert scaled_maximum(CART, [hpa(maximum=maximum[each], name=each) for each in names], []) == 3
    assert scaled_maximum(CART, [], [hvpa(maximum=maximum[each], name=each) for each in names]) == 3


def test_an_autoscaler_without_a_maximum_still_scales() -> None:
    assert scaled_maximum(CART, [hpa()], []) == 0
    assert scaled_maximum(CART, [], [hvpa()]) == 0


@pytest.mark.parametrize("other", [{"apiVersion": "apps/v2"}, {"kind": "StatefulSet"}, {"name": "carts"}])
def test_autoscalers_of_other_targets_do_not_count(other: Any) -> None:
    assert scaled_maximum(CART, [hpa(maximum=3, target=other)], [hvpa(maximum=3, target=other)]) is None


def test_autoscalers_of_other_namespaces_do_not_count() -> None:
    elsewhere = CART._replace(namespace="store")

    assert scaled_maximum(elsewhere, [hpa(maximum=3)], [hvpa(maximum=3)]) is None


def test_a_cache_keeps_what_decides_and_nothing_else() -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME}
    bulky_hpa = {**hpa(1, 3, "server"), "status": {"currentReplicas": 1}}
    bulky_hvpa = {**hvpa(1, 3, "server"), "status": {"replicas": 1}}

    assert transform_hpa(bulky_hpa) == {
        "metadata": {"namespace": NAMESPACE, "name": "cart-hpa"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 3},
    }
    assert transform_hvpa(bulky_hvpa) == {
        "metadata": {"namespace": NAMESPACE, "name": "cart-hvpa"},
        "spec": {"targetRef": target, "hpa": {"deploy": True, "template": {"spec": {"maxReplicas": 3}}}},
    }


@pytest.mark.parametrize("spec", [None, 7, {}, {"scaleTargetRef": "x", "targetRef": [], "hpa": {"deploy": True}}])
def test_what_says_nothing_readable_scales_nothing_and_does_not_fail(spec: Any) -> None:
    odd_hpa, odd_hvpa = {**hpa(), "spec": spec}, {**hvpa(), "spec": spec}

    assert (*hpa_targets(odd_hpa), *hpa_targets(transform_hpa(odd_hpa))) == ()
    assert (*hvpa_targets(odd_hvpa), *hvpa_targets(transform_hvpa(odd_hvpa))) == ()
