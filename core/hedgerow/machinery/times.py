"""Durations and moments as Kubernetes writes them: `1h30m0s`, `15s`, `100ms`; RFC 3339, as `2026-01-01T12:00:00Z`.

Text, `timedelta` and `datetime` only: nothing here knows what time it is.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from returns.result import Failure, Result, Success

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
_LONGEST: Final = 2**63 - 1
"""Nanoseconds; Go counts them in 64 bits, which is 292 years."""
_LONGEST_TEXT: Final = 256
"""Characters; no number in a text of this length is too long to be read."""
_HOUR: Final = timedelta(hours=1)
_MINUTE: Final = timedelta(minutes=1)
_SECOND: Final = timedelta(seconds=1)
_MILLISECOND: Final = timedelta(milliseconds=1)
_MICROSECOND: Final = timedelta(microseconds=1)
_TIMESTAMP: Final = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def parse_duration(text: str) -> Result[timedelta, str]:
    """The duration that a text states in Go's spelling, or what is wrong with the text.

    An optional sign, then one or more decimal numbers with a unit each (`h`, `m`, `s`, `ms`, `us` or `µs`, `ns`); `0`
    alone needs no unit; there are no days. What is finer than a microsecond is rounded away from zero, so that a
    duration never becomes zero by being short.

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
    """A duration in Go's spelling: from a second on in hours, minutes and seconds, below that in the largest unit."""
    sign = "-" if duration < timedelta(0) else ""
    return sign + "".join(_formatted_parts(abs(duration)))


def _formatted_parts(duration: timedelta) -> Iterator[str]:
    """Number and unit in turn; a unit follows on every larger one that is written, even as zero."""
    if duration < _SECOND:
        yield _below_a_second(duration)
        return
    if duration >= _HOUR:
        yield f"{duration // _HOUR}h"
    if duration >= _MINUTE:
        yield f"{duration % _HOUR // _MINUTE}m"
    yield f"{_decimal(duration % _MINUTE, _SECOND)}s"


def _below_a_second(duration: timedelta) -> str:
    if not duration:
        return "0s"
    if duration < _MILLISECOND:
        return f"{_decimal(duration, _MICROSECOND)}µs"
    return f"{_decimal(duration, _MILLISECOND)}ms"


def _decimal(duration: timedelta, unit: timedelta) -> str:
    """How many units a duration is, with as many decimals as it takes and no more."""
    microseconds, scale = duration // _MICROSECOND, unit // _MICROSECOND
    whole, fraction = divmod(microseconds, scale)
    decimals = f"{fraction:0{len(str(scale)) - 1}d}".rstrip("0")
    return f"{whole}.{decimals}" if decimals else str(whole)


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
