"""Replays recorded decisions, and tells which of them come out differently.

The file is read once, from its beginning, and no more is kept of it than the state that each key's last turn has left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.codec import UnrecordableError
from hedgerow.machinery.recording.journal import Part
from hedgerow.machinery.recording.lines import Recorded, Turn, Unreadable, Unrecorded
from hedgerow.machinery.recording.lookups import NotReadError
from hedgerow.machinery.recording.plans import comparable, differences
from hedgerow.machinery.recording.playback import Playback, States
from hedgerow.machinery.recording.replies import has_same_reply
from hedgerow.machinery.steps import Step

_Found: TypeAlias = tuple[str, Sequence[str]]
"""What is different, as a clause and in lines."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that comes out differently."""

    decision: Recorded | Unreadable
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
        if not isinstance(turn, Recorded):
            self._states.forget(turn.controller, turn.key)
            self.skipped += isinstance(turn, Unrecorded)
            return Difference(turn, turn.problem) if isinstance(turn, Unreadable) else None
        state = self._states.of(turn.controller, turn.key) if turn.journal.has_state else None
        if state is None and turn.journal.has_state:
            self.skipped += 1
            return None
        self.repeated += 1
        controller = self._controllers.get(turn.controller)
        if controller is None:
            return Difference(turn, "no controller of this name runs with that configuration")
        return self._repeated(turn, controller, state)

    def _repeated(self, turn: Recorded, controller: Controller[Any], state: Any) -> Difference | None:
        difference: Difference | None = None
        reply: Any = None
        wants: Step[Any] | Plan | None = None
        with Playback(controller, turn.journal, state) as playback:
            for number, part in enumerate(turn.journal.parts, start=1):
                wants, found = _played(playback, part, reply, turn.journal.raised)
                reply = part.reply
                if found is not None and difference is None:
                    difference = Difference(turn, *found, number)
                # After a difference the turn goes on, for the state that it leaves.
                if not has_same_reply(part.wants, wants):
                    self._states.forget(turn.controller, turn.key)
                    return difference
        if isinstance(wants, Plan):
            self._states.leave(turn.controller, turn.key, wants)
        return difference


def _played(playback: Playback, part: Part, reply: Any, raised: str) -> tuple[Step[Any] | Plan | None, _Found | None]:
    """What a decision wants at the end of a part, and in what that is different."""
    try:
        wants = playback.advanced(part, reply)
        repeated = comparable(wants)
    except UnrecordableError as error:
        return None, (f"comes to what cannot be compared: {error}", ())
    except Exception as error:  # noqa: BLE001 -- a defect of the decision is a difference
        if part.wants is None and type(error).__name__ == raised:
            return None, None
        summary = str(error) if isinstance(error, NotReadError) else f"raises {type(error).__name__}: {error}"
        return None, (summary, ())
    name = "plan" if isinstance(wants, Plan) else "step"
    if part.wants is None:
        return wants, (f"has a {name} and raised {raised} then", differences(None, repeated))
    recorded = comparable(part.wants)
    return wants, None if recorded == repeated else (f"has another {name}", differences(recorded, repeated))
