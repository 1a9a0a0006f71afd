"""Which changes are worth another look at a ManagedResource, and what of the changed objects is kept.

Source: managed-resources §7.1, §9.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, key_of, uid_of
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.class_filter import ClassFilter
from hedgerow.resource_manager.managed_resources.following import fingerprint
from hedgerow.resource_manager.managed_resources.merge.application import is_ignored
from hedgerow.resource_manager.managed_resources.names import OPERATION, RESOURCES_HEALTHY
from hedgerow.resource_manager.managed_resources.origin import managed_resource_of
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
    condition = find(conditions_of(managed_resource), RESOURCES_HEALTHY)
    return condition is not None and condition.status == ConditionStatus.FALSE


def secret_changed(change: Change) -> bool:
    """Whether a change of a Secret may be one of its data; whoever only holds it back or lets it go changes none."""
    old, new = change.old, change.new
    if old is None or new is None:
        return True
    return list_at(old, "metadata", "finalizers") == list_at(new, "metadata", "finalizers")


def managed_resources_of_secret(class_filter: ClassFilter) -> Callable[[Manifest, Snapshot], list[ObjectKey]]:
    """Which ManagedResources a Secret concerns: those that name it and are not ignored."""

    def keys(secret: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        named = snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key_of(secret))
        return [key_of(each) for each in named if class_filter.passes(each) and _counts(each)]

    return keys


def _counts(managed_resource: Manifest) -> bool:
    return not is_ignored(managed_resource) or is_terminating(managed_resource)


def object_drifted(change: Change) -> bool:
    """Whether something else than the status of a live object has changed, or the object has gone."""
    old, new = change.old, change.new
    return old is not None and (new is None or fingerprint(old) != fingerprint(new))


def managed_resource_of_object(cluster_id: str) -> Callable[[Manifest, Snapshot], Iterable[ObjectKey]]:
    """The ManagedResource that a live object names as its origin."""

    def keys(live: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        key = managed_resource_of(live, cluster_id)
        return () if key is None else (key,)

    return keys


def nobody(_changed: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """Whom changes concern that are looked at when there is a look anyway."""
    return ()


def kept_of_hpa(hpa: Manifest) -> Manifest:
    """What a HorizontalPodAutoscaler sizes."""
    return _kept(hpa, ("scaleTargetRef",))


def kept_of_hvpa(hvpa: Manifest) -> Manifest:
    """What a Hvpa sizes, and how."""
    kept = _kept(hvpa, ("targetRef",))
    for autoscaler in ("hpa", "vpa"):
        deployed = _spec(hvpa).get(autoscaler)
        kept["spec"][autoscaler] = {"deploy": deployed.get("deploy")} if isinstance(deployed, Mapping) else deployed
    return kept


def _kept(autoscaler: Manifest, members: tuple[str, ...]) -> dict[str, Any]:
    metadata = autoscaler.get("metadata") or {}
    whole = _spec(autoscaler)
    return {
        "metadata": {name: metadata[name] for name in ("namespace", "name", "resourceVersion") if name in metadata},
        "spec": {name: whole[name] for name in members if name in whole},
    }


def _spec(autoscaler: Manifest) -> Mapping[str, Any]:
    spec = autoscaler.get("spec")
    return spec if isinstance(spec, Mapping) else {}
