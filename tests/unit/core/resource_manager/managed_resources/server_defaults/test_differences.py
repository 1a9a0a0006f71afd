"""Where a live object differs from what is to be written, and where only the API server made it differ."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.merging import merge
from hedgerow.resource_manager.managed_resources.server_defaults.differences import (
    Difference,
    differences,
    left_by_the_server,
)
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, COMPACT, StorageRule
from tests.unit.core.resource_manager.managed_resources.landscape import (
    DEPLOYMENT,
    INSTRUCTIONS,
    everywhere,
    stored_deployment,
)

OMITTED = {"value", "emptyDir"}
"""Members of the manifest that mean nothing where they stand: the server itself leaves these out or fills them in."""


def drift_of(live: Manifest) -> tuple[Difference, ...]:
    return left_by_the_server(merge(DEPLOYMENT, live, INSTRUCTIONS).unwrap(), live)


def another(value: Any) -> Iterator[Any]:
    """Another text, number or boolean."""
    if not isinstance(value, (dict, list)):
        yield (not value) if isinstance(value, bool) else f"{value}0" if isinstance(value, str) else value + 1


def one_more(value: Any) -> Iterator[Any]:
    """A further member or item."""
    if isinstance(value, dict):
        yield {**value, "added": {"by": "somebody"}}
    if isinstance(value, list):
        yield [*value, {"name": "added"}]


def one_less(value: Any) -> Iterator[Any]:
    """A member that the manifest has, or an item, is gone."""
    if isinstance(value, dict):
        yield from ({name: value[name] for name in value if name != gone} for gone in value if gone not in OMITTED)
    if isinstance(value, list):
        yield value[:-1]


def test_what_the_server_filled_in_is_no_drift() -> None:
    assert drift_of(stored_deployment()) == ()


@pytest.mark.parametrize("change", [another, one_more])
def test_every_change_is_drift_wherever_it_is_made(change: Callable[[Any], Iterator[Any]]) -> None:
    live = stored_deployment()
    changes = list(everywhere(live["spec"], change))

    assert [where for where, spec in changes if not drift_of({**live, "spec": spec})] == []
    assert len(changes) > 40


def test_everything_that_the_manifest_has_is_missed_wherever_it_is_gone() -> None:
    written = merge(DEPLOYMENT, None, INSTRUCTIONS).unwrap()
    changes = list(everywhere(written["spec"], one_less))

    assert [where for where, spec in changes if not drift_of({**stored_deployment(), "spec": spec})] == []
    assert len(changes) > 40


def test_a_field_that_left_the_manifest_is_drift_until_the_server_default_stands_there() -> None:
    live = stored_deployment()

    assert drift_of({**live, "spec": {**live["spec"], "revisionHistoryLimit": 2}}) == (
        Difference("spec.revisionHistoryLimit", 10, 2),
    )
    assert drift_of({**live, "spec": {**live["spec"], "revisionHistoryLimit": 10}}) == ()


def test_another_service_account_is_drift_although_the_server_keeps_its_name_twice() -> None:
    wanted: Manifest = {"spec": {"containers": []}}
    live = {"spec": {"serviceAccountName": "admin", "serviceAccount": "admin"}}
    rule = StorageRule({"serviceAccount": lambda pod: pod.get("serviceAccountName")})

    assert differences(wanted, live, StorageRule(members={"spec": rule})) == (
        Difference("spec.serviceAccountName", None, "admin"),
    )


@pytest.mark.parametrize("nothing", [{}, [], None])
def test_nothing_is_as_good_as_absent_in_objects_that_servers_know(nothing: Any) -> None:
    for rule in (COMPACT, StorageRule(members={"metadata": AS_SENT})):
        assert differences({"a": nothing}, {}, rule) == differences({}, {"a": nothing}, rule) == ()


@pytest.mark.parametrize("nothing", [{}, []])
def test_an_empty_member_says_something_where_it_is_stored_as_it_was_sent(nothing: Any) -> None:
    assert differences({"a": {"b": nothing}}, {"a": {}}) == (Difference("a.b", nothing, None),)
    assert differences({"a": {}}, {"a": {"b": nothing}}) == (Difference("a.b", None, nothing),)


def test_a_null_and_empty_labels_are_as_good_as_absent_everywhere_and_so_is_an_empty_status_of_a_live_object() -> None:
    empty: Manifest = {"a": None, "metadata": {"labels": {}, "annotations": {}}}

    assert differences({"metadata": {}}, empty) == differences(empty, {"metadata": {}}) == ()
    assert differences({}, {"status": {}}) == ()
    assert differences({}, {"status": {"ready": True}}) != ()


@pytest.mark.parametrize(
    "selector", ["podSelector", "namespaceSelector", "labelSelector", "objectSelector", "selector"]
)
def test_an_empty_selector_is_something_else_than_none(selector: str) -> None:
    assert differences({}, {selector: {}}) == (Difference(selector, None, {}),)
    assert differences({selector: {}}, {}) == (Difference(selector, {}, None),)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), ({"a": [2.0]}, {"a": [2]})])
def test_numbers_are_equal_by_value(one: Any, other: Any) -> None:
    assert differences({"x": one}, {"x": other}) == ()


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), ("1", 1), ("", None), (False, None), (0, None)])
def test_what_is_of_another_type_or_false_is_not_the_same(one: Any, other: Any) -> None:
    assert differences({"x": one}, {"x": other}) == (Difference("x", one, other),)


def test_amounts_are_equal_by_value_where_the_rule_says_that_they_are_amounts() -> None:
    wanted, live = {"cpu": "1000m", "memory": 1024}, {"cpu": "1", "memory": "1Ki"}

    assert differences({"requests": wanted}, {"requests": live}, StorageRule(quantities=frozenset({"requests"}))) == ()
    assert len(differences({"data": wanted}, {"data": live})) == 2


def test_zero_values_are_as_good_as_not_sent_where_the_rule_says_so() -> None:
    rule = StorageRule({"port": 80}, omitted=frozenset({"port", "host"}))

    assert differences({"port": 0, "host": ""}, {"port": 80}, rule) == ()
    assert differences({"port": 0, "host": ""}, {"port": 81, "host": "x"}, rule) == (
        Difference("port", 80, 81),
        Difference("host", None, "x"),
    )


def test_a_difference_says_where_it_is() -> None:
    wanted, live = {"a": [{"b": 1}], "c": [1]}, {"a": [{"b": 2}], "c": [1, 2]}

    assert differences(wanted, live) == (Difference("a[0].b", 1, 2), Difference("c", [1], [1, 2]))


@pytest.mark.parametrize(("one", "other", "is_same"), [("1Gi", "1024Mi", True), ("1Gi", "1G", False), (1, "1", True)])
def test_a_single_amount_is_compared_by_value_too(one: Any, other: Any, *, is_same: bool) -> None:
    rule = StorageRule(quantities=frozenset({"sizeLimit"}))

    assert (differences({"sizeLimit": one}, {"sizeLimit": other}, rule) == ()) is is_same
