"""Decisions, driven in tests."""

from collections.abc import Callable, Sequence
from typing import Any

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Decision, Plan
from hedgerow.machinery.questions import ListQuestion, ObjectQuestion, Question
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Snapshot, Value
from hedgerow.machinery.steps import AtOnce, Step


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
