"""Amounts of resources as Kubernetes writes them: `500m` of a processor, `8Gi` of memory, `3` pods.

Exact at any size: a quantity is a whole number with powers of ten and two, and never becomes a floating-point number.
Knows no resource.

Source: Kubernetes API, Quantity of the common definitions.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure, Result, Success

_SYNTAX: Final = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,18})|([KMGTPE]i|[numkMGTPE]|))"
)
_POWERS_OF_TEN: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_POWERS_OF_TWO: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_MOST_DIGITS: Final = 4000
"""Digits beyond which Python refuses to read an integer at all; no amount of anything has so many."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount: `significand` times the powers. Equal amounts may be written, and then compare, differently."""

    significand: int
    power_of_ten: int = 0
    power_of_two: int = 0

    @property
    def is_negative(self) -> bool:
        """Whether it is less than zero."""
        return self.significand < 0

    def equals(self, other: "Quantity") -> bool:
        """Whether both are the same amount, however they are written: `1000m` is `1`, `1Ki` is `1024`."""
        return _factors(self) == _factors(other)

    @property
    def is_whole(self) -> bool:
        """Whether nothing follows behind the decimal point once it is written out."""
        places = -self.power_of_ten
        if places <= 0 or self.significand == 0:
            return True
        # Only a multiple of 5^places can be whole, and a number of fewer bits is none: 10^places stays affordable.
        if places > self.significand.bit_length():
            return False
        one: int = 10**places
        return (self.significand << self.power_of_two) % one == 0


def _factors(quantity: Quantity) -> tuple[int, int, int]:
    """What is left of the significand without its factors five and two, and how many of these there are in all.

    No power is computed, so absurdly large amounts compare as fast as any.
    """
    rest = quantity.significand
    if rest == 0:
        return (0, 0, 0)
    fives, twos = quantity.power_of_ten, quantity.power_of_ten + quantity.power_of_two
    even = (rest & -rest).bit_length() - 1
    rest >>= even
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    return (rest, fives, twos + even)


def parse_quantity(value: Any) -> Result[Quantity, str]:
    """The quantity that a JSON value spells, or why it spells none, as one clause.

    Args:
        value: a text, or a number, which stands for the text that one would write for it.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return Success(Quantity(value))
    text = repr(value) if isinstance(value, float) else value
    match = _SYNTAX.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return Failure('must be a quantity, for example "500m", "1.5" or "8Gi"')
    sign, whole, fraction, exponent, unit = match.groups(default="")
    fraction = fraction.rstrip("0")
    digits = (whole + fraction).lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return Failure(f"must have at most {_MOST_DIGITS} digits")
    power_of_ten = int(exponent or _POWERS_OF_TEN.get(unit, 0)) - len(fraction)
    return Success(Quantity(int(sign + (digits or "0")), power_of_ten, _POWERS_OF_TWO.get(unit, 0)))
