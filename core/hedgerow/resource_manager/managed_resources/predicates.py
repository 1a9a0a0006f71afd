"""Which changes are worth another look at a ManagedResource, and what of the changed objects is kept.

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
from hedgerow.resource_manager.managed_resources.secret_controller import MANAGED_RESOURCES_BY_SECRET

_OPERATIONS: Final = frozenset({"reconcile", "restore", "migrate"})


def managed_resource_changed(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """The predicate that lets changes of a ManagedResource pass which may change what is to be done about it.

    That another instance has let it go is one; nobody needs to ask for that again and again.
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
    """What is ignored is looked at once, to say so, and again when it is to be deleted."""
    return not is_ignored(new) or not is_ignored(old) or is_terminating(new)


def _generation(managed_resource: Manifest) -> Any:
    return (managed_resource.get("metadata") or {}).get("generation")


def _is_unhealthy(managed_resource: Manifest) -> bool:
    return status_said(managed_resource, RESOURCES_HEALTHY) == ConditionStatus.FALSE


def secret_changed(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """The predicate that lets changes of a Secret pass which may be changes of its data, of which nothing is watched.

    All but one may be: that we hold it back ourselves. Who lets it go may have replaced all of it.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        return old is None or new is None or not _is_held_back(old, new, class_filter.finalizer)

    return passes


def _is_held_back(old: Manifest, new: Manifest, finalizer: str) -> bool:
    """Whether nothing has happened to a Secret but that it got a finalizer."""
    before, after = list_at(old, "metadata", "finalizers"), list_at(new, "metadata", "finalizers")
    return [*before, finalizer] == [*after] and _beside_finalizers(old) == _beside_finalizers(new)


def _beside_finalizers(secret: Manifest) -> Mapping[str, Any]:
    metadata = secret.get("metadata") or {}
    return {name: value for name, value in metadata.items() if name not in {"finalizers", "resourceVersion"}}


def managed_resources_of_secret(class_filter: ClassFilter) -> Callable[[Manifest, Snapshot], list[ObjectKey]]:
    """Which ManagedResources a Secret concerns: those that name it and are not ignored."""

    def keys(secret: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        named = snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key_of(secret))
        return [key_of(each) for each in named if class_filter.passes(each) and _counts(each)]

    return keys


def _counts(managed_resource: Manifest) -> bool:
    return not is_ignored(managed_resource) or is_terminating(managed_resource)


def object_drifted(change: Change) -> bool:
    """Whether something else than the status of a live object has changed, or the object has gone.

    One that a ManagedResource has taken from another wakes neither: the one has written it itself, and if the other
    took it back at once, and the one again, there would be no end to it. It finds out when it looks again anyway.
    """
    old, new = change.old, change.new
    if old is None or new is None:
        return old is not None
    return fingerprint(old) != fingerprint(new) and not _has_changed_hands(old, new)


def _has_changed_hands(old: Manifest, new: Manifest) -> bool:
    before, after = origin_of(old), origin_of(new)
    return before is not None and after is not None and before != after


def managed_resource_of_object(cluster_id: str) -> Callable[[Manifest, Snapshot], Iterable[ObjectKey]]:
    """The ManagedResource that a live object names as its origin."""

    def keys(live: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        key = managed_resource_of(live, cluster_id)
        return () if key is None else (key,)

    return keys
