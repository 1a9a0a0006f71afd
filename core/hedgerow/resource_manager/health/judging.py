"""One look at a ManagedResource: whether it is its turn, what to say of it, and how that gets into its status.

Source: managed-resources §11.2, §13.
"""

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Final

from hedgerow.api.managed_resource_status import status_patch
from hedgerow.api.managed_resources import MANAGED_RESOURCES, ClassFilter, kept_of_managed_resource
from hedgerow.api.origins import managed_resource_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import conditions_of, find
from hedgerow.machinery.controller import Context, Watch, own_key
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Action, Plan, failed
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.health.checks import status_condition
from hedgerow.resource_manager.health.config import HealthConfig
from hedgerow.resource_manager.health.eligibility import Turn, calls_for_judgement, turn_of
from hedgerow.resource_manager.health.verdicts import Verdict, recorded

_REASON: Final = "objects-judged"


def managed_resource_watch(class_filter: ClassFilter) -> Watch:
    """The watch of ManagedResources, which lets pass what may call for another look."""
    return Watch(
        MANAGED_RESOURCES,
        kept_of_managed_resource,
        own_key,
        calls_for_judgement(class_filter),
        cluster=Cluster.SOURCE,
        may_be_absent=True,
    )


def by_origin(cluster_id: str) -> Callable[[Manifest, Snapshot], tuple[ObjectKey, ...]]:
    """The mapping of live objects to the ManagedResources of a cluster that they say they come from."""

    def keys(live: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        found = managed_resource_of(live, cluster_id)
        return () if found is None else (found,)

    return keys


async def judged(
    key: ObjectKey,
    snapshot: Snapshot,
    context: Context[HealthConfig],
    judge: Callable[[Manifest], Coroutine[Any, Any, Verdict | DomainFailure]],
) -> Plan:
    """Have one ManagedResource judged, and its status say so if it does not yet.

    Args:
        key: which one.
        snapshot: the world as it is at hand.
        context: configuration and time.
        judge: what to say of it, or why that cannot be found out.
    """
    managed_resource = _judgeable(key, snapshot, context.config)
    if isinstance(managed_resource, Plan):
        return managed_resource
    verdict = await judge(managed_resource)
    if isinstance(verdict, DomainFailure):
        return failed(verdict)
    now = await Now()
    latest = _judgeable(key, snapshot, context.config)
    if isinstance(latest, Plan):
        return latest
    return Plan(_writes(latest, verdict, now), requeue_after=context.config.sync_period.total_seconds())


def _judgeable(key: ObjectKey, snapshot: Snapshot, config: HealthConfig) -> Manifest | Plan:
    """The ManagedResource, or the plan that leaves it alone or waits."""
    managed_resource = snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE)
    if managed_resource is None:
        return Plan()
    match turn_of(managed_resource, config.class_filter):
        case Turn.LEAVE:
            return Plan()
        case Turn.WAIT:
            return Plan(requeue_after=config.sync_period.total_seconds())
        case Turn.JUDGE:
            return managed_resource


def _writes(managed_resource: Manifest, verdict: Verdict, now: datetime) -> tuple[Action, ...]:
    """The one patch that makes the condition say what the verdict says; none if it does."""
    if _is_said(managed_resource, verdict):
        return ()
    said = recorded(conditions_of(managed_resource), verdict, now)
    condition = find(said, verdict.type)
    patch = None if condition is None else status_patch(managed_resource, (condition,), reason=_REASON)
    return () if patch is None else (patch,)


def _is_said(managed_resource: Manifest, verdict: Verdict) -> bool:
    """Whether the stored condition says it already; it is not parsed for that, as it mostly does."""
    stored = status_condition(managed_resource, verdict.type) or {}
    said = (stored.get("status"), stored.get("reason"), stored.get("message"))
    return said == (verdict.status, verdict.reason, verdict.message)
