"""The port through which a decision reads the world: objects by key, by label selector, by declared index.

An informer cache, the in-memory cluster and a folder of manifests serve it. It does not change while a decision reads.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.selectors import LabelSelector

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Index(Generic[Value]):
    """A named look-up over the objects of one resource in one cluster."""

    name: str
    resource: Resource
    values: Callable[[Manifest], Iterable[Value]]
    """The index values of an object: a function of the object alone."""
    cluster: Cluster = Cluster.TARGET


class Snapshot(Protocol):
    """A read-only view of the objects that a controller watches, after their transforms."""

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of that key; none if it does not exist."""
        ...

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """True if the objects of a resource are watched and completely listed.

        A declared watch has always synced if it is `required_for_sync`; a dynamic watch may not have. Nothing of a
        resource that has not synced is visible, nor are objects outside the namespaces of a restricted process.
        """
        ...

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """The objects of a resource, of one namespace or of all, that a selector matches; in no promised order."""
        ...

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """The objects with a value in a declared index; in no promised order."""
        ...
