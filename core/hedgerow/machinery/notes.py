"""What was computed in the course of a turn, so that its next stage need not compute it again.

A note saves work and decides nothing: it is the value of a function for given inputs, and counts only for these.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Value = TypeVar("Value")


class Notes:
    """The notes of one turn, under names."""

    __slots__ = ("__weakref__", "_taken")

    def __init__(self) -> None:
        self._taken: dict[Hashable, tuple[tuple[Any, ...], Any]] = {}

    def once(self, name: Hashable, inputs: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
        """The value that was computed under a name for equal inputs, or else the one that is computed now.

        To compare the very same objects takes next to no time, however large they are.
        """
        taken = self._taken.get(name)
        if taken is None or taken[0] != inputs:
            taken = self._taken[name] = (inputs, compute())
        value: Value = taken[1]
        return value
