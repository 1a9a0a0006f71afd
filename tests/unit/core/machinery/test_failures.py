"""Errors in single fields, in the words of Kubernetes."""

from datetime import timedelta

import pytest

from hedgerow.machinery.failures import (
    FieldErrorType,
    Problem,
    duplicate,
    forbidden,
    invalid,
    invalid_unshown,
    joined,
    required,
    unsupported,
)


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
