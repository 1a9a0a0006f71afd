"""Amounts of resources."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from hedgerow.machinery.scalars import Quantity, parse_quantity

UNITS = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "e2": 2, "E-2": -2}
BINARY_UNITS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def amount(quantity: Quantity) -> Fraction:
    value: Fraction = quantity.significand * Fraction(10) ** quantity.power_of_ten * 2**quantity.power_of_two
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0),
        ("-0", 0),
        ("1", 1),
        ("+1.", 1),
        (".5", Fraction(1, 2)),
        ("-1.50", Fraction(-3, 2)),
        ("007", 7),
        ("500m", Fraction(1, 2)),
        ("1.5Gi", 3 << 29),
        ("1E", 10**18),
        ("1e3", 1000),
        ("1E+3", 1000),
        ("12e-1", Fraction(12, 10)),
        (2, 2),
        (-1, -1),
        (10**30, 10**30),
        (1.5, Fraction(3, 2)),
        (1e16, 10**16),
    ],
)
def test_a_quantity_is_read_exactly(value: Any, expected: Fraction | int) -> None:
    assert amount(parse_quantity(value).unwrap()) == expected


@pytest.mark.parametrize(
    "value",
    [
        *("", ".", "-", "m", "1 ", " 1", "1 m", "1ki", "1K", "1mi", "1i", ".5i", "1e", "1e1.5", "1.1.1", "0x1", "--1"),
        *("1_0", "\u0661", "1e99999999999999999999", "nan", "inf", float("nan"), float("inf"), True, None, [], {}),
    ],
)
def test_anything_else_is_no_quantity(value: Any) -> None:
    assert not is_successful(parse_quantity(value))


def test_what_is_no_quantity_is_told_with_an_example() -> None:
    assert parse_quantity("1 m").failure() == 'must be a quantity, for example "500m", "1.5" or "8Gi"'


@given(st.integers(-(10**30), 10**30), st.integers(0, 30), st.sampled_from([*UNITS, *BINARY_UNITS]))
def test_sign_and_wholeness_are_those_of_the_number(digits: int, places: int, unit: str) -> None:
    number = Decimal(digits).scaleb(-places)
    exact = Fraction(number) * Fraction(10) ** UNITS.get(unit, 0) * 2 ** BINARY_UNITS.get(unit, 0)

    quantity = parse_quantity(f"{number:f}{unit}").unwrap()

    assert amount(quantity) == exact
    assert (quantity.significand < 0) is (exact < 0)
    assert quantity.is_whole is (exact.denominator == 1)


@pytest.mark.parametrize("text", ["0.5Ki", "0.0009765625Ki", "1.50e1", "1000m", "10e-1"])
def test_an_amount_is_whole_however_it_is_written(text: str) -> None:
    assert parse_quantity(text).unwrap().is_whole


@given(st.sampled_from([*UNITS, *BINARY_UNITS]), st.sampled_from([*UNITS, *BINARY_UNITS]), st.integers(-3000, 3000))
def test_quantities_are_equal_if_their_amounts_are(unit: str, other_unit: str, number: int) -> None:
    one = parse_quantity(f"{number}{unit}").unwrap()
    for text in (f"{number}{other_unit}", f"{number * 1000}{other_unit}", f"{number * 1024}{other_unit}"):
        other = parse_quantity(text).unwrap()
        assert one.equals(other) is (amount(one) == amount(other))


def test_quantities_of_any_exponent_are_compared_at_once() -> None:
    assert not parse_quantity("1e999999999999999999").unwrap().equals(parse_quantity("1e-999999999999999999").unwrap())


def test_the_size_of_an_exponent_costs_nothing() -> None:
    assert not parse_quantity("1e-999999999999999999").unwrap().is_whole
    assert parse_quantity("0e-999999999999999999").unwrap().is_whole
    assert parse_quantity("1e999999999999999999").unwrap().is_whole


def test_more_digits_than_anything_has_are_refused() -> None:
    assert parse_quantity("9" * 4001).failure() == "must have at most 4000 digits"
    assert is_successful(parse_quantity(f"{'0' * 9000}1.{'0' * 9000}"))
