"""JSON merge patches: the table of RFC 7386 and what holds for all objects."""

import json
from collections.abc import Iterator
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.patches import apply_merge_patch, merge_patch

NAMES = st.sampled_from("abc")
SCALARS = st.booleans() | st.integers(-1, 2) | st.sampled_from((0.0, 1.0, 0.5)) | st.sampled_from(("", "x", "1"))


def json_values(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
    )


VALUES = json_values(SCALARS)
VALUES_WITH_NULL = json_values(SCALARS | st.none())
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
OBJECTS_WITH_NULL = st.dictionaries(NAMES, VALUES_WITH_NULL, max_size=3)


def as_json(value: Any) -> str:
    """A text that is equal for equal JSON: the order of fields and the spelling of a number do not count."""
    return json.dumps(value, sort_keys=True).replace(".0", "")


def without_one_part(patch: dict[str, Any], before: Any) -> Iterator[dict[str, Any]]:
    """Every patch that asks for one thing less, where a new object is one thing."""
    for name, value in patch.items():
        rest = {other: patch[other] for other in patch if other != name}
        yield rest
        if isinstance(value, dict) and isinstance(before.get(name), dict):
            yield from ({**rest, name: less} for less in without_one_part(value, before[name]))


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_patch_applies_as_the_appendix_of_rfc_7386_shows(target: Any, patch: Any, result: Any) -> None:
    assert apply_merge_patch(target, patch) == result


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        pytest.param({"a": 1}, {"a": 1}, {}, id="equal objects need no patch"),
        pytest.param({"a": 1, "b": 2}, {"b": 2}, {"a": None}, id="a field that goes becomes null"),
        pytest.param({"m": {"x": 1, "y": 2}}, {"m": {"x": 3, "y": 2}}, {"m": {"x": 3}}, id="objects are merged"),
        pytest.param({"m": {"x": 1}}, {"m": {}}, {"m": {"x": None}}, id="an object that empties stays"),
        pytest.param({}, {"m": {}}, {"m": {}}, id="an empty object appears"),
        pytest.param({"l": [1, 2]}, {"l": [1, 3]}, {"l": [1, 3]}, id="lists are replaced whole"),
        pytest.param({"a": 1}, {"a": True}, {"a": True}, id="true is not 1"),
        pytest.param({"a": False}, {"a": 0.0}, {"a": 0.0}, id="false is not 0.0"),
        pytest.param({"l": [{"a": 0}]}, {"l": [{"a": False}]}, {"l": [{"a": False}]}, id="not even deep in a list"),
        pytest.param({"a": 1, "l": [1]}, {"a": 1.0, "l": [1.0]}, {}, id="1.0 is 1"),
        pytest.param({"a": 1, "b": 2}, {"a": None, "b": 2, "c": None}, {"a": None}, id="null in the result is absence"),
        pytest.param({"a": None}, {"a": None}, {}, id="null stays null"),
        pytest.param({"m": {}}, {"m": {"x": None}}, {}, id="an object with nothing but null changes nothing"),
    ],
)
def test_a_patch_says_only_what_changes(before: dict[str, Any], after: dict[str, Any], patch: dict[str, Any]) -> None:
    assert as_json(merge_patch(before, after)) == as_json(patch)


@given(OBJECTS, OBJECTS)
def test_a_patch_turns_the_one_object_into_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert as_json(apply_merge_patch(before, merge_patch(before, after))) == as_json(after)


@given(OBJECTS, OBJECTS)
def test_no_part_of_a_patch_could_be_left_out(before: dict[str, Any], after: dict[str, Any]) -> None:
    for less in without_one_part(merge_patch(before, after), before):
        assert as_json(apply_merge_patch(before, less)) != as_json(after)


@given(OBJECTS_WITH_NULL)
def test_an_object_needs_no_patch_to_become_itself(value: dict[str, Any]) -> None:
    assert merge_patch(value, deepcopy(value)) == {}


@given(OBJECTS_WITH_NULL, OBJECTS_WITH_NULL)
def test_after_its_patch_an_object_is_settled(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert merge_patch(apply_merge_patch(before, merge_patch(before, after)), after) == {}


@given(VALUES_WITH_NULL, VALUES_WITH_NULL)
def test_a_patch_that_applies_twice_changes_nothing_more(target: Any, patch: Any) -> None:
    once = apply_merge_patch(target, patch)

    assert as_json(apply_merge_patch(once, patch)) == as_json(once)


@given(OBJECTS_WITH_NULL, OBJECTS_WITH_NULL)
def test_neither_way_changes_what_it_is_given(one: dict[str, Any], other: dict[str, Any]) -> None:
    originals = deepcopy((one, other))

    apply_merge_patch(one, other)
    merge_patch(one, other)

    assert (one, other) == originals


def test_what_a_patch_does_not_name_is_shared_with_the_target() -> None:
    target = {"spec": {"ports": [1]}, "status": {"ready": True}}

    patched = apply_merge_patch(target, {"status": {"ready": False}})

    assert patched["spec"] is target["spec"]


def test_read_only_objects_are_patched_like_any_other() -> None:
    before = MappingProxyType({"spec": MappingProxyType({"a": 1, "b": MappingProxyType({"c": 1})})})
    after = {"spec": {"b": {"c": 1}}}

    assert merge_patch(before, after) == {"spec": {"a": None}}
    assert apply_merge_patch(before, {"spec": {"a": None}}) == after
