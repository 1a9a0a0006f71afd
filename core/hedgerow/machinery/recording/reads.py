"""What a decision reads of the world, noted, and read again from the notes.

A read is a value: what was asked of a snapshot. Notes hold no more than what was asked, so whoever decides by them and
asks for anything else is told that it was not read then, which is another thing than that it did not exist.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.selectors import LabelSelector, selector_query
from hedgerow.machinery.snapshot import Index, Snapshot, Value


@dataclass(frozen=True, slots=True)
class Got:
    """One object by its key."""

    resource: Resource
    key: ObjectKey
    cluster: Cluster

    def __str__(self) -> str:
        """As a message says what was asked for."""
        return f"{self.resource.kind} {self.key}{_of(self.cluster)}"


@dataclass(frozen=True, slots=True)
class HasSynced:
    """Whether the objects of a resource are at hand."""

    resource: Resource
    cluster: Cluster

    def __str__(self) -> str:
        """As above."""
        return f"whether {self.resource}{_of(self.cluster)} are at hand"


@dataclass(frozen=True, slots=True)
class Listed:
    """Objects by namespace and labels."""

    resource: Resource
    namespace: str | None
    selector: LabelSelector | None
    cluster: Cluster

    def __str__(self) -> str:
        """As above."""
        where = f" in namespace {self.namespace}" if self.namespace is not None else ""
        which = f" with {selector_query(self.selector)}" if self.selector is not None else ""
        return f"all {self.resource}{where}{which}{_of(self.cluster)}"


@dataclass(frozen=True, slots=True)
class Filed:
    """Objects under a value of an index, which is known by its name."""

    index: str
    resource: Resource
    cluster: Cluster
    value: Any

    def __str__(self) -> str:
        """As above."""
        return f'{self.resource}{_of(self.cluster)} under {self.value} of "{self.index}"'


Read: TypeAlias = Got | HasSynced | Listed | Filed
Reads: TypeAlias = Mapping[Read, Any]
"""What was read, and what there was."""


def _of(cluster: Cluster) -> str:
    return "" if cluster is Cluster.TARGET else f" of the {cluster.value} cluster"


class NotReadError(Exception):
    """A decision asks for what was not read when it was recorded."""

    def __init__(self, read: Read) -> None:
        super().__init__(f"asks for {read}, which was not read then")


class NotingSnapshot:
    """A snapshot that notes what is read of it, as the reader is to see it."""

    def __init__(self, world: Snapshot, seen: Callable[[Resource, Cluster, Manifest], Manifest]) -> None:
        """Nothing has been read yet.

        Args:
            world: what there is.
            seen: an object as it is shown and noted.
        """
        self.reads: Final[dict[Read, Any]] = {}
        self._world = world
        self._seen = seen

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of a key."""
        read = Got(resource, key, cluster)
        if read not in self.reads:
            found = self._world.get(resource, key, cluster)
            self.reads[read] = None if found is None else self._seen(resource, cluster, found)
        manifest: Manifest | None = self.reads[read]
        return manifest

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """Whether the objects of a resource are at hand."""
        has_synced = self.reads[HasSynced(resource, cluster)] = self._world.has_synced(resource, cluster)
        return has_synced

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """Objects by namespace and labels."""
        read = Listed(resource, namespace, selector, cluster)
        if read not in self.reads:
            found = self._world.list(resource, namespace=namespace, selector=selector, cluster=cluster)
            self.reads[read] = tuple(self._seen(resource, cluster, each) for each in found)
        listed: Sequence[Manifest] = self.reads[read]
        return listed

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """Objects by index."""
        read = Filed(index.name, index.resource, index.cluster, value)
        if read not in self.reads:
            found = self._world.by_index(index, value)
            self.reads[read] = tuple(self._seen(index.resource, index.cluster, each) for each in found)
        filed: Sequence[Manifest] = self.reads[read]
        return filed


class RecordedSnapshot:
    """The world as far as it was read."""

    def __init__(self, reads: Reads) -> None:
        """A world of these notes."""
        self.reads = reads

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of a key."""
        manifest: Manifest | None = self._answer(Got(resource, key, cluster))
        return manifest

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """Whether the objects of a resource were at hand."""
        return bool(self._answer(HasSynced(resource, cluster)))

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """Objects by namespace and labels."""
        listed: Sequence[Manifest] = self._answer(Listed(resource, namespace, selector, cluster))
        return listed

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """Objects by index."""
        filed: Sequence[Manifest] = self._answer(Filed(index.name, index.resource, index.cluster, value))
        return filed

    def _answer(self, read: Read) -> Any:
        if read not in self.reads:
            raise NotReadError(read)
        return self.reads[read]
