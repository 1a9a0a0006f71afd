"""Segments: what a record holds of a decision, from one step that is worth a line to the next.

A segment holds the replies, what the decision read, and what it wanted then: a step, or its plan. Steps that say
nothing about the world, such as the time, are part of the segment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import ACTIONS, InOrder, Plan, RecordEvents, WriteResult
from hedgerow.machinery.questions import KindQuestion, ListQuestion, ObjectQuestion
from hedgerow.machinery.recording.codec import Json, UnrecordableError, encoded
from hedgerow.machinery.recording.confidential import Disguise
from hedgerow.machinery.recording.plans import comparable, differences
from hedgerow.machinery.recording.reads import NotReadError, Reads, RecordedSnapshot
from hedgerow.machinery.steps import AtOnce, Now, Pause, Step


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a decision, as the record may show it."""

    controller: str
    key: ObjectKey
    turn: int
    """Counts the turns of a run, from 1."""
    number: int
    """Of the segment in its turn, from 0."""
    now: datetime
    """When the turn began."""
    jitter: float
    server_versions: frozenset[str]
    memory: object
    """What the turn was told of the key's last one; none beyond its first segment."""
    remembers_as_before: bool
    """True if the last recorded turn of the key had the same memory. The record does not repeat it then."""
    reads: Reads
    replies: Sequence[Any]
    """To the step that the last segment ended with, and to the steps within this one."""
    wants: Json
    """The step, or the plan in the form of `comparable`; none if the decision raised."""
    raised: str = ""
    """The type of the exception; empty where there is something wanted."""
    acted: Sequence[str] | None = None
    """Outline of what the process wanted, where that is something else."""


def is_minor(step: Step[Any] | Plan, reads: Reads) -> bool:
    """True if a step needs no segment of its own: nothing that was read before it may look different after it."""
    match step:
        case Now():
            return True
        case Pause() | KindQuestion():
            return not reads
        case AtOnce(steps):
            return all(is_minor(each, reads) for each in steps)
        case _:
            return False


def wanted(state: Step[Any] | Plan) -> Json:
    """A step or a plan as a record holds it.

    Raises:
        UnrecordableError: something in it is of a type that no record can hold.
    """
    return comparable(state) if isinstance(state, Plan) else encoded(state)


def is_reply_to_both(one: Step[Any] | Plan, other: Step[Any] | Plan) -> bool:
    """True if the reply to one step is a reply to another: the same is asked, or written to the same objects."""
    match one, other:
        case (AtOnce(steps), AtOnce(others)) | (InOrder(steps), InOrder(others)):
            return len(steps) == len(others) and all(map(is_reply_to_both, steps, others))
        case (Plan(), Plan()) | (RecordEvents(), RecordEvents()) | (Pause(), Pause()):
            return True
        case _ if isinstance(one, ACTIONS) and type(one) is type(other):
            names = ("resource", "key", "cluster", "reason", "subresource", "dry_run")
            return all(getattr(one, name, None) == getattr(other, name, None) for name in names)
        case _:
            return one == other


def shown(step: Step[Any], reply: Any, disguise: Disguise) -> Any:
    """What a record may show of the reply to a step."""
    match step:
        case AtOnce(steps):
            return tuple(shown(each, one, disguise) for each, one in zip(steps, reply, strict=True))
        case InOrder():
            return tuple(map(disguise.outcome, reply))
        case ObjectQuestion() | ListQuestion():
            return disguise.answer(step, reply)
        case _:
            return disguise.outcome(reply) if isinstance(reply, WriteResult) else reply


class Playback:
    """One recorded turn, decided again segment by segment."""

    def __init__(self, controller: Controller[Any], first: Segment, memory: object) -> None:
        """A turn that has not begun.

        Args:
            controller: decides now.
            first: the first segment of the turn.
            memory: what the turn was told.
        """
        self._snapshot = RecordedSnapshot({})
        self._controller = controller
        self._key = first.key
        self._context = Context(
            first.now,
            controller.config,
            state=memory,
            jitter=first.jitter,
            server_versions=first.server_versions,
        )
        self._execution: Execution[Plan] | None = None

    def played(self, segment: Segment) -> tuple[str, Sequence[str]] | None:
        """In what a segment comes out differently; none if it is the same."""
        self._snapshot.reads = segment.reads
        try:
            state = self._advanced(segment.replies)
            repeated = wanted(state)
        except NotReadError as error:
            return str(error), ()
        except UnrecordableError as error:
            return f"comes to what cannot be compared: {error}", ()
        except Exception as error:  # noqa: BLE001 -- a defect of the decision is a difference
            raised = type(error).__name__
            return None if raised == segment.raised else (f"raises {raised}: {error}", ())
        name = "plan" if isinstance(state, Plan) else "step"
        if segment.raised:
            return f"has a {name} and raised {segment.raised} then", differences(None, repeated)
        if segment.wants == repeated:
            return None
        return f"has another {name}", differences(segment.wants, repeated)

    def _advanced(self, replies: Sequence[Any]) -> Step[Any] | Plan:
        """What the decision wants after some replies, or sooner if it wants something else than was recorded."""
        left = iter(replies)
        if self._execution is None:
            decision = self._controller.reconcile(self._key, self._snapshot, self._context)
            self._execution = Execution(decision, self._key)
            state = self._execution.begin()
        else:
            state = self._execution.go_on(next(left))
        for reply in left:
            if not is_minor(state, {}):
                return state
            state = self._execution.go_on(reply)
        return state

    def close(self) -> None:
        """Stop the decision where it waits."""
        if self._execution is not None:
            self._execution.close()
