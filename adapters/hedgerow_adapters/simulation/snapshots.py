"""What a controller sees of in-memory clusters at one moment."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hedgerow.machinery.clusters import Cluster, visible_parts
from hedgerow.machinery.controller import Controller, Watch
from hedgerow.machinery.objects import Manifest, Resource, key_of
from hedgerow.machinery.selection import selected_by
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.surroundings import InMemory
from hedgerow_adapters.simulation.turns import with_dynamic_watches

_Clusters: TypeAlias = Mapping[Cluster, InMemoryCluster]


def seen_by(watch: Watch, namespaces: Sequence[str]) -> Callable[[Manifest], bool]:
    """Whether an object of the watched resource is read.

    Args:
        watch: what is read.
        namespaces: what is seen of the cluster that is looked after; none: all.
    """
    parts = visible_parts(watch.resource, namespaces if watch.cluster is Cluster.TARGET else (), watch.namespace)
    is_selected = selected_by(watch.label_selector, watch.field_selector)

    def is_seen(manifest: Manifest) -> bool:
        return any(part.holds(key_of(manifest)) for part in parts) and is_selected(manifest)

    return is_seen


def snapshot_of(
    clusters: _Clusters, controller: Controller[Any], namespaces: Sequence[str] = ()
) -> tuple[Controller[Any], StoreSnapshot]:
    """What a controller sees of in-memory clusters, and itself as one that declares to watch what it follows.

    Args:
        clusters: what is read.
        controller: who reads.
        namespaces: what is seen of the cluster that is looked after; none: all.
    """
    stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}

    def snapshot(reader: Controller[Any]) -> StoreSnapshot:
        for watch in reader.watches:
            if watch.resource not in stores[watch.cluster]:
                indexes = [index for index in controller.indexes if is_over(index, watch)]
                stores[watch.cluster][watch.resource] = _read(clusters[watch.cluster], watch, namespaces, indexes)
        return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    declared = snapshot(controller)
    if not controller.dynamic_watches:
        return controller, declared
    following = with_dynamic_watches(controller, declared, InMemory(clusters))
    return following, snapshot(following)


def _read(
    cluster: InMemoryCluster, watch: Watch, namespaces: Sequence[str], indexes: Sequence[Index[Any]]
) -> ObjectStore:
    """What a watch keeps of the objects of a cluster; nothing if the cluster does not serve them."""
    store = ObjectStore(indexes)
    if cluster.serves(watch.resource):
        for manifest in filter(seen_by(watch, namespaces), cluster.objects(watch.resource)):
            store.put(watch.transform(manifest))
    return store
