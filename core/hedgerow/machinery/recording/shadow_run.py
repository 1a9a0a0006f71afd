"""Shadow runs: decisions made a second time, from what a record may show.

A turn whose journal may be shown as it is has none. Nothing here is in the way of the live decision: all of it happens
afterwards, beside the work.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.journal import Journal, LiveTurn, Part
from hedgerow.machinery.recording.plans import outline
from hedgerow.machinery.recording.playback import Playback, States
from hedgerow.machinery.recording.replies import has_same_reply
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


@dataclass(frozen=True, slots=True)
class Recordable:
    """One turn as the record shows it."""

    journal: Journal
    acted: Sequence[str] | None = None
    """Outline of what the process wanted at the last part, where that is something else."""


class ShadowRuns:
    """Turns of one process in their order, as its record shows them."""

    def __init__(self, redaction: Redaction) -> None:
        """No turn yet."""
        self._redaction = redaction
        self._states = States()

    def recordable(self, turn: LiveTurn) -> Recordable:
        """A turn as the record shows it.

        Raises:
            TooMuchToRedactError: it cannot be shown. `forget` it.
        """
        name, live = turn.controller.name, turn.journal
        state = self._states.of(name, live.key) if live.has_state else None
        parts = tuple(self._redaction.redacted(live.parts))
        if parts == live.parts and state is turn.state and not turn.has_moved:
            shown = Recordable(live)
        else:
            journal = replace(live, parts=parts, has_state=state is not None, raised="")
            shown = _shadow_run(replace(turn, journal=journal, state=state))
        end = shown.journal.end
        if end is not None and live.end is not None:
            self._states.leave(name, live.key, end)
        elif shown.acted is not None:
            self.forget(turn)
        return shown

    def forget(self, turn: LiveTurn) -> None:
        """The record does not show a turn after all."""
        self._states.forget(turn.controller.name, turn.journal.key)


def _shadow_run(turn: LiveTurn) -> Recordable:
    """A turn decided by its redacted journal, up to where it wants something else than the process did."""
    parts: list[Part] = []
    raised = ""
    acted: Sequence[str] | None = None
    reply: Any = None
    with Playback(turn.controller, turn.journal, turn.state) as playback:
        for live in turn.journal.parts:
            wants: Step[Any] | Plan | None = None
            try:
                wants = playback.advanced(live, reply)
            except Exception as error:  # noqa: BLE001 -- a defect is what is worth a record
                raised = type(error).__name__
            reply = live.reply
            parts.append(replace(live, wants=wants))
            one, other = (outline(each) if each is not None else ["raised"] for each in (live.wants, wants))
            if sorted(one) != sorted(other):
                acted = one
            if not has_same_reply(live.wants, wants):
                parts[-1] = replace(parts[-1], reply=None)
                break
    return Recordable(replace(turn.journal, parts=tuple(parts), raised=raised), acted)
