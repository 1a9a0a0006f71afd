"""Large numbers of values in slices, between which the event loop serves others.

A slice is counted and not timed, so that a process does the same in the same order wherever it runs.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")

SLICE: Final = 200
"""Objects that are worked on without a pause: a few milliseconds, where each takes some ten microseconds."""


def slices(values: Iterable[T]) -> Iterator[list[T]]:
    """The values in their order, so many at a time. Who goes through them pauses after each slice."""
    rest = iter(values)
    while piece := list(islice(rest, SLICE)):
        yield piece
