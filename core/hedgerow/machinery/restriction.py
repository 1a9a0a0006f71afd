"""Restrict a controller to some namespaces.

Objects in other namespaces may exist although the process cannot read them. A restricted controller decides as before,
but leaves alone all objects in other namespaces, and objects whose owners are there. Source: managed-resources §3.1.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final, TypeAlias

from hedgerow.machinery.clusters import Cluster, is_visible
from hedgerow.machinery.controller import Config, Context, Controller, DynamicWatch, Watch
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import ACTIONS, Action, ApiError, Decision, Event, InOrder, Plan, RecordEvents, WriteResult
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce, Execution, Step, concurrently

_OUT_OF_SIGHT: Final = ApiError(0, "OutOfSight", "is not in a namespace that this process is configured to see")
_Own: TypeAlias = Callable[[Iterable[ObjectKey]], list[ObjectKey]]  # those keys that are within the restriction


def restricted(
    controller: Controller[Config], *, source: Collection[str] = (), target: Collection[str] = ()
) -> Controller[Config]:
    """The controller, restricted to the visible namespaces of the source and of the target cluster; none: all.

    Its keys, its owners, and all actions and events of its plans are within the restriction. A plan that would change
    an object with an owner outside has a failure instead.
    """
    if not source and not target:
        return controller
    visible, owned = {Cluster.SOURCE: tuple(source), Cluster.TARGET: tuple(target)}, controller.owned

    def admits(about: Action | Event) -> bool:
        return is_visible(about.resource, about.key, visible[about.cluster])

    def own(keys: Iterable[ObjectKey]) -> list[ObjectKey]:
        if controller.periodic:
            return list(keys)
        primary, namespaces = controller.primary, visible[controller.primary_cluster]
        return [key for key in keys if is_visible(primary, key, namespaces)]

    def limited(plan: Plan, snapshot: Snapshot) -> Plan:
        # A controller without owned objects acts by name, so it may try.
        within = [action for action in plan.actions if owned is None or admits(action)]
        thefts = [None if owned is None else _theft(action, snapshot, owned, own) for action in within]
        return replace(
            plan,
            actions=tuple(action for action, theft in zip(within, thefts, strict=True) if theft is None),
            # A periodic controller tells of what its configuration names, wherever that is.
            events=tuple(event for event in plan.events if controller.periodic or admits(event)),
            failures=(*plan.failures, *(theft for theft in thefts if theft is not None)),
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
        watches=tuple(_limited_watch(watch, own) for watch in controller.watches),
        dynamic_watches=tuple(_limited_dynamic_watch(dynamic, own) for dynamic in controller.dynamic_watches),
        owned=owned and replace(owned, values=lambda manifest: own(owned.values(manifest))),
        reconcile=reconcile,
    )


def _limited_watch(watch: Watch, own: _Own) -> Watch:
    return replace(watch, enqueue=lambda manifest, snapshot: own(watch.enqueue(manifest, snapshot)))


def _limited_dynamic_watch(dynamic: DynamicWatch, own: _Own) -> DynamicWatch:
    return replace(dynamic, watches=lambda kind: tuple(_limited_watch(watch, own) for watch in dynamic.watches(kind)))


def _theft(action: Action, snapshot: Snapshot, owned: Index[ObjectKey], own: _Own) -> Failure | None:
    """Why an action is forbidden: all owners of its object are outside the restriction."""
    if (action.resource, action.cluster) != (owned.resource, owned.cluster):
        return None
    live = snapshot.get(action.resource, action.key, action.cluster)
    owners = list(owned.values(live)) if live is not None else []
    if not owners or own(owners):
        return None
    problem = f"belongs to {min(owners)}, which is in a namespace that is not looked after here"
    # No event enqueues this key when the other owner lets go.
    return Failure(action.resource, action.key, Problem("", problem), retryable=True)


async def _limited(decision: Decision, limited: Callable[[Plan], Plan]) -> Plan:
    """A decision whose steps and plan are restricted. A forbidden action is not performed; its result is an error."""
    failures: list[Failure] = []

    def is_allowed(action: Action) -> bool:
        plan = limited(Plan((action,)))
        failures.extend(plan.failures)
        return not plan.is_empty

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

    with Execution(decision) as execution:
        state = execution.begin()
        while isinstance(state, Step):
            state = execution.go_on(await reply(state))
    plan = limited(state)
    return replace(plan, failures=(*plan.failures, *failures))
