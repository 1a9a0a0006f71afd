"""Playback: a decision made again from its journal, part by part.

Whatever the decision looks up, asks and is told comes from the journal. It may pause as often as it likes. If it asks
for the time more often than the journal tells it, it gets the last time again.
"""

from types import TracebackType
from typing import Any, Self

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.journal import Journal, Part, decision
from hedgerow.machinery.recording.lookups import NotedSnapshot
from hedgerow.machinery.recording.replies import replied
from hedgerow.machinery.steps import Now, Pause, Step


class Playback:
    """One decision under way."""

    def __init__(self, controller: Controller[Any], journal: Journal, state: Any) -> None:
        """A decision that has not begun.

        Args:
            controller: decides.
            journal: what it is told; its parts are given one by one.
            state: what the last turn of the key has left.
        """
        self._snapshot = NotedSnapshot({})
        context = Context(
            journal.now,
            controller.config,
            state=state,
            jitter=journal.jitter,
            server_versions=journal.server_versions,
        )
        self._execution = Execution(decision(controller, journal.key, self._snapshot, context), journal.key)
        self._now = journal.now
        self._waits_for: Step[Any] | None = None

    def __enter__(self) -> Self:
        """The playback itself."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        """Stop the decision where it waits."""
        self._execution.close()

    def advanced(self, part: Part, reply: Any) -> Step[Any] | Plan:
        """What the decision wants at the end of a part.

        Args:
            part: what it is told on the way.
            reply: the noted reply to the last step; ignored at the beginning.

        Raises:
            NotReadError: it looks up what the journal does not hold.
            Exception: it has a defect.
        """
        self._snapshot.reads = part.reads
        times = iter(part.times)
        go_on, waits_for = self._execution.go_on, self._waits_for
        wants = self._execution.begin() if waits_for is None else go_on(replied(waits_for, reply))
        while isinstance(wants, Now | Pause):
            if isinstance(wants, Now):
                self._now = next(times, self._now)
            wants = go_on(self._now if isinstance(wants, Now) else None)
        self._waits_for = wants if isinstance(wants, Step) else None
        return wants


class States:
    """What the last turn of each key has left, by controller and key."""

    def __init__(self) -> None:
        """No turn yet."""
        self._states: dict[tuple[str, ObjectKey], Any] = {}

    def of(self, controller: str, key: ObjectKey) -> Any:
        """What the next turn of a key is told; none if that is unknown, or nothing."""
        return self._states.get((controller, key))

    def leave(self, controller: str, key: ObjectKey, plan: Plan) -> None:
        """A turn has ended with a plan. One that raises, or is stopped, leaves what there was."""
        if plan.state is None:
            self.forget(controller, key)
        else:
            self._states[controller, key] = plan.state

    def forget(self, controller: str, key: ObjectKey) -> None:
        """Nobody knows what a turn has left."""
        self._states.pop((controller, key), None)
