"""Decisions, driven in tests."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Protocol

from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Action, Decision, Event, Plan, WriteResult
from hedgerow.machinery.questions import Answer, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Snapshot, Value
from hedgerow.machinery.steps import AtOnce, Execution, Pause, Step
from hedgerow_adapters.runtime.steps import Driver, reply_to


class Surroundings(Protocol):
    """What a decision finds out, and where its writes go."""

    def answer(self, question: Question) -> Answer:
        """What there is now, everything included that was carried out."""
        ...

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        """As which resource a cluster serves a kind."""
        ...

    def carry_out(self, action: Action) -> WriteResult:
        """What becomes of an action."""
        ...


def plan_of(decision: Plan | Decision) -> Plan:
    """The plan of a decision that awaits nothing."""
    with Execution(decision, "a key") as execution:
        plan = execution.begin()
    assert isinstance(plan, Plan), plan
    return plan


def executed(decision: Plan | Decision, perform: Callable[[Step[Any]], Any]) -> tuple[Plan, list[Step[Any]]]:
    """The plan of a decision, and the steps on the way to it."""
    steps: list[Step[Any]] = []
    with Execution(decision, "a key") as execution:
        state = execution.begin()
        while isinstance(state, Step):
            steps.append(state)
            state = execution.go_on(perform(state))
    return state, steps


def no_chart(_step: RenderChart) -> RenderedChart:
    """The reply to a chart where there is no renderer."""
    return RenderError("unavailable", "no charts are rendered here")


def performed(
    step: Step[Any],
    surroundings: Surroundings,
    now: Callable[[], datetime],
    carry_out: Callable[[Action], WriteResult] | None = None,
    record: Callable[[Sequence[Event]], None] = lambda _events: None,
    *,
    render: Callable[[RenderChart], RenderedChart] = no_chart,
) -> Any:
    """The reply to a step.

    Args:
        step: what a decision awaits.
        surroundings: where questions are answered, kinds looked up and actions carried out.
        now: the time.
        carry_out: carries an action out; none: the surroundings do.
        record: records events.
        render: renders a chart.
    """
    one = carry_out or surroundings.carry_out

    async def ask(question: Question) -> Answer:
        return surroundings.answer(question)

    async def look_up(questions: Sequence[KindQuestion]) -> list[Resource | NotAnswered]:
        return [surroundings.look_up(question.kind, question.cluster) for question in questions]

    async def carry_out_all(actions: Sequence[Action], *, in_order: bool = False) -> list[WriteResult]:
        outcomes = map(one, actions)
        return [*(_until_refused(outcomes) if in_order else outcomes)]

    async def render_one(step: RenderChart) -> RenderedChart:
        return render(step)

    driver = Driver(ask, look_up, carry_out_all, record, now, _no_pause, render_one, _one_by_one)
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


def questions_in(step: Step[Any]) -> list[Question]:
    """All questions of a step."""
    match step:
        case AtOnce(steps):
            return [question for each in steps for question in questions_in(each)]
        case ObjectQuestion() | ListQuestion():
            return [step]
        case _:
            return []


class LiveSnapshot:
    """A snapshot that shows at each step what there is by then."""

    def __init__(self, make: Callable[[], Snapshot]) -> None:
        self._make = make
        self._latest = make()

    def advance(self) -> None:
        self._latest = self._make()

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        return self._latest.get(resource, key, cluster)

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        return self._latest.has_synced(resource, cluster)

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        return self._latest.list(resource, namespace=namespace, selector=selector, cluster=cluster)

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        return self._latest.by_index(index, value)
