"""Journal: what one decision read, asked and was told, and how it ended.

The journal of a live decision is references to values that nobody changes; it is written down elsewhere, later.

A part of it ends with a step, or with the end of the decision. The time, and pauses, are no steps of a journal: they
say nothing about the world. A part holds the times that the decision was told. What a decision looks up again after a
pause may have changed; the part holds the latest answers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import ACTIONS, ApiError, InOrder, Plan, RecordEvents, WriteResult, actions_in
from hedgerow.machinery.questions import Found
from hedgerow.machinery.recording.lookups import NotingSnapshot, Reads
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce, Now, Pause, Step

_BYTES: Final = 4000
"""Of an object in memory, about."""


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a write without the write: whoever makes the decision again knows what it has asked."""

    stored: Manifest | None
    error: ApiError | None


@dataclass(frozen=True, slots=True)
class Part:
    """What a decision read, then wanted, and was told."""

    reads: Reads = field(default_factory=dict)
    times: tuple[datetime, ...] = ()
    """The replies to `Now`, in their order."""
    wants: Step[Any] | Plan | None = None
    """None: the decision raised."""
    reply: Any = None
    """Results of writes as `Told`; none for a plan, and for a step at which the decision was stopped."""


@dataclass(frozen=True, slots=True)
class Journal:
    """One decision."""

    controller: str
    key: ObjectKey
    now: datetime
    """When it began."""
    jitter: float = 0.0
    server_versions: tuple[str, ...] = ()
    has_state: bool = False
    """True if it was told the state that the last turn of its key has left."""
    parts: tuple[Part, ...] = ()
    raised: str = ""
    """The type of the exception that ended it."""
    turn: int = 0
    """Counts the turns of a run, from 1."""
    acted: tuple[str, ...] | None = None
    """Of a shadow run: an outline of what the process wanted at the end of the last part, if that is something else."""

    @property
    def weight(self) -> int:
        """About how many bytes its replies and writes hold in memory; caches mostly share what was read."""
        return sum(_BYTES + _bytes_of(part.reply) + _bytes_of(part.wants) for part in self.parts)

    @property
    def end(self) -> Plan | None:
        """The plan that the decision came to, if any."""
        last = self.parts[-1].wants if self.parts else None
        return last if isinstance(last, Plan) else None


def _bytes_of(value: Any) -> int:
    """Of the objects in a reply, or in what a decision wants; the data of Secrets and ConfigMaps count by length."""
    match value:
        case tuple():
            return sum(map(_bytes_of, value))
        case Found(objects):
            return sum(map(_bytes_of, objects))
        case Told(stored):
            return _bytes_of(stored)
        case Step() | Plan():
            return sum(_bytes_of(getattr(action, "manifest", None)) for action in actions_in(value))
        case Mapping():
            data = value.get("data")
            texts = data.values() if isinstance(data, Mapping) else ()
            return _BYTES + sum(len(text) for text in texts if isinstance(text, str))
        case _:
            return 0


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A decision that could not be recorded."""

    controller: str
    key: ObjectKey
    turn: int
    problem: str


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """The journal of a live decision, and what it takes to make the decision again."""

    controller: Controller[Any]
    state: Any
    """What the decision was told of the last turn of its key."""
    journal: Journal
    has_moved: bool
    """True if something changed while the decision paused, so that its journal cannot tell when it saw what."""


def noted(reply: Any) -> Any:
    """A reply without the step that it answers."""
    if isinstance(reply, WriteResult):
        return Told(reply.stored, reply.error)
    if type(reply) is tuple:
        return tuple(map(noted, reply))
    return reply


def replied(step: Step[Any], reply: Any) -> Any:
    """The reply to a step, from a noted one."""
    match step:
        case AtOnce(steps):
            return tuple(replied(each, one) for each, one in zip(steps, reply, strict=True))
        case InOrder(actions):
            # What follows a refused action has no result.
            return tuple(replied(each, one) for each, one in zip(actions, reply, strict=False))
        case _ if isinstance(step, ACTIONS):
            return WriteResult(step, reply.stored, reply.error)
        case _:
            return reply


def has_same_reply(one: Step[Any] | Plan | None, other: Step[Any] | Plan | None) -> bool:
    """True if the reply to one step is a reply to the other: both ask the same, or write to the same objects."""
    match one, other:
        case (AtOnce(steps), AtOnce(others)) | (InOrder(steps), InOrder(others)):
            return len(steps) == len(others) and all(map(has_same_reply, steps, others))
        case (Plan(), Plan()) | (RecordEvents(), RecordEvents()) | (Pause(), Pause()):
            return True
        case _ if isinstance(one, ACTIONS) and type(one) is type(other):
            names = ("resource", "key", "cluster", "reason", "subresource", "dry_run")
            return all(getattr(one, name, None) == getattr(other, name, None) for name in names)
        case _:
            return one == other


async def decision(controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
    """The decision of a controller, always as a coroutine."""
    made = controller.reconcile(key, snapshot, context)
    return made if isinstance(made, Plan) else await made


async def journaled(
    controller: Controller[Any],
    key: ObjectKey,
    snapshot: Snapshot,
    context: Context[Any],
    keep: Callable[[LiveTurn], None],
) -> Plan:
    """The plan of a decision, whose journal is kept: also if the decision raises, or is stopped at a step."""
    notes = NotingSnapshot(snapshot)
    parts: list[Part] = []
    times: list[datetime] = []
    wants: Step[Any] | Plan | None = None
    raised = ""
    try:
        with Execution(decision(controller, key, notes, context), key) as execution:
            wants = execution.begin()
            while isinstance(wants, Step):
                reply = await wants
                if isinstance(wants, Now):
                    times.append(reply)
                elif not isinstance(wants, Pause):
                    parts.append(Part(notes.reads, tuple(times), wants, noted(reply)))
                    notes.reads, times = {}, []
                wants = execution.go_on(reply)
            return wants
    except Exception as error:
        wants, raised = None, type(error).__name__
        raise
    finally:
        if not isinstance(wants, Now | Pause):
            parts.append(Part(notes.reads, tuple(times), wants))
        journal = Journal(
            controller.name,
            key,
            context.now,
            context.jitter,
            tuple(sorted(context.server_versions)),
            has_state=context.state is not None,
            parts=tuple(parts),
            raised=raised,
        )
        keep(LiveTurn(controller, context.state, journal, notes.has_moved))
