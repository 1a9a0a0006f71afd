"""What commands print of an object says which values of Secrets change, and no value."""

import json
from typing import Any

import pytest
from hypothesis import given

from hedgerow.machinery.objects import Kind
from hedgerow.resource_manager.secret_redaction import CHANGED, REDACTED, redacted
from tests.e2e.canaries import Canaries
from tests.unit.confidential_objects import MALFORMED, PLACES, Json, confidential_objects

NAMED = {"name": "payment", "namespace": "shop", "labels": {"app": "cart"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": NAMED, "type": "Opaque", "immutable": True}


@given(confidential_objects(PLACES | MALFORMED))
def test_no_confidential_value_is_printed_wherever_it_stands(objects: tuple[Json, Json, Canaries]) -> None:
    before, after, canaries = objects

    printed = [redacted(before), redacted(after), redacted(after, before)]

    assert canaries.seen_in(map(json.dumps, printed)) == set()


def test_names_type_and_data_keys_are_printed() -> None:
    assert redacted({**SECRET, "data": {"password": "aHVudGVyMg=="}, "stringData": {"user": "me"}}) == {
        **SECRET,
        "data": {"password": REDACTED},
        "stringData": {"user": REDACTED},
    }


def test_an_unknown_field_is_printed_with_its_name_alone() -> None:
    misspelt = {**SECRET, "dataa": {"password": "hunter2"}}

    assert redacted(misspelt) == {**SECRET, "dataa": REDACTED}


@pytest.mark.parametrize(
    ("old", "new", "mark"),
    [
        ({"data": {"a": "eA=="}}, {"data": {"a": "eQ=="}}, {"data": {"a": CHANGED}}),
        ({"data": {"a": "eA=="}}, {"data": {"a": "eA=="}}, {"data": {"a": REDACTED}}),
        ({"data": {}}, {"data": {"a": "eA=="}}, {"data": {"a": REDACTED}}),
        ({"dataa": {"a": "x"}}, {"dataa": {"a": "y"}}, {"dataa": CHANGED}),
        ({"dataa": ["x"]}, {"dataa": ["x"]}, {"dataa": REDACTED}),
        ({"data": "x"}, {"data": {"a": "eA=="}}, {"data": {"a": REDACTED}}),
        ({"data": None}, {"data": None}, {"data": None}),
    ],
)
def test_a_mark_says_whether_the_value_changes(old: Json, new: Json, mark: Json) -> None:
    assert redacted({**SECRET, **new}, {**SECRET, **old}) == {**SECRET, **mark}


def test_the_marks_of_a_secret_inside_another_object_say_the_same() -> None:
    before, after = ({"items": [{**SECRET, "data": {"a": a, "b": "eA=="}}]} for a in ("eA==", "eQ=="))

    assert redacted(after, before) == {"items": [{**SECRET, "data": {"a": CHANGED, "b": REDACTED}}]}


def test_a_patch_of_a_secret_need_not_say_what_it_is() -> None:
    patch = {"data": {"a": "eA=="}, "dataa": 1}

    assert redacted(patch, kind=Kind("v1", "Secret")) == {"data": {"a": REDACTED}, "dataa": REDACTED}


def test_a_token_that_is_worth_nothing_is_printed() -> None:
    assert redacted({**SECRET, "data": {"token": "AAAA"}})["data"] == {"token": "AAAA"}


@pytest.mark.parametrize(
    "harmless",
    [
        {"kind": "ConfigMap", "data": {"a": "kind: Deployment\nspec: {template: {kind: Pod}}", "b": "secret"}},
        {"kind": "ConfigMap", "data": {"refers.yaml": "kind: Certificate\nspec: {secretName: tls, ref: {kind: X}}"}},
        {"kind": "ConfigMap", "data": {"named.yaml": "kind: Secret\nmetadata: {name: payment}"}},
        {"kind": "Role", "rules": [{"resources": ["secrets"], "verbs": ["get"]}]},
        ["kind: {{ .Kind }} of a secret"],
        None,
        7,
    ],
)
def test_what_holds_no_value_of_a_secret_is_printed_as_it_is(harmless: Any) -> None:
    assert redacted(harmless) is harmless
