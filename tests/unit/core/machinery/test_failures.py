"""Errors in single fields, in the words of Kubernetes; and failures, which name the object too."""

from datetime import timedelta

import pytest

from hedgerow.machinery.failures import (
    Failure,
    FieldErrorType,
    Problem,
    child,
    duplicate,
    forbidden,
    invalid,
    invalid_unshown,
    joined,
    json_type,
    nearest,
    rendered,
    required,
    retryable_failure,
    unknown_fields,
    unsupported,
    wrong_type,
)
from hedgerow.machinery.objects import ObjectKey, Resource

SERVICES = Resource("", "v1", "services", "Service")
CART = ObjectKey("shop", "cart")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(
            invalid("controllers.health.syncPeriod", timedelta(seconds=1), "must be at least 15s"),
            "controllers.health.syncPeriod: Invalid value: 1s: must be at least 15s",
            id="durations are bare",
        ),
        pytest.param(
            invalid("a.b", -1, "must be non-negative"), "a.b: Invalid value: -1: must be non-negative", id="int"
        ),
        pytest.param(invalid("a", 'say "é"', "is wrong"), r'a: Invalid value: "say \"é\"": is wrong', id="quoted text"),
        pytest.param(invalid("a", None, "must be set"), 'a: Invalid value: "null": must be set', id="null"),
        pytest.param(
            required("controllers.resourceClass", "must provide a resource class"),
            "controllers.resourceClass: Required value: must provide a resource class",
            id="required",
        ),
        pytest.param(
            unsupported("logLevel", "foo", ("debug", "info", "error")),
            'logLevel: Unsupported value: "foo": supported values: "debug", "info", "error"',
            id="unsupported",
        ),
        pytest.param(forbidden("a.b", "must not be set"), "a.b: Forbidden: must not be set", id="forbidden"),
        pytest.param(required("a.b"), "a.b: Required value", id="required, plainly"),
        pytest.param(duplicate("a[1]", "x"), 'a[1]: Duplicate value: "x"', id="duplicate"),
        pytest.param(
            Problem("a", "must have at most 5 bytes", FieldErrorType.TOO_LONG),
            "a: Too long: must have at most 5 bytes",
            id="too long",
        ),
        pytest.param(
            invalid("a", "é" * 300, "is wrong"), f'a: Invalid value: "{"é" * 100}…": is wrong', id="long text"
        ),
        pytest.param(
            invalid("a", ["é" * 300], "is wrong"), f'a: Invalid value: ["{"é" * 98}…: is wrong', id="long list"
        ),
        pytest.param(invalid_unshown("a", "is wrong"), "a: Invalid value: is wrong", id="not to be shown"),
        pytest.param(invalid("a", [1, {"b": "c"}], "is wrong"), 'a: Invalid value: [1,{"b":"c"}]: is wrong', id="json"),
    ],
)
def test_an_error_names_path_type_value_and_rule(error: Problem, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (invalid("a", 1, "is wrong"), "FieldValueInvalid"),
        (required("a"), "FieldValueRequired"),
        (unsupported("a", "x", ("y",)), "FieldValueNotSupported"),
        (duplicate("a", 1), "FieldValueDuplicate"),
        (forbidden("a", "must not be set"), "FieldValueForbidden"),
        (Problem("a", "is big", FieldErrorType.TOO_LONG), "FieldValueTooLong"),
    ],
)
def test_causes_of_a_status_name_the_type_in_their_own_way(error: Problem, reason: str) -> None:
    assert error.reason == reason


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        pytest.param(["one"], "one", id="one alone"),
        pytest.param(["one", "two"], "[one, two]", id="several"),
        pytest.param(["two", "one", "two"], "[two, one]", id="repeated"),
        pytest.param(["one", "one"], "one", id="one, repeated"),
    ],
)
def test_several_errors_make_one_text(errors: list[str], text: str) -> None:
    assert joined(errors) == text


def test_a_value_of_any_depth_can_be_shown() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]

    assert str(invalid("a", value, "is wrong")) == 'a: Invalid value: "...": is wrong'


def test_an_error_has_its_path_its_text_and_its_type() -> None:
    assert invalid("a", 1, "is wrong") == Problem("a", "1: is wrong", FieldErrorType.INVALID)
    assert invalid_unshown("a", "is wrong") == Problem("a", "is wrong", FieldErrorType.INVALID)
    assert required("a") == Problem("a", "", FieldErrorType.REQUIRED)
    assert duplicate("a[1]", "x") == Problem("a[1]", '"x"', FieldErrorType.DUPLICATE)
    assert forbidden("a", "must not be set") == Problem("a", "must not be set", FieldErrorType.FORBIDDEN)
    assert unsupported("a", "x", ("y", "z")) == Problem(
        "a", '"x": supported values: "y", "z"', FieldErrorType.UNSUPPORTED
    )


def test_the_path_of_an_error_may_begin_further_up() -> None:
    assert Problem("a", "is wrong").below("b[0]").path == "b[0].a"
    assert Problem("", "is wrong").below("b[0]").path == "b[0]"


def test_values_are_shown_as_documents_write_them() -> None:
    shown = [rendered(value) for value in (None, "null", True, 5, 1.5, {"a": [1, None]}, timedelta(minutes=1))]

    assert shown == ['"null"', '"null"', "true", "5", "1.5", '{"a":[1,null]}', "1m0s"]
    assert rendered({"a": object}) == '{"a":"<class \'object\'>"}'
    assert rendered(["x" * 99]) == f'["{"x" * 98}…'


def test_a_value_of_another_type_is_told_by_its_type_alone() -> None:
    types = [json_type(value) for value in (None, False, 5, 1.5, "a", [1], {"a": 1}, {1}, float("inf"))]

    assert types == [
        *("null", "a boolean", "an integer", "a decimal number", "a string", "a list", "an object", "a set"),
        "Infinity",
    ]
    assert wrong_type("a", "a list", 5) == Problem("a", "expected a list, got an integer")
    assert str(wrong_type("a", "a string", 5, " (quote it)")) == "a: expected a string, got an integer (quote it)"


def test_a_name_that_might_hold_dots_is_in_brackets() -> None:
    assert [child("a", "b"), child("", "b"), child("a", "b.c"), child("", "b-c")] == ["a.b", "b", "a[b.c]", "[b-c]"]


def test_an_unknown_name_is_told_with_the_known_one_that_is_most_like_it() -> None:
    assert nearest("OWNR", ("owners", "Owner", "door")) == "Owner"
    assert nearest("soil", ("owners",)) is None
    assert list(unknown_fields({"ownr": 1, "owner": 1, 5: 1, "x" * 200: 1}, ("owner",))) == [
        ("ownr", "is an unknown field; did you mean owner?"),
        ("5", "is an unknown field"),
        (f"{'x' * 100}…", "is an unknown field"),
    ]


def test_a_failure_names_the_object_or_which_objects() -> None:
    field, whole = Problem("spec.a", "is wrong"), Problem("", "are gone")

    assert str(Failure(SERVICES, CART, field)) == "Service shop/cart: spec.a: is wrong"
    assert str(Failure(SERVICES, ObjectKey("shop", ""), field)) == "Service without a name: spec.a: is wrong"
    assert str(Failure(SERVICES, ObjectKey("shop", ""), whole)) == "Service objects in namespace shop: are gone"
    assert str(Failure(SERVICES, ObjectKey("", ""), whole)) == "Service objects: are gone"
    assert retryable_failure(SERVICES, CART, "is late") == Failure(
        SERVICES, CART, Problem("", "is late"), retryable=True
    )
