"""Playback: a decision made again from its journal, part by part.

Whatever the decision looks up, asks and is told comes from the journal. It may pause as often as it likes. If it asks
for the time more often than the journal tells it, it gets the last time again.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.journal import Journal, Part, decision, has_same_reply, replied
from hedgerow.machinery.recording.lookups import NotedSnapshot
from hedgerow.machinery.steps import Now, Pause, Step


class Played(NamedTuple):
    """What a decision wants at the end of a part."""

    part: Part
    wants: Step[Any] | Plan | None
    error: Exception | None
    """Why it wants nothing."""
    goes_on: bool
    """False if it cannot be told what the journal holds after the part: it wants something else."""


def played(controller: Controller[Any], journal: Journal, state: Any) -> Iterator[Played]:
    """A decision made again, up to its end or to where it wants something else.

    Args:
        controller: decides.
        journal: what it is told.
        state: what the last turn of the key has left.
    """
    snapshot = NotedSnapshot({})
    context = Context(
        journal.now,
        controller.config,
        state=state,
        jitter=journal.jitter,
        server_versions=frozenset(journal.server_versions),
    )
    now = journal.now
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
                yield Played(part, None, error, goes_on=part.wants is None)
                return
            goes_on = has_same_reply(part.wants, wants)
            yield Played(part, wants, None, goes_on)
            if not goes_on:
                return
            reply = part.reply


class States:
    """What the last turn of each key has left, by controller and key."""

    def __init__(self) -> None:
        """No turn yet."""
        self._states: dict[tuple[str, ObjectKey], Any] = {}

    def of(self, journal: Journal) -> Any:
        """What a decision is told; none if that is nothing, or unknown."""
        return self._states.get((journal.controller, journal.key)) if journal.has_state else None

    def leave(self, controller: str, key: ObjectKey, plan: Plan | None) -> None:
        """A turn has ended with a plan; none: nobody knows what it leaves. One that raises leaves what there was."""
        if plan is None or plan.state is None:
            self._states.pop((controller, key), None)
        else:
            self._states[controller, key] = plan.state
