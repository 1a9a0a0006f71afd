"""Replays recorded decisions, and tells which of them come out differently.

The file is read once, from its beginning, and no more is kept of it than the state that each key's last turn has left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.codec import UnrecordableError
from hedgerow.machinery.recording.journal import Journal, Unrecorded
from hedgerow.machinery.recording.lines import Turn, Unreadable
from hedgerow.machinery.recording.lookups import NotReadError
from hedgerow.machinery.recording.plans import comparable, differences
from hedgerow.machinery.recording.playback import Played, States, played


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that comes out differently."""

    decision: Journal | Unreadable
    summary: str
    """One clause: in what."""
    lines: Sequence[str] = ()
    """What is wanted, compared."""
    part: int = 0
    """Of the decision, from 1; 0: the decision as a whole."""


class Replay:
    """The decisions of one run, made again in their order."""

    def __init__(self, controllers: Mapping[str, Controller[Any]]) -> None:
        """Nothing has been replayed yet.

        Args:
            controllers: who decides now, by name, configured as they were.
        """
        self.repeated = 0
        self.skipped = 0
        """Turns that were not recorded, and those that depend on the state which such a turn, or one that came out
        differently, has left."""
        self._controllers = controllers
        self._states = States()

    def repeat(self, turn: Turn) -> Difference | None:
        """Make a decision again; the difference, if there is one.

        Args:
            turn: what comes next in the record.
        """
        if not isinstance(turn, Journal):
            self._states.leave(turn.controller, turn.key, None)
            self.skipped += isinstance(turn, Unrecorded)
            return Difference(turn, turn.problem) if isinstance(turn, Unreadable) else None
        state = self._states.of(turn)
        if turn.has_state and state is None:
            self.skipped += 1
            return None
        self.repeated += 1
        controller = self._controllers.get(turn.controller)
        if controller is None:
            return Difference(turn, "no controller of this name runs with that configuration")
        return self._repeated(turn, controller, state)

    def _repeated(self, turn: Journal, controller: Controller[Any], state: Any) -> Difference | None:
        first: Difference | None = None
        # After a difference the turn goes on, for the state that it leaves.
        for number, part in enumerate(played(controller, turn, state), start=1):
            first = first or _difference(turn, number, part)
            if isinstance(part.wants, Plan) or not part.goes_on:
                self._states.leave(turn.controller, turn.key, part.wants if isinstance(part.wants, Plan) else None)
        return first


def _difference(turn: Journal, number: int, played_part: Played) -> Difference | None:
    part, wants, error, _ = played_part
    if wants is None:
        if part.wants is None and type(error).__name__ == turn.raised:
            return None
        summary = str(error) if isinstance(error, NotReadError) else f"raises {type(error).__name__}: {error}"
        return Difference(turn, summary, part=number)
    try:
        repeated = comparable(wants)
    except UnrecordableError as strange:
        return Difference(turn, f"ends with a value that cannot be compared: {strange}", part=number)
    name = "plan" if isinstance(wants, Plan) else "step"
    if part.wants is None:
        return Difference(turn, f"has a {name} and raised {turn.raised} then", differences(None, repeated), number)
    lines = differences(comparable(part.wants), repeated)
    return Difference(turn, f"has another {name}", lines, number) if lines else None
