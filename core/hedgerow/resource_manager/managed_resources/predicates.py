"""Predicates of the ManagedResource controllers: which changes enqueue a ManagedResource.

Source: managed-resources §7.1, §9.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from hedgerow.api.managed_objects import fingerprint
from hedgerow.api.managed_resources import OPERATION, RESOURCES_HEALTHY, ClassFilter, is_ignored
from hedgerow.api.origins import origin_of
from hedgerow.machinery.conditions import ConditionStatus, condition_status
from hedgerow.machinery.controller import Change, creation_deletion_or
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, key_of
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.reconciliation import spec_version
from hedgerow.resource_manager.managed_resources.secret_finalizers import MANAGED_RESOURCES_BY_SECRET

_OPERATIONS: Final = frozenset({"reconcile", "restore", "migrate"})


def managed_resource_changed(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """A predicate for changes of a ManagedResource that may change its plan.

    One of them is that another instance has released it, so that no polling is needed.
    """

    def is_relevant(old: Manifest, new: Manifest) -> bool:
        is_released = class_filter.has_to_act(new) and not class_filter.has_to_act(old)
        # One that stays ignored is reported once. Its deletion counts all the same.
        stays_ignored = is_ignored(new) and is_ignored(old) and not is_terminating(new)
        return is_released or (not stays_ignored and _may_change_plan(old, new))

    changed = creation_deletion_or(is_relevant)

    def passes(change: Change) -> bool:
        latest = change.new or change.old
        return latest is not None and class_filter.passes(latest) and changed(change)

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
    """A predicate for changes of a Secret that may be changes of its data, which is not watched.

    Only the addition of our own finalizer is not: a removal may hide that the whole Secret was replaced.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None:
            return True
        before, after = list_at(old, "metadata", "finalizers"), list_at(new, "metadata", "finalizers")
        is_held_now = [*before, class_filter.finalizer] == [*after]
        return not (is_held_now and _beside_finalizers(old) == _beside_finalizers(new))

    return passes


def _beside_finalizers(secret: Manifest) -> Mapping[str, Any]:
    metadata = secret.get("metadata") or {}
    return {name: value for name, value in metadata.items() if name not in {"finalizers", "resourceVersion"}}


def managed_resources_of_secret(class_filter: ClassFilter) -> Callable[[Manifest, Snapshot], list[ObjectKey]]:
    """The ManagedResources to enqueue for a Secret: those that name it and are not ignored."""

    def keys(secret: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        named = snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key_of(secret))
        active = (each for each in named if not is_ignored(each) or is_terminating(each))
        return [key_of(each) for each in active if class_filter.passes(each)]

    return keys


def object_drifted(change: Change) -> bool:
    """True if anything but the status of a live object has changed, or the object is gone.

    A change of owner enqueues neither ManagedResource: the new owner has written it, and if the old one took it back at
    once, the two would write without end. The old owner finds out after its sync period.
    """
    old, new = change.old, change.new
    if old is None or new is None:
        return old is not None
    before, after = origin_of(old), origin_of(new)
    has_changed_hands = before is not None and after is not None and before != after
    return not has_changed_hands and fingerprint(old) != fingerprint(new)
