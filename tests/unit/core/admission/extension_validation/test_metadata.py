"""Metadata of any object, as the API server holds it."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.admission.extension_validation import validate_create, validate_update
from tests.unit.core.admission.extension_validation.objects import sample, short

OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "owner", "uid": "1"}
QUARTER_MEBIBYTE = 256 * 1024


def found(**metadata: Any) -> list[str]:
    return [
        error.removeprefix("Invalid metadata.")
        for error in short(validate_create("Extension", sample("Extension", metadata)))
    ]


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "a..b", "a" * 254])
def test_a_name_is_a_dns_subdomain(name: str) -> None:
    assert found(name=name) == ["name"]
    assert found(name="a.b-c.1") == []


def test_a_prefix_for_names_does_not_replace_the_name() -> None:
    errors = validate_create("Extension", sample("Extension", {"name": "", "generateName": "a-"}))

    assert [*map(str, errors)] == ["metadata.name: Required value: name or generateName is required"]


@pytest.mark.parametrize(
    ("prefix", "expected"), [("a", []), ("a-", []), ("a.", ["generateName"]), ("-", ["generateName"])]
)
def test_a_prefix_for_names_may_end_with_a_dash(prefix: str, expected: list[str]) -> None:
    assert found(generateName=prefix) == expected


@pytest.mark.parametrize("namespace", ["with.dot", "Upper", "a" * 64])
def test_a_namespace_is_a_dns_label(namespace: str) -> None:
    assert found(namespace=namespace) == ["namespace"]


def test_a_generation_is_not_negative() -> None:
    assert found(generation=-1) == ["generation"]


def test_labels_have_their_syntax() -> None:
    assert found(labels={"a/b": "c", "d": ""}) == []
    assert found(labels={"a b": "c d"}) == ["labels", "labels"]


def test_keys_of_annotations_have_the_syntax_of_labels_in_any_case() -> None:
    assert found(annotations={"Example.COM/Key": "any text"}) == []
    assert found(annotations={"a b": ""}) == ["annotations"]


def test_annotations_are_too_long_all_together() -> None:
    assert found(annotations={"a": "x" * (QUARTER_MEBIBYTE - 1)}) == []
    assert found(annotations={"a": "é" * (QUARTER_MEBIBYTE // 2)}) == ["TooLong metadata.annotations"]
    assert found(annotations={"a": "x" * (QUARTER_MEBIBYTE - 2), "b": ""}) == []
    assert found(annotations={"a": "x" * (QUARTER_MEBIBYTE - 1), "b": ""}) == ["TooLong metadata.annotations"]


def test_annotations_may_hold_what_no_encoding_can_write() -> None:
    assert found(annotations={"a": "\ud800"}) == []


@pytest.mark.parametrize(
    ("finalizers", "expected"),
    [
        (["example.com/a", "orphan"], []),
        (["a b"], ["finalizers"]),
        (["foregroundDeletion", "orphan"], ["finalizers"]),
    ],
)
def test_finalizers_have_the_syntax_of_labels_and_do_not_contradict(finalizers: list[str], expected: list[str]) -> None:
    assert found(finalizers=finalizers) == expected


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        pytest.param([OWNER, {**OWNER, "controller": True}], [], id="complete"),
        pytest.param([{}], ["apiVersion", "kind", "name", "uid"], id="empty"),
        pytest.param([None], ["apiVersion", "kind", "name", "uid"], id="null"),
        pytest.param([{**OWNER, "apiVersion": "apps/"}], ["apiVersion"], id="no version"),
        pytest.param([{**OWNER, "apiVersion": "a/b/c"}], ["apiVersion"], id="two slashes"),
    ],
)
def test_owners_are_named_completely(references: list[Any], expected: list[str]) -> None:
    assert found(ownerReferences=references) == [f"ownerReferences.{field}" for field in expected]


def test_events_own_nothing() -> None:
    assert found(ownerReferences=[{**OWNER, "apiVersion": "v1", "kind": "Event"}]) == ["ownerReferences"]


def test_one_owner_at_most_is_the_controller() -> None:
    controller = {**OWNER, "controller": True}

    assert found(ownerReferences=[controller, OWNER, controller]) == ["ownerReferences"]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({"generation": 1}, {"generation": 2}, "generation"),
        ({"name": "new"}, {}, "name"),
        ({"namespace": "new"}, {}, "namespace"),
        ({"uid": "1"}, {"uid": "2"}, "uid"),
        ({}, {"creationTimestamp": "2026-01-01T00:00:00Z"}, "creationTimestamp"),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, {}, "deletionTimestamp"),
        ({"deletionGracePeriodSeconds": 0}, {}, "deletionGracePeriodSeconds"),
    ],
)
def test_what_names_an_object_never_changes(new: Mapping[str, Any], old: Mapping[str, Any], expected: str) -> None:
    errors = validate_update("Extension", sample("Extension", new), sample("Extension", old))

    assert short(errors) == [f"Invalid metadata.{expected}"]


def test_an_empty_uid_is_as_good_as_none() -> None:
    assert validate_update("Extension", sample("Extension", {"uid": ""}), sample("Extension")) == ()
