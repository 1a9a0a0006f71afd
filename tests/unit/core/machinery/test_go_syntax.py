"""How Go reads booleans and integers that are written as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.machinery.scalars import parse_bool, parse_int


@pytest.mark.parametrize("text", ["1", "t", "T", "true", "TRUE", "True"])
def test_what_is_true(text: str) -> None:
    assert parse_bool(text) == Success(True)  # noqa: FBT003 -- the value itself


@pytest.mark.parametrize("text", ["0", "f", "F", "false", "FALSE", "False"])
def test_what_is_false(text: str) -> None:
    assert parse_bool(text) == Success(False)  # noqa: FBT003 -- the value itself


@pytest.mark.parametrize("text", ["", " true", "true ", "tRUE", "yes", "on", "2", "01"])
def test_anything_else_is_no_boolean(text: str) -> None:
    assert parse_bool(text) == Failure('must be "true" or "false"')


@given(st.integers(min_value=-(2**31), max_value=2**31 - 1), st.sampled_from(["", "0", "000"]))
def test_an_integer_is_read_whatever_zeros_stand_before_it(number: int, zeros: str) -> None:
    sign, digits = ("-" if number < 0 else "+"), str(abs(number))

    assert parse_int(f"{sign}{zeros}{digits}", 32) == Success(number)
    assert parse_int(str(number), 32) == Success(number)


@pytest.mark.parametrize(
    "text", ["", "+", "-", "--1", " 3", "3 ", "3\n", "1_000", "0x1", "1.0", "1e3", "٣", "²", "abc"]
)
def test_anything_else_is_no_integer(text: str) -> None:
    assert parse_int(text, 64) == Failure("must be an integer")


@pytest.mark.parametrize("bits", [32, 64])
def test_an_integer_has_to_fit_its_width(bits: int) -> None:
    largest, smallest = 2 ** (bits - 1) - 1, -(2 ** (bits - 1))

    assert parse_int(str(largest), bits) == Success(largest)
    assert parse_int(str(smallest), bits) == Success(smallest)
    for beyond in (largest + 1, smallest - 1):
        assert parse_int(str(beyond), bits) == Failure(f"must be an integer of {bits} bits")


def test_no_number_of_digits_is_too_large_to_be_refused() -> None:
    assert parse_int("9" * 100_000, 64) == Failure("must be an integer of 64 bits")
