"""The controller that says whether everything is healthy that a ManagedResource delivers, declared.

Source: managed-resources §11, §14.
"""

from dataclasses import replace
from typing import Final

from hedgerow.api.events import message_with_ages
from hedgerow.api.kubernetes import CORE_EVENTS
from hedgerow.api.managed_objects import followed, managed_kinds
from hedgerow.api.managed_resources import APPLYING, MANAGED_RESOURCES
from hedgerow.api.references import references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import conditions_of, find
from hedgerow.machinery.controller import Context, Controller, Follow, Watch
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.permissions import ANYTHING, READ, Permission
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import Found
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.health.changes import health_status_changed
from hedgerow.resource_manager.health.config import HealthConfig
from hedgerow.resource_manager.health.judging import by_origin, judged, managed_resource_watch
from hedgerow.resource_manager.health.looking import concluded
from hedgerow.resource_manager.health.verdicts import HEALTHY, Verdict, evaluate_health

NAME: Final = "health"
DEFAULT_CONCURRENCY: Final = 5


def health_controller(config: HealthConfig, concurrency: int = DEFAULT_CONCURRENCY) -> Controller[HealthConfig]:
    """The controller for a configuration.

    Args:
        config: whose ManagedResources are judged, and how often.
        concurrency: how many of them at once.
    """
    kinds = managed_kinds(config.class_filter)

    def watches(resource: Resource) -> tuple[Watch, ...]:
        return (followed(resource, by_origin(config.cluster_id), health_status_changed(resource.object_kind)),)

    return Controller(
        name=NAME,
        primary=MANAGED_RESOURCES,
        watches=(managed_resource_watch(config.class_filter),),
        indexes=(kinds,),
        owned=None,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        follows=(Follow(kinds, watches),),
        gives_way_to=(APPLYING,),
        permissions=(
            Permission.of(MANAGED_RESOURCES, "patch", cluster=Cluster.SOURCE, subresource="status"),
            Permission.of(CORE_EVENTS, "list"),
            Permission(ANYTHING, ANYTHING, READ),
        ),
    )


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[HealthConfig]) -> Plan:
    """Say of one ManagedResource whether its objects are there and healthy."""

    async def judge(managed_resource: Manifest) -> Verdict | DomainFailure:
        objects = [(each.kind, each.key) for each in references_of(managed_resource)]
        verdict = await concluded(objects, snapshot, evaluate_health, HEALTHY)
        return verdict if isinstance(verdict, DomainFailure) else await _with_events(managed_resource, verdict)

    return await judged(key, snapshot, context, judge)


async def _with_events(managed_resource: Manifest, verdict: Verdict) -> Verdict:
    """The verdict that also tells what happened to the Service, if one is to blame, as far as that can be found out."""
    answer = await verdict.question if verdict.question is not None else None
    if not isinstance(answer, Found):
        return verdict
    events, said = answer.objects, find(conditions_of(managed_resource), verdict.type)
    message = message_with_ages(lambda now: verdict.with_events(events, now).message, said, await Now())
    return replace(verdict, message=message)
