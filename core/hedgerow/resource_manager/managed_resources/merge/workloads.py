"""What of a workload stays as it is in the cluster: what autoscalers size, and what the API server made immutable.

Source: managed-resources §8.3.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at, objects_at, text_at, texts_at, with_each, with_value, without
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling

KindRule: TypeAlias = Callable[[Manifest, Manifest, Scaling], Manifest]
"""What becomes of an object of one kind, given the live object and what of it is scaled; raises UnreadableError."""

_POD_TEMPLATE: Final = ("spec", "template")
_SIZED: Final = ("cpu", "memory")


def merged_deployment(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """Replicas that the manifest leaves open, or that are scaled, stay; so do scaled resources."""
    return _with_live_resources(_with_live_replicas(desired, live, scaling), live, scaling, _POD_TEMPLATE)


def merged_stateful_set(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """As a Deployment; and the claim templates of one that exists cannot be changed."""
    merged = merged_deployment(desired, live, scaling)
    if object_at(live, "metadata").get("creationTimestamp"):
        return with_live_value(merged, live, "spec", "volumeClaimTemplates")
    return merged


def merged_daemon_set(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """Scaled resources stay."""
    return _with_live_resources(desired, live, scaling, _POD_TEMPLATE)


def merged_job(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """The selector and the template's labels that the API server generated cannot be changed."""
    merged = with_live_value(desired, live, "spec", "selector")
    path = (*_POD_TEMPLATE, "metadata", "labels")
    if labels := {**texts_at(live, *path), **texts_at(desired, *path)}:
        merged = with_value(merged, path, labels)
    return _with_live_resources(merged, live, scaling, _POD_TEMPLATE)


def merged_cron_job(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """Scaled resources stay."""
    return _with_live_resources(desired, live, scaling, ("spec", "jobTemplate", "spec", "template"))


def with_live_value(desired: Manifest, live: Manifest, *path: str) -> Manifest:
    """The desired object with what the live one has at a path; with nothing there if the live one has nothing."""
    value = object_at(live, *path[:-1]).get(path[-1])
    if value is not None:
        object_at(desired, *path[:-1])  # with_value takes for granted that it may descend
        return with_value(desired, path, value)
    return without(desired, path) if path[-1] in object_at(desired, *path[:-1]) else desired


def _with_live_replicas(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    if not scaling.replicas and object_at(desired, "spec").get("replicas") is not None:
        return desired
    return with_live_value(desired, live, "spec", "replicas")


def _with_live_resources(desired: Manifest, live: Manifest, scaling: Scaling, template: Sequence[str]) -> Manifest:
    """The desired object whose containers have the processor and memory of the live ones of the same name."""
    if not scaling.resources:
        return desired
    path = (*template, "spec", "containers")
    named = ((each.get("name"), each) for each in objects_at(live, *path))
    sized = {name: container for name, container in named if isinstance(name, str)}
    return with_each(desired, path, lambda container: _resized(container, sized.get(text_at(container, "name") or "")))


def _resized(container: Manifest, live: Manifest | None) -> Manifest:
    """A container with the processor and memory of the live one, as far as that has any."""
    for amounts in ("requests", "limits"):
        path = ("resources", amounts)
        wanted, found = object_at(container, *path), object_at(live or {}, *path)
        if kept := {name: found[name] for name in _SIZED if found.get(name) is not None}:
            container = with_value(container, path, {**wanted, **kept})
    return container
