"""Which patch turns one value into another."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Success

from hedgerow.machinery.patches import json_patch_between
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from tests.unit.orders import ORDERS

NAMES = st.sampled_from(["a", "b", "a/b", "~", "~1", ""]) | st.text(max_size=3)
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 0.5]) | st.text(max_size=2)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


@given(VALUES, VALUES)
def test_the_patch_applied_to_one_value_gives_the_other(before: Any, after: Any) -> None:
    originals = copy.deepcopy((before, after))

    patch = json_patch_between(before, after)

    assert typed(apply_json_patch(before, patch).unwrap()) == typed(after)
    assert (before, after) == originals


def typed(value: Any) -> Any:
    """A value in which booleans and numbers differ, which Python takes for equal."""
    if isinstance(value, dict):
        return {name: typed(member) for name, member in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return isinstance(value, bool), value


@given(VALUES)
def test_equal_values_need_no_patch(value: Any) -> None:
    assert json_patch_between(value, copy.deepcopy(value)) == []


@given(st.dictionaries(NAMES, SCALARS, max_size=5), st.dictionaries(NAMES, SCALARS, max_size=5), ORDERS)
def test_the_order_of_members_does_not_matter(before: dict[str, Any], after: dict[str, Any], random: Any) -> None:
    shuffled = {name: after[name] for name in random.sample([*after], len(after))}

    assert json_patch_between(before, after) == json_patch_between(before, shuffled)


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        pytest.param(1, 1.0, [], id="numbers by value"),
        pytest.param(1, True, [{"op": "replace", "path": "", "value": True}], id="a boolean is no number"),
        pytest.param([0], [False], [{"op": "replace", "path": "/0", "value": False}], id="neither in a list"),
        pytest.param({"a": None}, {}, [{"op": "remove", "path": "/a"}], id="null is not absent"),
        pytest.param({}, {"a": None}, [{"op": "add", "path": "/a", "value": None}], id="absent is not null"),
        pytest.param({"a": {}}, {"a": []}, [{"op": "replace", "path": "/a", "value": []}], id="other types"),
        pytest.param(
            {"z": 1, "y": 1, "b": 1},
            {"b": 2, "a": 1},
            [
                {"op": "add", "path": "/a", "value": 1},
                {"op": "replace", "path": "/b", "value": 2},
                {"op": "remove", "path": "/y"},
                {"op": "remove", "path": "/z"},
            ],
            id="members sorted, removals last",
        ),
        pytest.param(
            [1, 2, 3],
            [4],
            [
                {"op": "remove", "path": "/2"},
                {"op": "remove", "path": "/1"},
                {"op": "replace", "path": "/0", "value": 4},
            ],
            id="lists cut from their end",
        ),
        pytest.param(
            [1],
            [4, 5, 6],
            [
                {"op": "add", "path": "/1", "value": 5},
                {"op": "add", "path": "/2", "value": 6},
                {"op": "replace", "path": "/0", "value": 4},
            ],
            id="lists extended at their end",
        ),
        pytest.param(
            {"a/b": {"c~d": 1}},
            {"a/b": {"c~d": 2}},
            [{"op": "replace", "path": "/a~1b/c~0d", "value": 2}],
            id="escapes",
        ),
    ],
)
def test_the_patch_is_always_the_same_one(before: Any, after: Any, patch: Any) -> None:
    assert json_patch_between(before, after) == patch
    assert apply_json_patch(before, patch) == Success(after)


def test_what_both_values_share_is_not_looked_into() -> None:
    shared: list[Any] = []
    for _ in range(100_000):
        shared = [shared]  # so deep that nothing could look into all of it

    assert json_patch_between({"a": shared, "b": [shared]}, {"a": shared, "b": [shared, 1]}) == [
        {"op": "add", "path": "/b/1", "value": 1}
    ]
