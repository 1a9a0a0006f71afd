"""Long work in slices, with a pause after each, so that other tasks can run.

Work is counted in nodes, not in time, so that equal work is done in equal slices.
"""

from collections.abc import Generator
from typing import Any, Final, TypeAlias, TypeVar

SLICE: Final = 250
"""Nodes that are read in a slice, which takes about 1 ms."""

Value = TypeVar("Value")
Slices: TypeAlias = Generator[None, None, Value]
"""Work that pauses wherever it yields; it returns its result."""


def finished(slices: Slices[Value]) -> Value:
    """The result of work that is done without a pause."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            value: Value = end.value
            return value


class SliceCounter:
    """Counts the work that is done in the current slice."""

    def __init__(self) -> None:
        """A slice begins."""
        self._worked = 0

    def ends_slice(self, nodes: int = 1) -> bool:
        """True if work equal to reading so many nodes completes a slice; the next one begins then."""
        self._worked += nodes
        if self._worked < SLICE:
            return False
        self._worked = 0
        return True


def count_nodes(value: Any) -> int:
    """The keys, scalars, lists and mappings of a parsed document."""
    count, level = 0, [value]
    while level:
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                count += len(each)
                below += each.values()
            elif isinstance(each, list):
                below += each
        count += len(level)
        level = below
    return count
