"""Predicates of the ManagedResource controllers: which changes enqueue a ManagedResource.

Source: managed-resources §7.1, §9.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from hedgerow.api.managed_objects import fingerprint
from hedgerow.api.managed_resources import OPERATION, RESOURCES_HEALTHY, ClassFilter, is_ignored
from hedgerow.api.origins import managed_resource_of, origin_of
from hedgerow.machinery.conditions import ConditionStatus, status_said
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, key_of, uid_of
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.secret_finalizers import MANAGED_RESOURCES_BY_SECRET

_OPERATIONS: Final = frozenset({"reconcile", "restore", "migrate"})


def managed_resource_changed(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """A predicate for changes of a ManagedResource that may change its plan.

    One of them is that another instance has released it, so that no polling is needed.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        latest = new or old
        if latest is None or not class_filter.passes(latest):
            return False
        if old is None or new is None or uid_of(old) != uid_of(new):
            return True
        if class_filter.has_to_act(new) and not class_filter.has_to_act(old):
            return True
        return _asks_for_a_look(old, new) and _may_be_looked_at(old, new)

    return passes


def _asks_for_a_look(old: Manifest, new: Manifest) -> bool:
    return (
        _generation(old) != _generation(new)
        or is_terminating(old) is not is_terminating(new)
        or annotations_of(new).get(OPERATION) in _OPERATIONS
        or (_is_unhealthy(new) and not _is_unhealthy(old))
        or is_ignored(old) is not is_ignored(new)
    )


def _may_be_looked_at(old: Manifest, new: Manifest) -> bool:
    """False for a ManagedResource that stays ignored; that is reported once. Its deletion counts all the same."""
    return not is_ignored(new) or not is_ignored(old) or is_terminating(new)


def _generation(managed_resource: Manifest) -> Any:
    return (managed_resource.get("metadata") or {}).get("generation")


def _is_unhealthy(managed_resource: Manifest) -> bool:
    return status_said(managed_resource, RESOURCES_HEALTHY) == ConditionStatus.FALSE


def secret_changed(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """A predicate for changes of a Secret that may be changes of its data, which is not watched.

    Only the addition of our own finalizer is not: a removal may hide that the whole Secret was replaced.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        return old is None or new is None or not _is_held_back(old, new, class_filter.finalizer)

    return passes


def _is_held_back(old: Manifest, new: Manifest, finalizer: str) -> bool:
    """True if a Secret got our finalizer and nothing else changed."""
    before, after = list_at(old, "metadata", "finalizers"), list_at(new, "metadata", "finalizers")
    return [*before, finalizer] == [*after] and _beside_finalizers(old) == _beside_finalizers(new)


def _beside_finalizers(secret: Manifest) -> Mapping[str, Any]:
    metadata = secret.get("metadata") or {}
    return {name: value for name, value in metadata.items() if name not in {"finalizers", "resourceVersion"}}


def managed_resources_of_secret(class_filter: ClassFilter) -> Callable[[Manifest, Snapshot], list[ObjectKey]]:
    """The ManagedResources to enqueue for a Secret: those that name it and are not ignored."""

    def keys(secret: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        named = snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key_of(secret))
        return [key_of(each) for each in named if class_filter.passes(each) and _counts(each)]

    return keys


def _counts(managed_resource: Manifest) -> bool:
    return not is_ignored(managed_resource) or is_terminating(managed_resource)


def object_drifted(change: Change) -> bool:
    """True if anything but the status of a live object has changed, or the object is gone.

    A change of owner enqueues neither ManagedResource: the new owner has written it, and if the old one took it back at
    once, the two would write without end. The old owner finds out after its sync period.
    """
    old, new = change.old, change.new
    if old is None or new is None:
        return old is not None
    return fingerprint(old) != fingerprint(new) and not _has_changed_hands(old, new)


def _has_changed_hands(old: Manifest, new: Manifest) -> bool:
    before, after = origin_of(old), origin_of(new)
    return before is not None and after is not None and before != after


def managed_resource_of_object(cluster_id: str) -> Callable[[Manifest, Snapshot], Iterable[ObjectKey]]:
    """The ManagedResource to enqueue for a live object: the one that its origin names."""

    def keys(live: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        key = managed_resource_of(live, cluster_id)
        return () if key is None else (key,)

    return keys
