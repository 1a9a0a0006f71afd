"""Which zones pods are kept to, row by row of the specification."""

from typing import Any

import pytest

from tests.unit.core.admission.high_availability.objects import deployment, made_of, namespace

ZONE = "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HOSTNAME = {"key": "kubernetes.io/hostname", "operator": "Exists"}
FOO = {"key": "foo", "operator": "NotIn", "values": ["bar"]}
SOME_OTHER = {"key": ZONE, "operator": "NotIn", "values": ["some", "other"]}
FIELDS = [{"key": "metadata.name", "operator": "In", "values": ["node"]}]


def within(*zones: str) -> dict[str, Any]:
    return {"key": ZONE, "operator": "In", "values": [*zones]}


ABC = within("a", "b", "c")


def terms(*expressions: list[Any]) -> list[Any]:
    return [{"matchExpressions": each} for each in expressions]


@pytest.mark.parametrize(
    ("around", "zones"),
    [
        pytest.param(namespace(None, "a,b,c"), None, id="A01"),
        pytest.param(namespace("foo", None), None, id="A02-absent"),
        pytest.param(namespace("foo", ""), None, id="A02-empty"),
        pytest.param(namespace("foo", "c,a,b,,a"), "abc", id="A03"),
        pytest.param(namespace("", "c,a,b,,a"), "abc", id="A03-empty"),
        pytest.param(namespace("foo", " c, a,b , "), "abc", id="A03-blanks"),
        pytest.param(namespace(None, "a,b", "True"), "ab", id="A04"),
        pytest.param(namespace(None, "a", "yes"), None, id="A05"),
        pytest.param(namespace(None, "a", "false"), None, id="A05-false"),
    ],
)
def test_a_workload_without_affinity(around: Any, zones: str | None) -> None:
    affinity = made_of(deployment(1), around)["spec"]["template"]["spec"].get("affinity")

    wanted = zones and {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms([within(*zones)])}}}
    assert affinity == wanted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([], terms([ABC]), id="A03-no-terms"),
        pytest.param(terms([HOSTNAME], [SOME_OTHER], [FOO]), terms([HOSTNAME, ABC], [ABC], [FOO, ABC]), id="A06"),
        pytest.param(terms([HOSTNAME, ABC], [ABC]), terms([HOSTNAME, ABC], [ABC]), id="A07"),
        pytest.param([{"matchFields": FIELDS}], [{"matchFields": FIELDS, "matchExpressions": [ABC]}], id="A08"),
        pytest.param(terms([ABC, FOO, within("d")]), terms([FOO, ABC]), id="several-about-zones"),
    ],
)
def test_every_term_asks_for_the_zones(before: Any, after: Any) -> None:
    preferred = {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": terms([SOME_OTHER])[0]}]
    }
    pod = {"affinity": {"podAffinity": {}, "nodeAffinity": {**preferred, REQUIRED: {"nodeSelectorTerms": before}}}}
    result = made_of(deployment(1, pod=pod), namespace("foo", "a,b,c"))

    assert result["spec"]["template"]["spec"] == {
        "affinity": {"podAffinity": {}, "nodeAffinity": {**preferred, REQUIRED: {"nodeSelectorTerms": after}}}
    }
