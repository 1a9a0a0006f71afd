"""What one webhook looks up: first in the files, and in a cluster only what they cannot tell."""

from collections.abc import Sequence

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Value
from hedgerow_adapters.cache import StoreSnapshot


class NotReadError(Exception):
    """A webhook looks for something that no file holds while the cluster has not been asked; whoever runs it asks."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(f"{resource} has not been read")
        self.resource = resource


class FilesFirst:
    """A snapshot that knows of some resources all there is, and of others no more than files hold."""

    def __init__(self, known: StoreSnapshot, partial: frozenset[Resource]) -> None:
        """Each look-up raises NotReadError where the cluster could know more.

        Args:
            known: the objects.
            partial: the resources of which the cluster may have others.
        """
        self._known = known
        self._partial = partial

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of that key: if a file holds it, nobody else is asked."""
        found = self._known.get(resource, key, cluster)
        if found is None:
            self._expect_all_of(resource)
        return found

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """Whether files hold all objects of a resource that there are."""
        return resource not in self._partial and self._known.has_synced(resource, cluster)

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """The objects of a resource that a selector matches, of which files alone never hold all for certain."""
        self._expect_all_of(resource)
        return self._known.list(resource, namespace=namespace, selector=selector, cluster=cluster)

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """The objects under a value of an index, as with `list`."""
        self._expect_all_of(index.resource)
        return self._known.by_index(index, value)

    def _expect_all_of(self, resource: Resource) -> None:
        if resource in self._partial:
            raise NotReadError(resource)
