"""Shadow runs: decisions made a second time, from what a record may show.

A turn whose journal may be shown as it is has none. Nothing here is in the way of the live decision: all of it happens
afterwards, beside the work.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.recording.journal import Journal, LiveTurn, Part
from hedgerow.machinery.recording.plans import outline
from hedgerow.machinery.recording.playback import States, played
from hedgerow.machinery.steps import Step


class TooMuchToRedactError(Exception):
    """A turn was told more than can be redacted in time; the text is one clause."""


class Redaction(Protocol):
    """The port by which a record is kept free of what nobody may read."""

    def redacted(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The parts of a live journal with tokens in what was read and told; what was wanted stays as it is.

        Tokens are the same for the same value, and like it in all that decisions are made by, as far as possible.
        Parts without a confidential value come back equal.

        Raises:
            TooMuchToRedactError: it would take too long.
        """
        ...


class ShadowRuns:
    """Turns of one process in their order, as its record shows them."""

    def __init__(self, redaction: Redaction) -> None:
        """No turn yet."""
        self._redaction = redaction
        self._states = States()

    def recordable(self, turn: LiveTurn) -> Journal:
        """A turn as the record shows it.

        Raises:
            TooMuchToRedactError: it cannot be shown. `forget` it.
        """
        live = turn.journal
        state = self._states.of(live)
        parts = tuple(self._redaction.redacted(live.parts))
        if parts == live.parts and state is turn.state and not turn.has_moved:
            shown = live
        else:
            journal = replace(live, parts=parts, has_state=state is not None, raised="")
            shown = _shadow_run(turn.controller, journal, state)
        if shown.end is not None and live.end is not None:
            self._states.leave(live.controller, live.key, shown.end)
        elif shown.acted is not None:
            self.forget(turn)
        return shown

    def forget(self, turn: LiveTurn) -> None:
        """The record does not show a turn after all."""
        self._states.leave(turn.journal.controller, turn.journal.key, None)


def _shadow_run(controller: Controller[Any], journal: Journal, state: Any) -> Journal:
    """A turn decided by its redacted journal, up to where it wants something else than the process did."""
    parts: list[Part] = []
    raised = ""
    acted: tuple[str, ...] | None = None
    for live, wants, error, goes_on in played(controller, journal, state):
        raised = type(error).__name__ if error is not None else ""
        parts.append(replace(live, wants=wants, reply=live.reply if goes_on else None))
        one, other = outline(live.wants), outline(wants)
        wants_another_reply = isinstance(live.wants, Step) and not goes_on
        if wants_another_reply or sorted(one) != sorted(other):
            acted = tuple(one)
    return replace(journal, parts=tuple(parts), raised=raised, acted=acted)
