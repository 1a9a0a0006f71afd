"""Scalars that Kubernetes writes as text: booleans, integers, durations, timestamps, quantities.

Booleans, integers and durations are read as Go reads them. A quantity (`500m`, `8Gi`) is exact at any size: a whole
number with powers of ten and two, never a float.

Source: webhooks-and-tokens §1.3; managed-resources §1; Kubernetes API, Quantity of the common definitions.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Final, Self

from returns.result import Failure, Result, Success

_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
_INTEGER: Final = re.compile("[+-]?[0-9]+")
_LONGEST_INTEGER: Final = 4000  # digits beyond which Python refuses to read an integer


def parse_bool(text: str) -> Result[bool, str]:
    """The boolean that a text spells, or why it spells none, as one clause."""
    value = _BOOLEANS.get(text)
    return Failure('must be "true" or "false"') if value is None else Success(value)


def parse_int(text: str, bits: int) -> Result[int, str]:
    """The integer of so many bits, sign included, that a text spells, or why it spells none, as one clause."""
    if not _INTEGER.fullmatch(text):
        return Failure("must be an integer")
    if len(text) <= _LONGEST_INTEGER:
        value = int(text)
        if -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            return Success(value)
    return Failure(f"must be an integer of {bits} bits")


_NANOSECONDS: Final = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,  # the micro sign
    "\u03bcs": 10**3,  # the Greek letter mu, which looks the same
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART: Final = r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
_PARTS: Final = re.compile(_PART)
_DURATION: Final = re.compile(rf"[+-]?(?:(?:{_PART})+|0)")
_LONGEST: Final = 2**63 - 1  # nanoseconds; Go counts them in 64 bits, which is 292 years
_LONGEST_TEXT: Final = 256  # characters; no number in a text of this length is too long to be read
_TIMESTAMP: Final = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


class WrittenDuration(timedelta):
    """A duration that remembers how its author wrote it."""

    text: str

    @classmethod
    def of(cls, duration: timedelta, text: str) -> Self:
        """The duration with its text."""
        written = cls(duration.days, duration.seconds, duration.microseconds)
        written.text = text
        return written


def parse_duration(text: str) -> Result[timedelta, str]:
    """The duration that a text states in Go's spelling, or what is wrong with the text.

    What is finer than a microsecond is rounded away from zero, so that a duration never becomes zero by being short.
    Source: managed-resources §1.
    """
    if len(text) > _LONGEST_TEXT or not _DURATION.fullmatch(text):
        return Failure('must be a duration such as "1h30m0s", "15s" or "100ms"')
    nanoseconds = sum(int(Fraction(number) * _NANOSECONDS[unit]) for number, unit in _PARTS.findall(text))
    if nanoseconds > _LONGEST:
        return Failure("must be a duration of at most 292 years")
    length = timedelta(microseconds=-(-nanoseconds // 1000))
    return Success(-length if text.startswith("-") else length)


def format_duration(duration: timedelta) -> str:
    """A duration in Go's spelling: `1h0m0s`, and below a second in the largest unit."""
    if duration < timedelta(0):
        return f"-{format_duration(-duration)}"
    microseconds = duration // timedelta(microseconds=1)
    if microseconds < 10**3:
        return f"{microseconds}µs" if duration else "0s"
    if microseconds < 10**6:
        return f"{_with_point(microseconds, 3)}ms"
    minutes, rest = divmod(microseconds, 60 * 10**6)
    hours = f"{minutes // 60}h" if minutes // 60 else ""
    return f"{hours}{f'{minutes % 60}m' if minutes else ''}{_with_point(rest, 6)}s"


def _with_point(number: int, decimals: int) -> str:
    """A number with a decimal point so many digits before its end, as far as they are not zero."""
    text = f"{number:0{decimals + 1}d}"
    return f"{text[:-decimals]}.{text[-decimals:]}".rstrip("0").removesuffix(".")


def parse_timestamp(value: Any) -> datetime | None:
    """The moment that a parsed value spells; none where it is absent or spells none."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:  # a thirteenth month, a 25th hour
        return None


def format_timestamp(moment: datetime) -> str:
    """A moment in UTC and whole seconds; what is left of a second is dropped."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def format_nanoseconds(moment: datetime) -> str:
    """A moment in UTC with the nine digits of nanoseconds that readers expect, though Python counts microseconds."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z"


_QUANTITY: Final = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,18})|([KMGTPE]i|[numkMGTPE]|))"
)
_POWERS_OF_TEN: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_POWERS_OF_TWO: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount: `significand` times the powers. Equal amounts may be written, and then compare, differently."""

    significand: int
    power_of_ten: int = 0
    power_of_two: int = 0

    def equals(self, other: "Quantity") -> bool:
        """True if both are the same amount: `1000m` is `1`, `1Ki` is `1024`."""
        return _factors(self) == _factors(other)

    @property
    def is_whole(self) -> bool:
        """True if it is a whole number."""
        places = -self.power_of_ten
        if places <= 0 or self.significand == 0:
            return True
        # Only a multiple of 5^places can be whole, and a number of fewer bits is none: 10^places stays affordable.
        if places > self.significand.bit_length():
            return False
        one: int = 10**places
        return (self.significand << self.power_of_two) % one == 0


def _factors(quantity: Quantity) -> tuple[int, int, int]:
    """The significand without its factors five and two, and their number. Computes no power, which may be huge."""
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
    """The quantity that a JSON value spells, a text or a number, or why it spells none, as one clause."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Success(Quantity(value))
    text = repr(value) if isinstance(value, float) else value
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return Failure('must be a quantity, for example "500m", "1.5" or "8Gi"')
    sign, whole, fraction, exponent, unit = match.groups(default="")
    fraction = fraction.rstrip("0")
    digits = (whole + fraction).lstrip("0")
    if len(digits) > _LONGEST_INTEGER:
        return Failure(f"must have at most {_LONGEST_INTEGER} digits")
    power_of_ten = int(exponent or _POWERS_OF_TEN.get(unit, 0)) - len(fraction)
    return Success(Quantity(int(sign + (digits or "0")), power_of_ten, _POWERS_OF_TWO.get(unit, 0)))
