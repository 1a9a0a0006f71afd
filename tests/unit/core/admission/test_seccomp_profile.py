"""The profile of pods that name none."""

from typing import Any

import pytest

from hedgerow.admission import creation
from hedgerow.admission.defaulters import seccomp_profile
from hedgerow.api.kubernetes import PODS
from tests.unit.core.admission.world import changed_object, decided


def changed(spec: Any) -> Any:
    after = changed_object(
        decided(
            seccomp_profile(),
            creation(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}),
        )
    )
    return after and after["spec"]


@pytest.mark.parametrize("security_context", [None, {}, {"seccompProfile": None}, {"seccompProfile": {"type": ""}}])
def test_a_pod_without_a_profile_gets_the_one_of_its_runtime(security_context: Any) -> None:
    assert changed({"securityContext": security_context}) == {
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}
    }


def test_other_fields_of_the_security_context_stay() -> None:
    spec = changed({"securityContext": {"runAsUser": 1}, "hostNetwork": True})

    assert spec["securityContext"] == {"runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}}
    assert spec["hostNetwork"] is True


def test_a_profile_is_kept_even_if_it_is_unconfined() -> None:
    assert changed({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}) is None


def test_profiles_of_containers_do_not_count() -> None:
    container = {"name": "c", "securityContext": {"seccompProfile": {"type": "Unconfined"}}}

    assert changed({"containers": [container]})["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
