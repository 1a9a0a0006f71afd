"""What a measurement says: a figure with its unit, and its goal beside it where it has one."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Self


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    what: str
    value: float | str
    unit: str = ""
    goal: str = ""
    is_met: bool = True

    @classmethod
    def at_most(cls, what: str, value: float, unit: str, limit: float) -> Self:
        """A figure that should be small."""
        return cls(what, value, unit, f"at most {_readable(limit)} {unit}".rstrip(), value <= limit)

    @classmethod
    def at_least(cls, what: str, value: float, unit: str, limit: float) -> Self:
        """A figure that should be large."""
        return cls(what, value, unit, f"at least {_readable(limit)} {unit}".rstrip(), value >= limit)

    def __str__(self) -> str:
        """The figure, what it should be, and whether it is."""
        value = self.value if isinstance(self.value, str) else f"{_readable(self.value)} {self.unit}".rstrip()
        line = f"  {self.what:<88} {value:>22}"
        return f"{line}   {self.goal}: {'met' if self.is_met else 'MISSED'}" if self.goal else line


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that so many percent of the samples stay below."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def _readable(value: float) -> str:
    """Three digits that matter."""
    size = abs(value)
    if size == int(size) or size >= 100:  # noqa: PLR2004 -- beyond three digits a fraction says nothing
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"  # noqa: PLR2004 -- two digits before the point
