"""Deployments and how many pods they select, out of a live cluster, of which as little as possible is kept."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from hedgerow.api import managed_objects
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.clusters import EVERYTHING, ReadScope
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.health.object_progress import pods_of
from hedgerow_adapters.kubernetes.live_reads import list_transformed
from hedgerow_adapters.protocol.transport import Transport

_Selectors: TypeAlias = Mapping[str, Mapping[ObjectKey, LabelSelector]]
"""Which pods Deployments select, by their namespaces."""


def scope_of(keys: Collection[ObjectKey]) -> ReadScope:
    """What has to be listed to see certain objects: their namespace if they share one, else all."""
    namespaces = {key.namespace for key in keys}
    return ReadScope(namespaces.pop()) if len(namespaces) == 1 else EVERYTHING


async def deployments_of(
    transport: Transport, resource: Resource, keys: Collection[ObjectKey]
) -> Mapping[ObjectKey, Manifest]:
    """Those of certain Deployments that exist, as far as rules read them.

    Raises:
        ListingError: the cluster does not show them.
    """
    kept = managed_objects.transform_of(resource)

    def keep(live: Manifest) -> Manifest | None:
        return kept(live) if key_of(live) in keys else None

    return {key_of(live): live for live in await list_transformed(transport, resource, scope_of(keys), keep)}


async def pod_counts(transport: Transport, deployments: Mapping[ObjectKey, Manifest]) -> Mapping[ObjectKey, int]:
    """How many pods each Deployment selects, if that can be read in it.

    Raises:
        ListingError: the cluster does not show its pods.
    """
    selectors = {key: selector for key, live in deployments.items() if (selector := pods_of(live)) is not None}
    if not selectors:
        return {}
    by_namespace: dict[str, dict[ObjectKey, LabelSelector]] = defaultdict(dict)
    for key, selector in selectors.items():
        by_namespace[key.namespace][key] = selector

    def keep(pod: Manifest) -> tuple[ObjectKey, ...] | None:
        return tuple(_selecting(pod, by_namespace)) or None

    selected = await list_transformed(transport, PODS, scope_of(selectors), keep, metadata_only=True)
    counts = Counter(key for keys in selected for key in keys)
    return {key: counts[key] for key in selectors}


def _selecting(pod: Manifest, selectors: _Selectors) -> Iterator[ObjectKey]:
    labels = labels_of(pod)
    for key, selector in selectors.get(key_of(pod).namespace, {}).items():
        if selector.matches(labels):
            yield key
