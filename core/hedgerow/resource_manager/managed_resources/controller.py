"""The controller that applies ManagedResources, declared.

Source: managed-resources §7.1.
"""

from dataclasses import replace
from typing import Final

from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import (
    CUSTOM_RESOURCE_DEFINITIONS,
    HORIZONTAL_POD_AUTOSCALERS,
    PERSISTENT_VOLUME_CLAIMS,
    SECRETS,
)
from hedgerow.api.managed_objects import managed_kinds, object_watch
from hedgerow.api.managed_resources import APPLYING, MANAGED_RESOURCES, transform_managed_resource
from hedgerow.api.tokens import transform_secret
from hedgerow.machinery.clusters import ANYTHING, Cluster, Permission
from hedgerow.machinery.controller import Controller, DynamicWatch, Watch, own_key
from hedgerow.machinery.objects import Resource
from hedgerow.resource_manager.managed_resources.deletion import DEFINITION
from hedgerow.resource_manager.managed_resources.predicates import (
    managed_resource_changed,
    managed_resources_of_secret,
    object_drifted,
    secret_changed,
)
from hedgerow.resource_manager.managed_resources.reconcile import reconcile
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.secret_finalizers import MANAGED_RESOURCES_BY_SECRET
from hedgerow.resource_manager.managed_resources.write_context import watches_of_write_context

NAME: Final = APPLYING
DEFAULT_CONCURRENCY: Final = 5


def managed_resource_controller(
    config: ManagedResourceConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[ManagedResourceConfig]:
    """The controller for a configuration.

    Nothing of it is guarded against mass deletion: what is deleted has left a Secret, or goes with its ManagedResource.

    Args:
        config: whose ManagedResources are applied, and how.
        concurrency: how many of them at once.
    """
    class_filter = config.class_filter
    kinds = managed_kinds(class_filter)

    def watch(resource: Resource) -> Watch:
        return object_watch(resource, config.cluster_id, object_drifted)

    return Controller(
        name=NAME,
        primary=MANAGED_RESOURCES,
        watches=(
            Watch(
                MANAGED_RESOURCES,
                transform_managed_resource,
                own_key,
                managed_resource_changed(class_filter),
                cluster=Cluster.SOURCE,
                may_be_absent=True,
            ),
            Watch(
                SECRETS,
                transform_secret,
                managed_resources_of_secret(class_filter),
                secret_changed(class_filter),
                metadata_only=True,
                cluster=Cluster.SOURCE,
                is_desired_state=True,
            ),
            *(
                replace(watch(autoscalers), may_be_absent=True, required_for_sync=False)
                for autoscalers in (HORIZONTAL_POD_AUTOSCALERS, HVPAS)
            ),
            *watches_of_write_context(),
        ),
        indexes=(MANAGED_RESOURCES_BY_SECRET, kinds),
        owned=None,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        # Drift is put right once in a sync period, whatever else happens.
        longest_wait=config.sync_period,
        dynamic_watches=(DynamicWatch(kinds, lambda resource: (watch(resource),)),),
        reads_server_version=True,
        permissions=(
            Permission.of(MANAGED_RESOURCES, "patch", cluster=Cluster.SOURCE),
            Permission.of(MANAGED_RESOURCES, "patch", cluster=Cluster.SOURCE, subresource="status"),
            Permission.of(SECRETS, "get", cluster=Cluster.SOURCE),
            Permission.of(CUSTOM_RESOURCE_DEFINITIONS, "get", cluster=Cluster.SOURCE, names=(DEFINITION,)),
            Permission.of(CUSTOM_RESOURCE_DEFINITIONS, "get"),
            Permission.of(PERSISTENT_VOLUME_CLAIMS, "list", "delete"),
            # Only those who write ManagedResources know what these deliver, and what is granted by it.
            Permission(ANYTHING, ANYTHING, (ANYTHING,)),
        ),
    )
