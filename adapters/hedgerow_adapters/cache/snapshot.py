"""What one controller watches, as its decisions read it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, labels_of
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Value
from hedgerow_adapters.cache.store import ObjectStore


class StoreSnapshot:
    """The stores of everything that one controller watches, as the snapshot that its decisions read."""

    def __init__(
        self,
        target: Mapping[Resource, ObjectStore],
        source: Mapping[Resource, ObjectStore] | None = None,
        dynamic: Callable[[Cluster, Resource], ObjectStore | None] = lambda _cluster, _resource: None,
    ) -> None:
        """A snapshot of the stores of each cluster; `dynamic` has those that only dynamic watches read, once synced."""
        self._target = target
        self._source = source or {}
        self._dynamic = dynamic

    def store(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> ObjectStore:
        """The store of a watched resource."""
        return (self._target if cluster is Cluster.TARGET else self._source)[resource]

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of a key; none if it does not exist, or its resource is not held."""
        store = self._held(resource, cluster)
        return None if store is None else store.get(key)

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """Whether the objects of a resource are at hand."""
        return self._held(resource, cluster) is not None

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """The objects of a resource, of one namespace or of all, that a selector matches."""
        store = self._held(resource, cluster)
        if store is None:
            return ()
        found = store.all() if namespace is None else store.of_namespace(namespace)
        return found if selector is None else [manifest for manifest in found if selector.matches(labels_of(manifest))]

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """The objects that a declared index files under a value."""
        store = self._held(index.resource, index.cluster)
        return () if store is None else store.under(index, value)

    def _held(self, resource: Resource, cluster: Cluster) -> ObjectStore | None:
        store = (self._target if cluster is Cluster.TARGET else self._source).get(resource)
        return self._dynamic(cluster, resource) if store is None else store


def is_over(index: Index[Any], read: Read) -> bool:
    """Whether an index looks up what is read there."""
    return (index.resource, index.cluster) == (read.resource, read.cluster)
