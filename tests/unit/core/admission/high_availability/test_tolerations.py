"""Which tolerations pods get, row by row of the specification."""

from typing import Any

import pytest

from hedgerow.admission.config import HighAvailabilityConfig
from tests.unit.core.admission.high_availability.objects import UNSET, deployment, made_of, namespace

KEYS = {"not-ready": "node.kubernetes.io/not-ready", "unreachable": "node.kubernetes.io/unreachable"}
BOTH = HighAvailabilityConfig(not_ready_seconds=60, unreachable_seconds=61)


def eviction(taint: str, seconds: int, effect: str = "NoExecute") -> dict[str, Any]:
    return {"key": KEYS[taint], "operator": "Exists", "effect": effect, "tolerationSeconds": seconds}


NOT_READY, UNREACHABLE = eviction("not-ready", 60), eviction("unreachable", 61)


@pytest.mark.parametrize(
    ("existing", "config", "appended"),
    [
        pytest.param([], BOTH, [NOT_READY, UNREACHABLE], id="L01"),
        pytest.param([eviction("not-ready", 300)], BOTH, [UNREACHABLE], id="L02"),
        pytest.param([eviction("unreachable", 300)], BOTH, [NOT_READY], id="L03"),
        pytest.param([{"key": KEYS["not-ready"], "effect": ""}], BOTH, [UNREACHABLE], id="L04"),
        pytest.param([{"key": KEYS["not-ready"]}], BOTH, [UNREACHABLE], id="L04-absent"),
        pytest.param(
            [
                {"key": "foo", "effect": "NoExecute"},
                {"key": KEYS["not-ready"], "effect": "NoSchedule"},
                {"key": KEYS["unreachable"], "effect": "NoSchedule"},
            ],
            BOTH,
            [NOT_READY, UNREACHABLE],
            id="L05",
        ),
        pytest.param([{"operator": "Exists"}], BOTH, [NOT_READY, UNREACHABLE], id="L06"),
        pytest.param([], UNSET, [], id="L07"),
        pytest.param([], HighAvailabilityConfig(not_ready_seconds=0), [eviction("not-ready", 0)], id="zero-is-a-value"),
    ],
)
def test_what_is_missing_is_appended(existing: Any, config: HighAvailabilityConfig, appended: Any) -> None:
    result = made_of(deployment(1, pod={"tolerations": existing}), namespace(), config=config)

    assert result["spec"]["template"]["spec"]["tolerations"] == [*existing, *appended]
