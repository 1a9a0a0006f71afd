"""The controller that says whether everything has rolled out that a ManagedResource delivers, declared.

Source: managed-resources §13.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

from hedgerow.api.kubernetes import DEPLOYMENTS, PODS, REPLICA_SETS
from hedgerow.api.managed_objects import followed, managed_kinds
from hedgerow.api.managed_resources import APPLYING, MANAGED_RESOURCES, ClassFilter
from hedgerow.api.references import references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Follow, Watch
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.machinery.permissions import ANYTHING, READ, Permission
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.health.changes import progress_changed
from hedgerow.resource_manager.health.config import HealthConfig
from hedgerow.resource_manager.health.judging import by_origin, judged, managed_resource_watch
from hedgerow.resource_manager.health.looking import concluded
from hedgerow.resource_manager.health.object_progress import rolls_out
from hedgerow.resource_manager.health.pods import pod_watches
from hedgerow.resource_manager.health.verdicts import ROLLED_OUT, Verdict, evaluate_progress

NAME: Final = "health-progressing"
DEFAULT_CONCURRENCY: Final = 5

_READ_AS: Final = DEPLOYMENTS.api_version


def progressing_controller(config: HealthConfig, concurrency: int = DEFAULT_CONCURRENCY) -> Controller[HealthConfig]:
    """The controller for a configuration.

    Args:
        config: whose ManagedResources are judged, and how often.
        concurrency: how many of them at once.
    """
    workloads = managed_workloads(config.class_filter)

    def watches(resource: Resource) -> tuple[Watch, ...]:
        # Pods that come and go are watched, so a change of the object itself is judged without counting them.
        changed = progress_changed(resource.object_kind, lambda _deployment: None)
        workload = followed(resource, by_origin(config.cluster_id), changed)
        return (workload, *pod_watches(config.cluster_id)) if resource == DEPLOYMENTS else (workload,)

    return Controller(
        name=NAME,
        primary=MANAGED_RESOURCES,
        watches=(managed_resource_watch(config.class_filter),),
        indexes=(workloads,),
        owned=None,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        follows=(Follow(workloads, watches),),
        gives_way_to=(APPLYING,),
        permissions=(
            Permission.of(MANAGED_RESOURCES, "patch", cluster=Cluster.SOURCE, subresource="status"),
            Permission.of(PODS, "list", "watch"),
            Permission.of(REPLICA_SETS, "list", "watch"),
            Permission(ANYTHING, ANYTHING, READ),
        ),
    )


@cache
def managed_workloads(class_filter: ClassFilter) -> Index[Kind]:
    """The ManagedResources of a class by the kinds among their objects that roll out."""
    kinds = managed_kinds(class_filter)

    def values(managed_resource: Manifest) -> set[Kind]:
        return {_as_read(kind) for kind in kinds.values(managed_resource) if rolls_out(kind)}

    return Index("kinds of managed workloads", kinds.resource, values, kinds.cluster)


def _as_read(kind: Kind) -> Kind:
    """The kind as which a workload is read, whatever version of its group a manifest names."""
    return Kind(_READ_AS, kind.kind)


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[HealthConfig]) -> Plan:
    """Say of one ManagedResource whether its workloads have rolled out."""

    async def judge(managed_resource: Manifest) -> Verdict | DomainFailure:
        workloads = [*_workloads(managed_resource)]
        return await concluded(workloads, snapshot, evaluate_progress, ROLLED_OUT, counts_pods=True)

    return await judged(key, snapshot, context, judge)


def _workloads(managed_resource: Manifest) -> Iterator[tuple[Kind, ObjectKey]]:
    """What a ManagedResource manages that rolls out."""
    for reference in references_of(managed_resource):
        if rolls_out(reference.kind):
            yield _as_read(reference.kind), reference.key
