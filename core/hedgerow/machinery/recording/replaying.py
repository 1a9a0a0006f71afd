"""Replays recorded decisions, and tells which of them come out differently.

The file is read once, from its beginning. Of it, a replay keeps only the state that each key's last turn has left.

The order of independent actions and events does not count, nor does the state for the next turn.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import Any, Final

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.codec import Json, Turn, Unreadable, UnrecordableError, canonical, encoded
from hedgerow.machinery.recording.journal import Journal, NotReadError, Unrecorded
from hedgerow.machinery.recording.playback import Played, States, played
from hedgerow.machinery.steps import Step

_CONTEXT: Final = 3
"""Lines around a difference."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that comes out differently."""

    decision: Journal | Unreadable
    summary: str
    """One clause: how."""
    lines: Sequence[str] = ()
    """The unified diff of the recorded and the repeated step or plan."""
    part: int = 0
    """Part of the decision, from 1; 0: the decision as a whole."""


class Replay:
    """The decisions of one run, made again in their order."""

    def __init__(self, controllers: Mapping[str, Controller[Any]]) -> None:
        """Nothing has been replayed yet.

        Args:
            controllers: who decides now, by name, configured as they were.
        """
        self.repeated = 0
        self.skipped = 0
        """Turns that were not recorded, and those that depend on the state of such a turn or of one that came out
        differently."""
        self._controllers = controllers
        self._states = States()

    def repeat(self, turn: Turn) -> Difference | None:
        """Make the next decision of the record again; the difference, if there is one."""
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
        first: Difference | None = None
        # After a difference the turn goes on, for the state that it leaves.
        for number, part in enumerate(played(controller, turn, state), start=1):
            first = first or _difference(turn, number, part)
            if isinstance(part.wants, Plan) or not part.is_answered:
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
        repeated = _comparable(wants)
    except UnrecordableError as problem:
        return Difference(turn, f"ends with a value that cannot be compared: {problem}", part=number)
    name = "plan" if isinstance(wants, Plan) else "step"
    if part.wants is None:
        return Difference(turn, f"has a {name} and raised {turn.raised} then", _diff(None, repeated), number)
    lines = _diff(_comparable(part.wants), repeated)
    return Difference(turn, f"has another {name}", lines, number) if lines else None


def _comparable(wants: Step[Any] | Plan) -> Json:
    """A step or a plan as JSON, equal for equal requests.

    Raises:
        UnrecordableError: something in it has a type that no record can hold.
    """
    if not isinstance(wants, Plan):
        return encoded(wants)
    value: dict[str, Any] = encoded(replace(wants, state=None))
    for name in ("events",) if wants.in_order else ("actions", "events"):
        if name in value:
            value[name] = sorted(value[name], key=canonical)
    return value


def _diff(recorded: Json, repeated: Json) -> list[str]:
    """The unified diff of two plans or steps; none of nothing recorded, empty if they are the same."""
    return list(unified_diff(_lines(recorded), _lines(repeated), "recorded", "repeated", lineterm="", n=_CONTEXT))


def _lines(wants: Json) -> list[str]:
    if wants is None:
        return []
    # A comma says only that another line follows.
    lines = json.dumps(wants, indent=2, sort_keys=True, ensure_ascii=False).splitlines()
    return [line.removesuffix(",") for line in lines]
