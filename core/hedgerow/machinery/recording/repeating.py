"""Repeats recorded decisions, and tells which of them come out otherwise.

A turn is repeated from its first segment on. The file is read once, from its beginning, and no more is kept of it than
the turns under way and what each key was told to remember.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.recording.decisions import Unreadable, Unrecorded
from hedgerow.machinery.recording.segments import Playback, Segment


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that comes out otherwise than was recorded."""

    decision: Segment | Unreadable
    summary: str
    """One clause: in what."""
    lines: Sequence[str] = ()
    """What is wanted, compared."""


class Repetition:
    """The decisions of one run, repeated in their order."""

    def __init__(self, controllers: Mapping[str, Controller[Any]]) -> None:
        """Nothing has been repeated yet.

        Args:
            controllers: who decides now, by name, configured as they were.
        """
        self.repeated = 0
        self.skipped = 0
        """Segments that were not recorded, and those after them, or after a difference, in their turns."""
        self._controllers = controllers
        self._under_way: dict[tuple[str, ObjectKey], tuple[int, Playback]] = {}
        self._told: dict[tuple[str, ObjectKey], object] = {}

    def repeat(self, entry: Segment | Unrecorded | Unreadable) -> Difference | None:
        """Let a decision go on; the difference, if there is one.

        Args:
            entry: what comes next in the record.
        """
        place = (entry.controller, entry.key)
        if not isinstance(entry, Segment):
            self._stop(place)
            self._told.pop(place, None)
            self.skipped += isinstance(entry, Unrecorded)
            return Difference(entry, entry.problem) if isinstance(entry, Unreadable) else None
        controller = self._controllers.get(entry.controller)
        if controller is None:
            self.repeated += 1
            return Difference(entry, "no controller of this name runs with that configuration")
        playback = self._playback(place, controller, entry)
        if playback is None:
            self.skipped += 1
            return None
        self.repeated += 1
        difference = playback.played(entry)
        if difference is None:
            return None
        self._stop(place)
        return Difference(entry, *difference)

    def _playback(self, place: tuple[str, ObjectKey], controller: Controller[Any], segment: Segment) -> Playback | None:
        """The turn of a segment; none if it cannot be repeated from here on."""
        number, playback = self._under_way.get(place, (0, None))
        if segment.number > 0:
            return playback if number == segment.turn else None
        self._stop(place)
        if segment.remembers_as_before and place not in self._told:
            return None
        memory = self._told.get(place) if segment.remembers_as_before else segment.memory
        self._told[place] = memory
        playback = Playback(controller, segment, memory)
        self._under_way[place] = segment.turn, playback
        return playback

    def _stop(self, place: tuple[str, ObjectKey]) -> None:
        _, playback = self._under_way.pop(place, (0, None))
        if playback is not None:
            playback.close()
