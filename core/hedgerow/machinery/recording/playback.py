"""Playback: a decision made again from its journal, part by part; for the shadow runs that records show, and replays.

All answers and replies come from the journal. The decision may pause at any time. If it awaits `Now` more often than
the journal has times, it gets the last one again. A turn whose journal may be shown as it is has no shadow run.

A replay reads a record once, from its beginning, and compares: the order of independent actions and events does not
count, nor does the state for the next turn.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Action, Plan, actions_in, is_dry_run
from hedgerow.machinery.recording.codec import Json, Turn, Unreadable, UnrecordableError, canonical, encoded
from hedgerow.machinery.recording.journal import (
    Journal,
    LiveTurn,
    NotedSnapshot,
    NotReadError,
    Part,
    decision,
    has_same_reply,
    replied,
)
from hedgerow.machinery.steps import Execution, Now, Pause, Step


class Played(NamedTuple):
    """What a decision wants at the end of a part."""

    part: Part
    wants: Step[Any] | Plan | None
    error: Exception | None
    is_answered: bool  # true if the reply in the journal answers it. Otherwise playback ends here


def played(controller: Controller[Any], journal: Journal, state: Any) -> Iterator[Played]:
    """A decision made again from the state before it, up to its end or a step that the journal does not answer."""
    snapshot, now = NotedSnapshot({}), journal.now
    context = Context(now, controller.config, state, journal.jitter, frozenset(journal.server_versions))
    wants: Step[Any] | Plan | None = None
    reply: Any = None
    with Execution(decision(controller, journal.key, snapshot, context), journal.key) as execution:
        for part in journal.parts:
            snapshot.reads = part.reads
            times = iter(part.times)
            try:
                wants = execution.go_on(replied(wants, reply)) if isinstance(wants, Step) else execution.begin()
                while isinstance(wants, Now | Pause):
                    now = next(times, now) if isinstance(wants, Now) else now
                    wants = execution.go_on(now if isinstance(wants, Now) else None)
            except Exception as error:  # noqa: BLE001 -- a defect of the decision is a result
                yield Played(part, None, error, is_answered=part.wants is None)
                return
            is_answered = has_same_reply(part.wants, wants)
            yield Played(part, wants, None, is_answered)
            if not is_answered:
                return
            reply = part.reply


class States:
    """The state that the last turn of each key has left, by controller and key."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, ObjectKey], Any] = {}

    def of(self, journal: Journal) -> Any:
        """The state that a decision gets, if any and known."""
        return self._states.get((journal.controller, journal.key)) if journal.has_state else None

    def leave(self, controller: str, key: ObjectKey, plan: Plan | None) -> None:
        """Keep the state that a plan leaves, but not of a turn that raised; no plan: the state is unknown."""
        if plan is None or plan.state is None:
            self._states.pop((controller, key), None)
        else:
            self._states[controller, key] = plan.state


class TooMuchToRedactError(Exception):
    """The replies of a turn hold more than can be redacted in time; the text is one clause."""


class Redaction(Protocol):
    """The port that keeps confidential values out of records."""

    def redacted(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The parts of a live journal with tokens in reads and replies; or TooMuchToRedactError. `wants` stays.

        Equal values have equal tokens. A token keeps what decisions read of its value, as far as possible. Parts
        without a confidential value come back equal.
        """
        ...


class ShadowRuns:
    """The turns of one process in their order, as its record shows them."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._states = States()

    def recordable(self, turn: LiveTurn) -> Journal:
        """A turn as the record shows it. If it raises TooMuchToRedactError, `forget` the turn."""
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
        """Drop the state of a turn that the record does not show after all."""
        self._states.leave(turn.journal.controller, turn.journal.key, None)


def _shadow_run(controller: Controller[Any], journal: Journal, state: Any) -> Journal:
    """A turn decided from its redacted journal, up to where it wants something else than the process did."""
    parts: list[Part] = []
    raised, acted = "", None
    for live, wants, error, is_answered in played(controller, journal, state):
        raised = type(error).__name__ if error is not None else ""
        parts.append(replace(live, wants=wants, reply=live.reply if is_answered else None))
        one, other = outline(live.wants), outline(wants)
        wants_another_reply = isinstance(live.wants, Step) and not is_answered
        if wants_another_reply or sorted(one) != sorted(other):
            acted = tuple(one)
    return replace(journal, parts=tuple(parts), raised=raised, acted=acted)


def outline(wants: Step[Any] | Plan | None) -> list[str]:
    """What a step or a plan asks for, a line each, without the values that it writes."""
    if wants is None:
        return ["raised"]
    actions = [_outlined(action) for action in actions_in(wants)]
    if not isinstance(wants, Plan):
        return actions or [f"awaits {type(wants).__name__}"]
    return [
        *actions,
        *(f"{event.type} event {event.reason} about {event.resource.kind} {event.key}" for event in wants.events),
        *(
            f"failure: {failure.resource.kind} {failure.key}{f': {path}' if (path := failure.problem.path) else ''}"
            for failure in wants.failures
        ),
        *([] if wants.requeue_after is None else [f"again in {wants.requeue_after:g} s"]),
    ]


def _outlined(action: Action) -> str:
    name = getattr(action, "subresource", "")
    subresource = f"/{name}" if name else ""
    where = "" if action.cluster is Cluster.TARGET else f" in the {action.cluster.value} cluster"
    verb = type(action).__name__.removeprefix("Merge").removeprefix("Json").lower()
    verb = "dry-run update of" if is_dry_run(action) else verb
    return f"{verb} {action.resource.kind}{subresource} {action.key}{where} ({action.reason})"


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that comes out differently."""

    decision: Journal | Unreadable
    summary: str
    lines: Sequence[str] = ()
    part: int = 0
    """From 1; 0: the decision as a whole."""


class Replay:
    """The decisions of one run, made again in their order."""

    def __init__(self, controllers: Mapping[str, Controller[Any]]) -> None:
        """Nothing has been replayed yet; `controllers` decide now, by name, configured as they were."""
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
            if isinstance(turn, Unreadable):
                return Difference(turn, turn.problem)
            self.skipped += 1
            return None
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
    if not isinstance(wants, Plan):
        return encoded(wants)
    value: dict[str, Any] = encoded(replace(wants, state=None))
    for name in ("events",) if wants.in_order else ("actions", "events"):
        if name in value:
            value[name] = sorted(value[name], key=canonical)
    return value


def _diff(recorded: Json, repeated: Json) -> list[str]:
    # Slow to import, and a process that records needs no difference.
    from difflib import unified_diff  # noqa: PLC0415

    texts = (json.dumps(wants, indent=2, sort_keys=True, ensure_ascii=False) for wants in (recorded, repeated))
    # A comma says only that another line follows.
    before, after = ([line.removesuffix(",") for line in text.splitlines()] for text in texts)
    return list(unified_diff(before if recorded else [], after, "recorded", "repeated", lineterm=""))
