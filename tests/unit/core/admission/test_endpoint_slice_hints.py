"""For which zone endpoints are hinted."""

from typing import Any

import pytest

from hedgerow.admission import creation
from hedgerow.admission.defaulters import endpoint_slice_hints
from hedgerow.api.kubernetes import ENDPOINT_SLICES
from tests.unit.core.admission.world import changed_object, decided


def changed(*endpoints: Any) -> Any:
    """The endpoints as they become; none if the slice stays as it is."""
    endpoint_slice = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "endpoints": list(endpoints)}
    after = changed_object(decided(endpoint_slice_hints(), creation(ENDPOINT_SLICES, endpoint_slice)))
    return after and after["endpoints"]


def hints(*zones: str) -> dict[str, Any]:
    return {"forZones": [{"name": zone} for zone in zones]}


@pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param({"addresses": ["10.0.0.1"]}, id="E01 absent"),
        pytest.param({"zone": ""}, id="E01 empty"),
        pytest.param({"zone": "", "hints": hints("a")}, id="E04"),
        pytest.param({"zone": "a", "hints": hints("a")}, id="hinted already"),
    ],
)
def test_an_endpoint_without_a_zone_or_with_the_right_hint_stays_as_it_is(endpoint: Any) -> None:
    assert changed(endpoint) is None


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        pytest.param({"zone": "europe-1c"}, hints("europe-1c"), id="E02"),
        pytest.param({"zone": "c", "hints": hints("a", "b")}, hints("c"), id="E03"),
    ],
)
def test_an_endpoint_is_hinted_for_its_own_zone_alone(endpoint: Any, expected: Any) -> None:
    assert changed({"addresses": ["10.0.0.1"]}, endpoint) == [
        {"addresses": ["10.0.0.1"]},
        {**endpoint, "hints": expected},
    ]
