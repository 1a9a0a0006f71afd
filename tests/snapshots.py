"""Snapshots of whole objects."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over

_World: TypeAlias = Mapping[Resource, Iterable[Manifest]]


def snapshot_over(
    controller: Controller[Any], target: _World | None = None, source: _World | None = None
) -> StoreSnapshot:
    """The snapshot that a controller reads, over whole objects; without a source, that is the target."""
    target = target or {}
    worlds = {Cluster.TARGET: target, Cluster.SOURCE: target if source is None else source}
    stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
    for watch in controller.watches:
        indexes = [index for index in controller.indexes if is_over(index, watch)]
        store = stores[watch.cluster][watch.resource] = ObjectStore(indexes)
        for manifest in worlds[watch.cluster].get(watch.resource, ()):
            store.put(watch.transform(manifest))
    return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])
