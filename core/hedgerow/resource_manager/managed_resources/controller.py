"""The controller that applies ManagedResources: its declaration, and the predicates of its watches.

Source: managed-resources §7.1, §9.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from hedgerow.api.definition_deletion import reads_definitions
from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import (
    CUSTOM_RESOURCE_DEFINITIONS,
    HORIZONTAL_POD_AUTOSCALERS,
    PERSISTENT_VOLUME_CLAIMS,
    SECRETS,
)
from hedgerow.api.managed_objects import fingerprint, managed_kinds, object_watch
from hedgerow.api.managed_resources import (
    APPLYING,
    MANAGED_RESOURCES,
    OPERATION,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
    ClassFilter,
    is_ignored,
    is_taken_up,
    transform_managed_resource,
)
from hedgerow.api.references import origin_of
from hedgerow.api.tokens import transform_secret
from hedgerow.machinery.clusters import ANYTHING, Cluster, Permission
from hedgerow.machinery.conditions import ConditionStatus, condition_status
from hedgerow.machinery.controller import Change, Controller, DynamicWatch, Watch, creation_deletion_or, own_key
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, is_terminating, key_of
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.reported_states import ReportedStates, conditions_reported
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.reconcile import reconcile
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig, spec_version
from hedgerow.resource_manager.managed_resources.secret_finalizers import MANAGED_RESOURCES_BY_SECRET
from hedgerow.resource_manager.managed_resources.write_context import watches_of_write_context

DEFAULT_CONCURRENCY: Final = 5
_OPERATIONS: Final = frozenset({"reconcile", "restore", "migrate"})


def managed_resource_controller(
    config: ManagedResourceConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[ManagedResourceConfig]:
    """The controller for a configuration; `concurrency` ManagedResources are reconciled at once.

    The deletion guard does not apply: what is deleted has left a Secret, or goes with its ManagedResource.
    """
    class_filter = config.class_filter
    kinds = managed_kinds(class_filter)

    def watch(resource: Resource) -> Watch:
        return object_watch(resource, config.cluster_id, object_drifted)

    return Controller(
        name=APPLYING,
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
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        # Drift is reverted once in a sync period, whatever else happens.
        longest_wait=config.sync_period,
        dynamic_watches=(DynamicWatch(kinds, lambda resource: (watch(resource),)),),
        reads_server_version=True,
        permissions=(
            Permission.of(MANAGED_RESOURCES, "patch", cluster=Cluster.SOURCE),
            Permission.of(MANAGED_RESOURCES, "patch", cluster=Cluster.SOURCE, subresource="status"),
            Permission.of(SECRETS, "get", cluster=Cluster.SOURCE),
            reads_definitions(MANAGED_RESOURCES, cluster=Cluster.SOURCE),
            Permission.of(CUSTOM_RESOURCE_DEFINITIONS, "get"),
            Permission.of(PERSISTENT_VOLUME_CLAIMS, "list", "delete"),
            # Only the authors of ManagedResources know what these deliver, and what that grants.
            Permission(ANYTHING, ANYTHING, (ANYTHING,)),
        ),
        reported=_reported(class_filter),
    )


def _reported(class_filter: ClassFilter) -> ReportedStates:
    """The conditions of the ManagedResources of this instance; one that it never looked at is unknown."""
    types = (RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING)
    return ReportedStates(
        "hedgerow_managed_resource_condition",
        "Conditions of ManagedResources, each with its status; always 1.",
        conditions_reported(*types, initial=ConditionStatus.UNKNOWN, concerns=class_filter.passes),
    )


def managed_resource_changed(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """The predicate for changes of a ManagedResource that may change its plan, its release by others included."""

    def is_relevant(old: Manifest, new: Manifest) -> bool:
        is_released = class_filter.has_to_act(new) and not class_filter.has_to_act(old)
        # A ManagedResource that stays ignored is reported once; its deletion counts all the same.
        stays_ignored = is_ignored(new) and is_ignored(old) and not is_terminating(new)
        return is_released or (not stays_ignored and _may_change_plan(old, new))

    changed = creation_deletion_or(is_relevant)

    def passes(change: Change) -> bool:
        latest = change.new or change.old
        if latest is None or not changed(change):
            return False
        is_unserved = change.old is None and not is_taken_up(latest)
        return class_filter.passes(latest) or is_unserved

    return passes


def _may_change_plan(old: Manifest, new: Manifest) -> bool:
    return (
        spec_version(old) != spec_version(new)
        or is_terminating(old) is not is_terminating(new)
        or annotations_of(new).get(OPERATION) in _OPERATIONS
        or (_is_unhealthy(new) and not _is_unhealthy(old))
        or is_ignored(old) is not is_ignored(new)
    )


def _is_unhealthy(managed_resource: Manifest) -> bool:
    return condition_status(managed_resource, RESOURCES_HEALTHY) == ConditionStatus.FALSE


def secret_changed(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """The predicate for changes of a Secret that may change its data, which is not watched.

    Only the addition of our own finalizer does not count: its removal may hide that the whole Secret was replaced.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None:
            return True
        before, after = list_at(old, "metadata", "finalizers"), list_at(new, "metadata", "finalizers")
        is_held_now = [*before, class_filter.finalizer] == [*after]
        return not (is_held_now and _other_metadata(old) == _other_metadata(new))

    return passes


def _other_metadata(secret: Manifest) -> Mapping[str, Any]:
    metadata = secret.get("metadata") or {}
    return {name: value for name, value in metadata.items() if name not in {"finalizers", "resourceVersion"}}


def managed_resources_of_secret(class_filter: ClassFilter) -> Callable[[Manifest, Snapshot], list[ObjectKey]]:
    """Enqueues for a Secret the ManagedResources that name it and are not ignored."""

    def keys(secret: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        named = snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key_of(secret))
        active = (each for each in named if not is_ignored(each) or is_terminating(each))
        return [key_of(each) for each in active if class_filter.passes(each)]

    return keys


def object_drifted(change: Change) -> bool:
    """True if anything but the status of a live object has changed, or the object is gone.

    A change of owner enqueues neither ManagedResource: if the old owner took the object back at once, the two would
    write without end. The old owner notices after its sync period.
    """
    old, new = change.old, change.new
    if old is None or new is None:
        return old is not None
    before, after = origin_of(old), origin_of(new)
    has_new_owner = before is not None and after is not None and before != after
    return not has_new_owner and fingerprint(old) != fingerprint(new)
