"""The controllers that judge the objects of each ManagedResource: are they healthy, have they rolled out?

Source: managed-resources §11, §13, §14.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

from hedgerow.api.kubernetes import CORE_EVENTS, DEPLOYMENTS, PODS, REPLICA_SETS
from hedgerow.api.managed_objects import managed_kinds, object_watch
from hedgerow.api.managed_resource_status import status_patch
from hedgerow.api.managed_resources import (
    APPLYING,
    MANAGED_RESOURCES,
    RESOURCES_APPLIED,
    ClassFilter,
    class_of,
    is_ignored,
    transform_managed_resource,
)
from hedgerow.api.references import references_of
from hedgerow.machinery.clusters import ANYTHING, READ, Cluster, Permission
from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.controller import Change, Context, Controller, DynamicWatch, Watch, own_key
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, is_terminating
from hedgerow.machinery.plan import Action, Decision, Plan, failed
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.health.object_health import health_status_changed, status_condition
from hedgerow.resource_manager.health.object_progress import pod_watches, progress_changed, rolls_out
from hedgerow.resource_manager.health.verdicts import (
    HEALTHY,
    ROLLED_OUT,
    Verdict,
    concluded,
    evaluate_health,
    evaluate_progress,
    recorded,
    with_warnings,
)

DEFAULT_CONCURRENCY: Final = 5
_NOT_YET: Final = {None, ConditionStatus.PROGRESSING.value, ConditionStatus.FALSE.value}
"""The status of the condition `ResourcesApplied` while objects are not applied; none: it does not exist."""


@dataclass(frozen=True, slots=True)
class HealthConfig:
    """Which ManagedResources are judged, and when."""

    class_filter: ClassFilter = field(default_factory=ClassFilter)
    cluster_id: str = ""
    """The id of the source cluster in origins."""
    sync_period: timedelta = timedelta(minutes=1)
    """A ManagedResource is judged again after this time, even if nothing has changed."""


def health_controller(config: HealthConfig, concurrency: int = DEFAULT_CONCURRENCY) -> Controller[HealthConfig]:
    """The controller that says whether everything is healthy."""

    def watches(resource: Resource) -> tuple[Watch, ...]:
        return (object_watch(resource, config.cluster_id, health_status_changed(resource.object_kind)),)

    dynamic = DynamicWatch(managed_kinds(config.class_filter), watches)
    permissions = (Permission.of(CORE_EVENTS, "list"),)
    return _controller("health", config, concurrency, reconcile_health, dynamic=dynamic, permissions=permissions)


def progressing_controller(config: HealthConfig, concurrency: int = DEFAULT_CONCURRENCY) -> Controller[HealthConfig]:
    """The controller that says whether everything has rolled out."""

    def watches(resource: Resource) -> tuple[Watch, ...]:
        workload = object_watch(resource, config.cluster_id, progress_changed(resource.object_kind))
        return (workload, *pod_watches(config.cluster_id)) if resource == DEPLOYMENTS else (workload,)

    dynamic = DynamicWatch(managed_workloads(config.class_filter), watches)
    permissions = (Permission.of(PODS, "list", "watch"), Permission.of(REPLICA_SETS, "list", "watch"))
    return _controller(
        "health-progressing", config, concurrency, reconcile_progress, dynamic=dynamic, permissions=permissions
    )


def _controller(
    name: str,
    config: HealthConfig,
    concurrency: int,
    reconcile: Callable[[ObjectKey, Snapshot, Context[HealthConfig]], Decision],
    *,
    dynamic: DynamicWatch,
    permissions: tuple[Permission, ...],
) -> Controller[HealthConfig]:
    managed_resources = Watch(
        MANAGED_RESOURCES,
        transform_managed_resource,
        own_key,
        calls_for_judgement(config.class_filter),
        cluster=Cluster.SOURCE,
        may_be_absent=True,
    )
    return Controller(
        name=name,
        primary=MANAGED_RESOURCES,
        watches=(managed_resources,),
        indexes=(dynamic.kinds,),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        dynamic_watches=(dynamic,),
        yields_to=(APPLYING,),
        permissions=(
            Permission.of(MANAGED_RESOURCES, "patch", cluster=Cluster.SOURCE, subresource="status"),
            *permissions,
            Permission(ANYTHING, ANYTHING, READ),
        ),
    )


@cache
def managed_workloads(class_filter: ClassFilter) -> Index[Kind]:
    """The index of the ManagedResources of a class by the kinds among their objects that roll out."""
    kinds = managed_kinds(class_filter)

    def values(managed_resource: Manifest) -> set[Kind]:
        return {_as_read(kind) for kind in kinds.values(managed_resource) if rolls_out(kind)}

    return Index("kinds of managed workloads", kinds.resource, values, kinds.cluster)


def _as_read(kind: Kind) -> Kind:
    """The kind as which a workload is read, whatever version a manifest names."""
    return Kind(DEPLOYMENTS.api_version, kind.kind)


def judgeable(managed_resource: Manifest | None, config: HealthConfig) -> Manifest | Plan:
    """The ManagedResource if it is judged now; otherwise the plan, which waits until its objects are applied."""
    if managed_resource is None or is_ignored(managed_resource) or is_terminating(managed_resource):
        return Plan()
    if not config.class_filter.is_responsible(managed_resource):
        return Plan()
    waits = _applied_status(managed_resource) in _NOT_YET
    return Plan(requeue_after=config.sync_period.total_seconds()) if waits else managed_resource


def calls_for_judgement(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """The predicate of changes after which a ManagedResource may have to be judged again."""

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if new is None or is_ignored(new) or not class_filter.passes(new):
            return False
        if old is None or is_ignored(old):
            return True
        return class_of(old) != class_of(new) or _applied_status(old) != _applied_status(new)

    return passes


def _applied_status(managed_resource: Manifest) -> str | None:
    status = (status_condition(managed_resource, RESOURCES_APPLIED) or {}).get("status")
    return status if isinstance(status, str) else None


async def reconcile_health(key: ObjectKey, snapshot: Snapshot, context: Context[HealthConfig]) -> Plan:
    """Write into the status of one ManagedResource whether its objects exist and are healthy."""

    async def judge(managed_resource: Manifest) -> Verdict | Failure:
        objects = [(each.kind, each.key) for each in references_of(managed_resource)]
        verdict = await concluded(objects, snapshot, evaluate_health, HEALTHY)
        return verdict if isinstance(verdict, Failure) else await with_warnings(verdict, managed_resource)

    return await _judged(key, snapshot, context, judge)


async def reconcile_progress(key: ObjectKey, snapshot: Snapshot, context: Context[HealthConfig]) -> Plan:
    """Write into the status of one ManagedResource whether its workloads have rolled out."""

    async def judge(managed_resource: Manifest) -> Verdict | Failure:
        references = (each for each in references_of(managed_resource) if rolls_out(each.kind))
        workloads = [(_as_read(each.kind), each.key) for each in references]
        return await concluded(workloads, snapshot, evaluate_progress, ROLLED_OUT, with_pods=True)

    return await _judged(key, snapshot, context, judge)


async def _judged(
    key: ObjectKey,
    snapshot: Snapshot,
    context: Context[HealthConfig],
    judge: Callable[[Manifest], Coroutine[Any, Any, Verdict | Failure]],
) -> Plan:
    """Have one ManagedResource judged, if it is eligible, and write the verdict unless its status has it."""
    try:
        managed_resource = judgeable(snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE), context.config)
        if isinstance(managed_resource, Plan):
            return managed_resource
        verdict = await judge(managed_resource)
        if isinstance(verdict, Failure):
            return failed(verdict)
        now = await Now()
        latest = judgeable(snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE), context.config)
        if isinstance(latest, Plan):
            return latest
        return Plan(_writes(latest, verdict, now), requeue_after=context.config.sync_period.total_seconds())
    except UnreadableError as error:
        return failed(Failure(MANAGED_RESOURCES, key, error.problem))


def _writes(managed_resource: Manifest, verdict: Verdict, now: datetime) -> tuple[Action, ...]:
    """The patch of the condition, unless it says the same. Mostly it does, so it is not parsed to find out."""
    stored = status_condition(managed_resource, verdict.type) or {}
    said = (stored.get("status"), stored.get("reason"), stored.get("message"))
    if said == (verdict.status, verdict.reason, verdict.message):
        return ()
    condition = find(recorded(conditions_of(managed_resource), verdict, now), verdict.type)
    patch = None if condition is None else status_patch(managed_resource, (condition,), reason="objects-judged")
    return () if patch is None else (patch,)
