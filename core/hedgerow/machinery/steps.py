"""Steps: what a decision awaits from the outside world; and the execution that runs a decision step by step.

::

    async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
        answer = await ObjectQuestion(SECRETS, key, Cluster.TARGET)  # Found | NotAnswered
        result = await Create(SECRETS, manifest, "missing")  # a WriteResult
        return Plan(requeue_after=60)

    with Execution(reconcile(key, snapshot, context)) as execution:
        step = execution.begin()
        while isinstance(step, Step):
            step = execution.go_on(perform(step))
    # step is the end of the decision, such as a Plan

A decision is a coroutine that hands out one step at a time and receives the reply. `async def` in the core means "may
wait for a reply": there is no event loop, and the same replies lead to the same decision. A driver performs the steps:
against API servers, in memory, or from a record.

The snapshot and the time change at steps and only there. Read again after a step what the decision patches, or compares
with the reply.

Guarantees: a step is handed out once, and the next one only after its reply. Closing an execution stops the decision
where it waits, as a crash would. Starting again from the first line, in a new execution, is always allowed.
"""

from collections.abc import Coroutine, Generator, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from types import CoroutineType
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar, cast, overload

Reply_co = TypeVar("Reply_co", covariant=True)


class Step(Generic[Reply_co]):
    """An immutable value that a driver performs. Awaiting it returns the reply."""

    __slots__ = ()

    def __await__(self) -> Generator["Step[Any]", Any, Reply_co]:
        reply: Reply_co = yield self
        return reply


@dataclass(frozen=True, slots=True)
class AtOnce(Step[tuple[Reply_co, ...]]):
    """Independent steps. The driver performs all of them; the replies have the order of the steps."""

    steps: tuple[Step[Reply_co], ...]


@dataclass(frozen=True, slots=True)
class Now(Step[datetime]):
    """Returns the current time."""


@dataclass(frozen=True, slots=True)
class Pause(Step[None]):
    """Lets other keys run. A decision that computes for long pauses every few milliseconds."""

    held: int = 0
    """How many values of decoded documents the decision holds in memory until it ends."""


End = TypeVar("End")
Making: TypeAlias = Coroutine[Any, Any, End]

MOST_STEPS: Final = 10_000
"""Most decisions need a few, and one for each slice of long work: some thousands to decode Secrets."""


class EndlessDecisionError(Exception):
    """A decision took too many steps, which is a defect."""

    def __init__(self, about: object, steps: int, position: str) -> None:
        super().__init__(f"the decision about {about} has not ended after {steps} steps; it waits at {position}")


class Execution(Generic[End]):
    """One decision under way: what `reconcile` or `review` returned, its end or a coroutine that awaits steps.

    Defects name what it is `about`; a decision of more than `most_steps` has one.
    """

    __slots__ = ("_about", "_decision", "_is_waiting", "_most_steps", "_steps")

    @overload
    def __init__(self, decision: Making[End], about: object = ..., *, most_steps: int = ...) -> None: ...

    @overload
    def __init__(self, decision: End | Making[End], about: object = ..., *, most_steps: int = ...) -> None: ...

    def __init__(self, decision: End | Making[End], about: object = "a part", *, most_steps: int = MOST_STEPS) -> None:
        self._about = about
        self._decision: End | Making[End] | None = decision
        self._most_steps = most_steps
        self._steps = 0
        self._is_waiting = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def begin(self) -> Step[Any] | End:
        """The first step, or the end of a decision that needs none; RuntimeError if it has begun, or is closed."""
        if self._is_waiting:
            raise RuntimeError("the execution has begun already")
        return self._advance(None)

    def go_on(self, reply: Any) -> Step[Any] | End:
        """The next step, or the end; RuntimeError if no step waits, EndlessDecisionError if there were too many."""
        if not self._is_waiting:
            raise RuntimeError("no step waits for a reply: the execution has not begun, or has ended")
        return self._advance(reply)

    def close(self) -> None:
        """Stop the decision where it waits. Closing again does nothing."""
        decision, self._decision, self._is_waiting = self._decision, None, False
        if isinstance(decision, CoroutineType):
            decision.close()

    @property
    def position(self) -> str:
        """Where the decision waits: functions and lines, from the outermost to the innermost, for logs."""
        places: list[str] = []
        inner: Any = self._decision
        while (frame := getattr(inner, "cr_frame", None)) is not None:
            places.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
            inner = inner.cr_await
        return " > ".join(places)

    def _advance(self, reply: Any) -> Step[Any] | End:
        decision = self._decision
        if decision is None:
            raise RuntimeError("the execution has ended, or is closed")
        # What `async def` returns is of this very type, which takes a tenth of the time to find out.
        if not isinstance(decision, CoroutineType):
            self._decision = None
            return cast("End", decision)
        self._decision, self._is_waiting = None, False
        try:
            step = decision.send(reply)
        except StopIteration as end:
            value: End = end.value
            return value
        if not isinstance(step, Step):
            decision.close()
            raise TypeError(f"the decision awaits {type(step).__name__}, which is not a Step")
        self._decision, self._is_waiting = decision, True
        self._steps += 1
        if self._steps > self._most_steps:
            raise EndlessDecisionError(self._about, self._most_steps, self.position)
        return step


async def concurrently(parts: Iterable[Making[End]]) -> tuple[End, ...]:
    """The results of several coroutines that advance side by side, in their order.

    The driver gets the steps that all of them await as one step; they continue when all replies have arrived.
    """
    with ExitStack() as stack:
        executions = [stack.enter_context(Execution(part)) for part in parts]
        states = [execution.begin() for execution in executions]
        while waiting := [place for place, state in enumerate(states) if isinstance(state, Step)]:
            replies = await AtOnce(tuple(state for state in states if isinstance(state, Step)))
            for place, reply in zip(waiting, replies, strict=True):
                states[place] = executions[place].go_on(reply)
        return tuple(state for state in states if not isinstance(state, Step))
