"""How long ago something was, as kubectl tells it: the older, the coarser.

Source: managed-resources §14.
"""

from datetime import timedelta
from typing import Final, NamedTuple

_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_YEAR: Final = timedelta(days=365)
_SIGNS: Final = {_SECOND: "s", _MINUTE: "m", _HOUR: "h", _DAY: "d", _YEAR: "y"}


class _Scale(NamedTuple):
    """Below which age it is told in which unit, and in which smaller one what is left over, unless that is zero."""

    below: timedelta
    unit: timedelta
    rest: timedelta | None = None


_SCALES: Final = (
    _Scale(2 * _MINUTE, _SECOND),
    _Scale(10 * _MINUTE, _MINUTE, _SECOND),
    _Scale(3 * _HOUR, _MINUTE),
    _Scale(8 * _HOUR, _HOUR, _MINUTE),
    _Scale(48 * _HOUR, _HOUR),
    _Scale(8 * _DAY, _DAY, _HOUR),
    _Scale(2 * _YEAR, _DAY),
    _Scale(8 * _YEAR, _YEAR, _DAY),
    _Scale(timedelta.max, _YEAR),
)


def age_text(age: timedelta) -> str:
    """An age in one or two units; clocks may differ by a second before an age counts as invalid."""
    if age < -_SECOND:
        return "<invalid>"
    age = max(age, timedelta(0))
    scale = next(scale for scale in _SCALES if age < scale.below)
    text = f"{age // scale.unit}{_SIGNS[scale.unit]}"
    left_over = age % scale.unit // scale.rest if scale.rest else 0
    return f"{text}{left_over}{_SIGNS[scale.rest]}" if scale.rest and left_over else text
