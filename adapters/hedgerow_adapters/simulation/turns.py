"""Runs the decision about a key without an event loop, and tells everything that it asks for.

For commands that show what would be done where nothing may be, such as `hedgerow plan` for a live cluster. The actions
of steps are carried out in surroundings, as the decision builds on them.

The actions of the plan come last. They are not carried out, as nothing builds on them.
"""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import (
    Action,
    ApiError,
    Event,
    Plan,
    WriteResult,
    is_dry_run,
)
from hedgerow.machinery.questions import Answer, Found, KindQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Pause, Step
from hedgerow_adapters.runtime.steps import Driver, reply_to
from hedgerow_adapters.simulation.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class DecidedStep:
    """One action of a turn."""

    action: Action
    before: Manifest | None
    """The whole object as it was; none if it did not exist, and for a deletion of many."""
    is_last: bool = False
    """Whether the plan asks for it, so that it was not tried."""
    error: ApiError | None = None
    """Why it was not carried out, where it was tried."""

    @property
    def is_done(self) -> bool:
        """Whether it was tried, and carried out."""
        return not self.is_last and self.error is None


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything that one turn of a key asks for."""

    steps: tuple[DecidedStep, ...]
    """All actions in their order, those of the plan included; without dry runs, and without those that a refusal kept
    from being tried, as their step has them in order."""
    plan: Plan
    events: tuple[Event, ...] = ()
    """Those of all steps, and of the plan."""


def decided(
    controller: Controller[Any],
    key: ObjectKey,
    snapshot: Snapshot,
    now: datetime,
    surroundings: Surroundings,
) -> Decision:
    """Everything that the decision about a key asks for; its steps are performed.

    Args:
        controller: who decides.
        key: about what.
        snapshot: the world as the controller watches it; it need not show what the turn itself writes.
        now: the time at which all of it happens.
        surroundings: where questions are answered, kinds looked up and actions carried out.

    Raises:
        EndlessDecisionError: the decision goes on and on.
    """
    steps: list[DecidedStep] = []
    events: list[Event] = []

    def carry_out(action: Action) -> WriteResult:
        before = _live(action, surroundings)
        outcome = surroundings.carry_out(action)
        if not is_dry_run(action):
            steps.append(DecidedStep(action, before, error=outcome.error))
        return outcome

    context = Context(now, controller.config, looks_once=True)
    with Execution(controller.reconcile(key, snapshot, context), key) as execution:
        state = execution.begin()
        while isinstance(state, Step):
            state = execution.go_on(performed(state, surroundings, lambda: now, carry_out, events.extend))
    steps += (DecidedStep(action, _live(action, surroundings), is_last=True) for action in state.actions)
    return Decision(tuple(steps), state, (*events, *state.events))


def performed(
    step: Step[Any],
    surroundings: Surroundings,
    now: Callable[[], datetime],
    carry_out: Callable[[Action], WriteResult] | None = None,
    record: Callable[[Sequence[Event]], None] = lambda _events: None,
) -> Any:
    """The reply to a step.

    Args:
        step: what a decision awaits.
        surroundings: where questions are answered, kinds looked up and actions carried out.
        now: the time.
        carry_out: carries an action out; none: the surroundings do.
        record: records events.
    """
    one = carry_out or surroundings.carry_out

    async def ask(question: Question) -> Answer:
        return surroundings.answer(question)

    async def look_up(questions: Sequence[KindQuestion]) -> list[Resource | NotAnswered]:
        return [surroundings.look_up(question.kind, question.cluster) for question in questions]

    async def carry_out_all(actions: Sequence[Action], *, in_order: bool = False) -> list[WriteResult]:
        outcomes = map(one, actions)
        return [*(_until_refused(outcomes) if in_order else outcomes)]

    driver = Driver(ask, look_up, carry_out_all, record, now, _no_pause, _one_by_one)
    return _ended(reply_to(step, driver))


async def _no_pause(_step: Pause) -> None:
    """Nobody else waits."""


async def _one_by_one(work: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    try:
        return [await each for each in work]
    finally:
        for each in work:
            each.close()


def _ended(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of what has to wait for nothing."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("a simulation waits for nothing")


def _until_refused(outcomes: Iterable[WriteResult]) -> Iterator[WriteResult]:
    for outcome in outcomes:
        yield outcome
        if outcome.error is not None:
            return


def _live(action: Action, surroundings: Surroundings) -> Manifest | None:
    """The object that an action concerns, as it is."""
    answer = surroundings.answer(ObjectQuestion(action.resource, action.key, action.cluster))
    return answer.objects[0] if isinstance(answer, Found) else None
