"""Which values are the same beyond doubt, so that nothing else has to be asked."""

import json
from typing import Any

import pytest

from hedgerow.resource_manager.managed_resources.server_defaults.differences import (
    Difference,
    differences,
    evidently_equal,
)
from hedgerow.resource_manager.managed_resources.server_defaults.rules import StorageRule


@pytest.mark.parametrize("value", ["x", 443, False, ["x", "y"], {"a": {"b": ["x"]}}, [{"name": "x", "port": 443}]])
def test_what_is_equal_and_cannot_be_mistaken_is_evidently_the_same(value: Any) -> None:
    assert evidently_equal(value, json.loads(json.dumps(value)))


@pytest.mark.parametrize(
    ("one", "other"),
    [("x", "y"), (1, True), (1, 1.0), (["x"], ["y"]), (["x"], ["x", "y"]), ({"a": "x"}, {"b": "x"}), ([1], [True])],
)
def test_other_values_are_not(one: Any, other: Any) -> None:
    assert not evidently_equal(one, other)
    assert not evidently_equal(other, one)


@pytest.mark.parametrize("wanted", [{"b": 1}, [1], [{"b": ["x", 0]}], {"b": {"c": {"d": {"e": {"f": 1}}}}}])
def test_a_boolean_is_drift_from_a_number_however_deep_it_stands_in_what_python_holds_for_equal(wanted: Any) -> None:
    text = json.dumps(wanted)
    found = json.loads(text.replace("1", "true").replace("0", "false"))

    assert wanted == found
    assert len(differences({"a": wanted}, {"a": found})) == len(differences({"a": found}, {"a": wanted})) == 1


def test_what_is_empty_is_as_good_as_not_sent_even_where_the_live_object_has_the_same() -> None:
    rule = StorageRule(members={"a": StorageRule({"b": ["x"]}, omitted=frozenset({"b"}))})

    assert differences({"a": {"b": []}}, {"a": {"b": []}}, rule) == (Difference("a.b", ["x"], []),)


def test_an_empty_object_is_as_good_as_not_sent_where_the_live_object_has_the_default() -> None:
    rule = StorageRule({"a": {"b": "x"}}, omitted=frozenset({"a"}))

    assert differences({"a": {}}, {"a": {"b": "x"}}, rule) == ()


@pytest.mark.parametrize(("default", "found"), [(1, True), (0, False), ([1], [True]), ({"b": 0}, {"b": False})])
def test_what_is_equal_to_a_default_and_yet_not_the_same_is_drift(default: Any, found: Any) -> None:
    assert len(differences({}, {"a": found}, StorageRule({"a": default}))) == 1
    assert differences({}, {"a": default}, StorageRule({"a": default})) == ()
