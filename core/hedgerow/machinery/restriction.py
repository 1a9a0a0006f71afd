"""Restrict a controller to some namespaces.

Objects in other namespaces may exist although the process cannot read them. A restricted controller decides as before,
but leaves alone all objects in other namespaces, and all objects whose owners are there.

Source: managed-resources §3.1.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final

from hedgerow.machinery.clusters import Cluster, is_visible
from hedgerow.machinery.controller import Config, Context, Controller, DynamicWatch, Watch
from hedgerow.machinery.execution import Execution, concurrently
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import (
    ACTIONS,
    Action,
    ApiError,
    Decision,
    InOrder,
    Plan,
    RecordEvents,
    WriteResult,
)
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce, Step

_OUT_OF_SIGHT: Final = ApiError(0, "OutOfSight", "is not in a namespace that this process is configured to see")


@dataclass(frozen=True, slots=True)
class Restriction:
    """The visible namespaces of each cluster; none: all."""

    source: tuple[str, ...]
    target: tuple[str, ...]

    def admits(self, resource: Resource, key: ObjectKey, cluster: Cluster) -> bool:
        """True if an object of a cluster is visible."""
        namespaces = self.target if cluster is Cluster.TARGET else self.source
        return is_visible(resource, key, namespaces)


def restricted(
    controller: Controller[Config], *, source: Collection[str] = (), target: Collection[str] = ()
) -> Controller[Config]:
    """The controller, restricted: it leaves alone objects in other namespaces, and objects with owners there.

    Its keys, its owners, and all actions and events of its plans are within the restriction. A plan that would change
    an object with an owner outside has a failure instead.
    """
    if not source and not target:
        return controller
    restriction = Restriction(tuple(source), tuple(target))

    def own(keys: Iterable[ObjectKey]) -> list[ObjectKey]:
        if controller.periodic:
            return list(keys)
        return [key for key in keys if restriction.admits(controller.primary, key, controller.primary_cluster)]

    def limited(plan: Plan, snapshot: Snapshot) -> Plan:
        within = [action for action in plan.actions if _is_let(action, restriction, controller.owned)]
        judged = [(action, _theft(action, snapshot, controller.owned, own)) for action in within]
        return replace(
            plan,
            actions=tuple(action for action, theft in judged if theft is None),
            events=tuple(
                event for event in plan.events if restriction.admits(event.resource, event.key, event.cluster)
            ),
            failures=(*plan.failures, *(theft for _, theft in judged if theft is not None)),
        )

    def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Config]) -> Plan | Decision:
        if not own([key]):
            return Plan()
        decision = controller.reconcile(key, snapshot, context)
        if isinstance(decision, Plan):
            return limited(decision, snapshot)
        return _limited(decision, lambda plan: limited(plan, snapshot))

    return replace(
        controller,
        watches=tuple(_within(watch, own) for watch in controller.watches),
        dynamic_watches=tuple(_dynamic_watch_within(dynamic, own) for dynamic in controller.dynamic_watches),
        owned=controller.owned and _owned_within(controller.owned, own),
        reconcile=reconcile,
    )


async def _limited(decision: Decision, limited: Callable[[Plan], Plan]) -> Plan:
    """A decision whose steps and plan are restricted. A forbidden action is not performed; its result is an error."""
    failures: list[Failure] = []

    async def reply(step: Step[Any]) -> Any:
        match step:
            case AtOnce(steps):
                return await concurrently(map(reply, steps))
            case InOrder(actions):
                allowed = tuple(takewhile(is_allowed, actions))
                results = await InOrder(allowed)
                if len(allowed) == len(actions) or any(result.error is not None for result in results):
                    return results
                return (*results, WriteResult(actions[len(allowed)], error=_OUT_OF_SIGHT))
            case RecordEvents(events):
                return await RecordEvents(limited(Plan(events=events)).events)
            case _ if isinstance(step, ACTIONS) and not is_allowed(step):
                return WriteResult(step, error=_OUT_OF_SIGHT)
            case _:
                return await step

    def is_allowed(action: Action) -> bool:
        plan = limited(Plan((action,)))
        failures.extend(plan.failures)
        return not plan.is_empty

    with Execution(decision) as execution:
        state = execution.begin()
        while isinstance(state, Step):
            state = execution.go_on(await reply(state))
    plan = limited(state)
    return replace(plan, failures=(*plan.failures, *failures))


def _is_let(action: Action, restriction: Restriction, owned: Index[ObjectKey] | None) -> bool:
    """True if an action is within the restriction. A controller without owned objects acts by name, so it may try."""
    return owned is None or restriction.admits(action.resource, action.key, action.cluster)


def _owned_within(owned: Index[ObjectKey], own: Callable[[Iterable[ObjectKey]], list[ObjectKey]]) -> Index[ObjectKey]:
    return replace(owned, values=lambda manifest: own(owned.values(manifest)))


def _dynamic_watch_within(dynamic: DynamicWatch, own: Callable[[Iterable[ObjectKey]], list[ObjectKey]]) -> DynamicWatch:
    return replace(dynamic, watches=lambda resource: tuple(_within(watch, own) for watch in dynamic.watches(resource)))


def _within(watch: Watch, own: Callable[[Iterable[ObjectKey]], list[ObjectKey]]) -> Watch:
    return replace(watch, enqueue=lambda manifest, snapshot: own(watch.enqueue(manifest, snapshot)))


def _theft(
    action: Action,
    snapshot: Snapshot,
    owned: Index[ObjectKey] | None,
    own: Callable[[Iterable[ObjectKey]], list[ObjectKey]],
) -> Failure | None:
    """Why an action is forbidden: all owners of its object are outside the restriction."""
    if owned is None or (action.resource, action.cluster) != (owned.resource, owned.cluster):
        return None
    live = snapshot.get(action.resource, action.key, action.cluster)
    owners = list(owned.values(live)) if live is not None else []
    if not owners or own(owners):
        return None
    problem = f"belongs to {min(owners)}, which is in a namespace that is not looked after here"
    # Nothing tells this key when the other lets go.
    return Failure(action.resource, action.key, Problem("", problem), retryable=True)
