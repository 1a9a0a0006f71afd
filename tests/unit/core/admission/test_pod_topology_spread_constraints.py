"""Which pods a spread constraint counts."""

from typing import Any

import pytest

from hedgerow.admission import creation
from hedgerow.admission.defaulters import pod_topology_spread_constraints
from hedgerow.api.kubernetes import PODS
from tests.unit.core.admission.world import changed_object, decided

HASH = {"pod-template-hash": "123abc"}


def changed(constraints: Any, labels: Any = HASH) -> Any:
    """The constraints as they become; none if the pod stays as it is."""
    spec = {"topologySpreadConstraints": constraints}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": labels}, "spec": spec}
    after = changed_object(decided(pod_topology_spread_constraints(), creation(PODS, pod)))
    return after and after["spec"]["topologySpreadConstraints"]


def expression(operator: str, *values: str) -> dict[str, Any]:
    return {"key": "pod-template-hash", "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param(None, {"matchLabels": HASH}, id="S01"),
        pytest.param({"matchLabels": {"app": "x"}}, {"matchLabels": {"app": "x", **HASH}}, id="S02"),
        pytest.param(
            {"matchExpressions": [expression("Exists")]},
            {"matchExpressions": [expression("Exists")], "matchLabels": HASH},
            id="S05",
        ),
    ],
)
def test_a_constraint_that_names_no_hash_asks_for_the_pods_own(selector: Any, expected: Any) -> None:
    assert changed([{"maxSkew": 1, "labelSelector": selector}]) == [{"maxSkew": 1, "labelSelector": expected}]


@pytest.mark.parametrize(
    "selector",
    [
        pytest.param({"matchLabels": {"pod-template-hash": "other"}}, id="S03"),
        pytest.param({"matchExpressions": [expression("In", "zzz")]}, id="S04"),
    ],
)
def test_a_constraint_that_names_hashes_keeps_them(selector: Any) -> None:
    assert changed([{"labelSelector": selector}]) is None


@pytest.mark.parametrize("keys", [["pod-template-hash"]], ids=["S06"])
def test_label_keys_to_match_do_not_count(keys: list[str]) -> None:
    assert changed([{"matchLabelKeys": keys}]) == [{"matchLabelKeys": keys, "labelSelector": {"matchLabels": HASH}}]


@pytest.mark.parametrize(
    ("labels", "constraints"),
    [
        pytest.param({"app": "x"}, [{"maxSkew": 1}], id="S07 without the label"),
        pytest.param(None, [{"maxSkew": 1}], id="S07 without labels"),
        pytest.param(HASH, [], id="S07 without constraints"),
        pytest.param(HASH, None, id="S07 with none at all"),
    ],
)
def test_a_pod_without_a_hash_or_constraints_stays_as_it_is(labels: Any, constraints: Any) -> None:
    assert changed(constraints, labels) is None


def test_an_empty_hash_is_one() -> None:
    assert changed([{}], {"pod-template-hash": ""}) == [{"labelSelector": {"matchLabels": {"pod-template-hash": ""}}}]
