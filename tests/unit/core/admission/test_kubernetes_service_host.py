"""Under which name containers reach the API server."""

from typing import Any

import pytest

from hedgerow.admission import creation
from hedgerow.admission.defaulters import kubernetes_service_host
from hedgerow.api.kubernetes import PODS
from tests.unit.core.admission.world import changed_object, decided

HOST = "api.example.com"
TOLD = {"name": "KUBERNETES_SERVICE_HOST", "value": HOST}


def changed(spec: Any) -> Any:
    """The spec as it becomes; none if it stays as it is."""
    after = changed_object(
        decided(
            kubernetes_service_host(HOST),
            creation(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": spec}),
        )
    )
    return after and after["spec"]


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        pytest.param(None, [TOLD], id="K01"),
        pytest.param([{"name": "Z", "value": "1"}], [{"name": "Z", "value": "1"}, TOLD], id="K02"),
    ],
)
@pytest.mark.parametrize("field", ["initContainers", "containers"])
def test_a_container_is_told_the_host_after_all_else(field: str, env: Any, expected: Any) -> None:
    assert changed({field: [{"name": "c", "env": env}]}) == {field: [{"name": "c", "env": expected}]}


@pytest.mark.parametrize(
    "variable",
    [
        {"name": "KUBERNETES_SERVICE_HOST", "value": "already-set"},
        {"name": "KUBERNETES_SERVICE_HOST", "value": ""},
        {"name": "KUBERNETES_SERVICE_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
    ],
    ids=["K03", "K03 empty", "K03 from elsewhere"],
)
def test_a_container_that_names_a_host_keeps_it(variable: Any) -> None:
    assert changed({"containers": [{"env": [variable]}]}) is None


def test_containers_are_looked_at_one_by_one() -> None:
    spec = changed({"containers": [{"env": [TOLD]}, {"name": "other"}], "initContainers": [None]})

    assert spec == {
        "containers": [{"env": [TOLD]}, {"name": "other", "env": [TOLD]}],
        "initContainers": [{"env": [TOLD]}],
    }


def test_ephemeral_containers_are_left_alone() -> None:
    assert changed({"ephemeralContainers": [{"name": "debugger"}]}) is None
