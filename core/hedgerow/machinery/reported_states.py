"""Reported states: what a metric tells of each primary object of a controller, such as its conditions.

A state is an aspect of an object with its value. Both are short texts, of which there are few different ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hedgerow.machinery.conditions import condition_status
from hedgerow.machinery.objects import Manifest

States: TypeAlias = tuple[tuple[str, str], ...]
"""Aspects with their values."""


@dataclass(frozen=True, slots=True)
class ReportedStates:
    """A gauge that is 1 for each state of each object, with the object in its labels."""

    metric: str
    meaning: str
    of: Callable[[Manifest], States]
    """The states of an object after the transform of its watch; none: it has no series. It must not raise."""
    aspect: str = "type"
    """The label for the aspects."""
    value: str = "status"
    """The label for their values."""


def conditions_reported(
    *types: str, initial: str = "", concerns: Callable[[Manifest], bool] = lambda _manifest: True
) -> Callable[[Manifest], States]:
    """The statuses of these conditions of the objects that it `concerns`.

    A condition that nobody has written yet has the status `initial`; empty: it is left out.
    """

    def states(manifest: Manifest) -> States:
        if not concerns(manifest):
            return ()
        found = ((type_, condition_status(manifest, type_) or initial) for type_ in types)
        return tuple((type_, status) for type_, status in found if status)

    return states
