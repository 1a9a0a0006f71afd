"""How objects are read that nobody has checked, and how they are changed."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hedgerow.machinery.reading import (
    UnreadableError,
    boolean_at,
    each_at,
    fields_at,
    integer_at,
    keeping,
    list_at,
    object_at,
    objects_at,
    pruned,
    text_at,
    texts_at,
    with_each,
    with_value,
    without,
)


@pytest.mark.parametrize("manifest", [{}, {"a": None}, {"a": {}}, {"a": {"b": None}}])
@pytest.mark.parametrize(
    ("read", "nothing"),
    [
        (object_at, {}),
        (texts_at, {}),
        (list_at, ()),
        (objects_at, []),
        (text_at, None),
        (integer_at, None),
        (boolean_at, None),
    ],
)
def test_what_is_absent_or_null_is_nothing(read: Callable[..., Any], nothing: Any, manifest: Any) -> None:
    assert read(manifest, "a", "b") == nothing


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (object_at, {"c": 1}),
        (texts_at, {"c": ""}),
        (list_at, [1, None]),
        (objects_at, [{"c": 1}]),
        (text_at, ""),
        (integer_at, 0),
        (boolean_at, False),
    ],
)
def test_what_has_the_right_shape_is_read(read: Callable[..., Any], value: Any) -> None:
    assert read({"a": {"b": value}}, "a", "b") == value
    assert read({"b": value}, "b") == value


@pytest.mark.parametrize(
    ("read", "value", "message"),
    [
        (object_at, [], "a.b: expected an object, got a list"),
        (object_at, "", "a.b: expected an object, got a string"),
        (texts_at, {"c": 1}, "a.b[c]: expected a string, got an integer"),
        (texts_at, {"c": None}, "a.b[c]: expected a string, got null"),
        (texts_at, 0, "a.b: expected an object, got an integer"),
        (list_at, {}, "a.b: expected a list, got an object"),
        (objects_at, [{}, False], "a.b[1]: expected an object, got a boolean"),
        (text_at, 0, "a.b: expected a string, got an integer"),
        (integer_at, True, "a.b: expected an integer, got a boolean"),
        (integer_at, 1.5, "a.b: expected an integer, got a decimal number"),
        (integer_at, float("inf"), "a.b: expected an integer, got Infinity"),
        (integer_at, "1", "a.b: expected an integer, got a string"),
        (boolean_at, 0, "a.b: expected a boolean, got an integer"),
    ],
)
def test_another_shape_is_told_by_its_path(read: Callable[..., Any], value: Any, message: str) -> None:
    with pytest.raises(UnreadableError) as error:
        read({"a": {"b": value}}, "a", "b")

    assert str(error.value) == message


@pytest.mark.parametrize("read", [object_at, texts_at, list_at, objects_at, text_at, integer_at, boolean_at])
def test_whatever_stands_above_has_to_be_an_object(read: Callable[..., Any]) -> None:
    with pytest.raises(UnreadableError) as error:
        read({"a": {"b": [{}]}}, "a", "b", "c", "d")

    assert str(error.value) == "a.b: expected an object, got a list"


def test_a_number_without_fraction_is_an_integer() -> None:
    assert integer_at({"a": 2.0}, "a") == 2


def test_a_null_item_of_a_list_of_objects_is_an_empty_one() -> None:
    assert objects_at({"a": [None, {"b": 1}]}, "a") == [{}, {"b": 1}]


@pytest.mark.parametrize("manifest", [{}, {"a": None}, {"a": {}}, {"a": {"b": None}}, {"a": {"b": {"c": 0}}}])
def test_a_value_is_put_at_a_path_that_need_not_be_there(manifest: Any) -> None:
    before = copy.deepcopy(manifest)

    assert with_value(manifest, ("a", "b", "c"), 1) == {"a": {"b": {"c": 1}}}
    assert manifest == before


def test_what_stands_beside_a_changed_path_is_shared() -> None:
    beside: dict[str, Any] = {}
    manifest = {"a": {"b": 1, "beside": beside}, "beside": beside}

    for changed in (with_value(manifest, ("a", "b"), 2), without(manifest, ("a", "b"))):
        assert changed["beside"] is beside
        assert changed["a"]["beside"] is beside
    assert manifest == {"a": {"b": 1, "beside": {}}, "beside": {}}


def test_a_member_is_taken_away() -> None:
    manifest = {"a": {"b": 1, "c": 2}}

    assert without(manifest, ("a", "b")) == {"a": {"c": 2}}
    assert without(manifest, ("a",)) == {}


def numbered(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The item with a number, unless its name is none."""
    return with_value(item, ("number",), 1) if text_at(item, "name") else item


def test_each_object_of_a_list_is_changed_or_left() -> None:
    named, nameless = {"name": "x"}, {"kept": True}
    manifest = {"a": {"b": [nameless, named, None]}, "c": 1}

    changed = with_each(manifest, ("a", "b"), numbered)

    assert changed == {"a": {"b": [nameless, {"name": "x", "number": 1}, None]}, "c": 1}
    assert changed["a"]["b"][0] is nameless
    assert manifest == {"a": {"b": [{"kept": True}, {"name": "x"}, None]}, "c": 1}


@pytest.mark.parametrize("manifest", [{}, {"a": None}, {"a": {"b": []}}, {"a": {"b": [{}, None]}}])
def test_the_object_is_the_very_same_if_none_of_the_list_changes(manifest: Any) -> None:
    assert with_each(manifest, ("a", "b"), numbered) is manifest


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{}, {"name": 1}], "a.b[1].name: expected a string, got an integer"),
        ([{}, []], "a.b[1]: expected an object, got a list"),
        ("x", "a.b: expected a list, got a string"),
    ],
)
def test_what_an_object_of_a_list_has_wrong_is_told_by_its_whole_path(items: Any, message: str) -> None:
    with pytest.raises(UnreadableError) as error:
        with_each({"a": {"b": items}}, ("a", "b"), numbered)

    assert str(error.value) == message


def test_what_is_wrong_inside_a_list_is_told_by_its_whole_path() -> None:
    node = {"spec": {"taints": [{"key": "a"}, {"key": 7}]}}

    with pytest.raises(UnreadableError) as caught:
        each_at(lambda taint: text_at(taint, "key"), node, "spec", "taints")

    assert caught.value.problem.path == "spec.taints[1].key"
    assert str(caught.value) == "spec.taints[1].key: expected a string, got an integer"


def test_each_object_of_a_list_is_read_and_a_null_one_is_empty() -> None:
    assert each_at(lambda each: text_at(each, "key"), {"taints": [{"key": "a"}, None]}, "taints") == ("a", None)
    assert each_at(dict, {}, "taints") == ()


def test_fields_at_several_paths_share_their_parents() -> None:
    assert fields_at("a.b", "a.c.d", "e") == {"a": {"b": None, "c": {"d": None}}, "e": None}


def test_of_a_value_the_listed_members_stay_in_lists_too_and_so_does_what_has_another_type() -> None:
    fields = fields_at("a.b", "c")

    assert pruned({"a": [{"b": 1, "x": 2}, 5, {}], "c": {"x": 1}, "x": 3}, fields) == {
        "a": [{"b": 1}, 5, {}],
        "c": {"x": 1},
    }
    assert pruned("a text", fields) == "a text"


def test_a_transform_keeps_fields_labels_and_annotations_that_are_named() -> None:
    transform = keeping("metadata.name", "spec.type", labels=["a", "b"], annotations=["c"])
    service = {
        "kind": "Service",
        "metadata": {"name": "cart", "uid": "u", "labels": {"a": "1", "x": "2"}, "annotations": {"c": "3", "x": "4"}},
        "spec": {"type": "ClusterIP", "ports": []},
    }

    assert transform(service) == {
        "metadata": {"name": "cart", "labels": {"a": "1"}, "annotations": {"c": "3"}},
        "spec": {"type": "ClusterIP"},
    }
    assert service["metadata"]["uid"] == "u"  # type: ignore[index]  # metadata are an object


def test_a_transform_leaves_out_labels_and_annotations_of_which_it_keeps_none() -> None:
    others = {"metadata": {"labels": {"x": "1"}, "annotations": {"x": "2"}}}

    assert keeping(labels=["a"], annotations=["b"])(others) == {"metadata": {}}
    assert keeping(labels=["a"])({}) == {}
    assert keeping("spec")({"metadata": {"labels": {"x": "1"}}, "spec": 5}) == {"metadata": {}, "spec": 5}
