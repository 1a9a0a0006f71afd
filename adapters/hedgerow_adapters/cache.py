"""Objects in memory, with indexes: the snapshot that decisions read.

A store holds the objects of one resource as transformed, in scopes that are read as one and replaced one by one. It is
read and written from one thread. A write that fails, because an index cannot make sense of an object, changes nothing.
"""

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Self, TypeAlias, TypeVar

from hedgerow.machinery.clusters import EVERYTHING, Cluster, ReadScope
from hedgerow.machinery.controller import Change, Read
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Value
from hedgerow_adapters.slices import SLICE

_TARGET: Final = Cluster.TARGET  # a member of an enumeration is slow to look up
_Found: TypeAlias = dict[ObjectKey, Manifest]
_Table: TypeAlias = dict[Hashable, _Found]
_Filing: TypeAlias = tuple[tuple[str, tuple[Hashable, ...]], ...]
"""Under which values of which index an object is filed; indexes without values for it are left out."""
_Place = TypeVar("_Place", bound=Hashable)


class UnfiledError(Exception):
    """An index cannot make sense of an object; names it."""


class _Shard:
    """The objects of one scope by key, by namespace and by declared index."""

    def __init__(self, indexes: Collection[Index[Any]]) -> None:
        self.objects: _Found = {}
        self.namespaces: dict[str, _Found] = {}
        self.tables: dict[str, _Table] = {index.name: {} for index in indexes}
        self._indexes = tuple(indexes)
        self._filings: dict[ObjectKey, _Filing] = {}
        """Kept, as to work them out again would take longer than all the rest."""

    def add_index(self, index: Index[Any]) -> None:
        table = self.tables[index.name] = {}
        self._indexes = (*self._indexes, index)
        for key, manifest in self.objects.items():
            if values := tuple(index.values(manifest)):
                self._filings[key] = (*self._filings.get(key, ()), (index.name, values))
                for value in values:
                    table.setdefault(value, {})[key] = manifest

    def put(self, manifest: Manifest) -> Manifest | None:
        """Hold an object in place of the one of its key, which is returned."""
        try:
            filing = tuple((index.name, values) for index in self._indexes if (values := tuple(index.values(manifest))))
        except Exception as problem:
            message = f"{key_of(manifest)} cannot be filed: {type(problem).__name__}: {problem}"
            raise UnfiledError(message) from problem
        return self._file(key_of(manifest), manifest, filing)

    def adopt(self, key: ObjectKey, other: Self) -> None:
        """Hold the object that another shard with the same indexes holds under a key."""
        self._file(key, other.objects[key], other._filings.get(key, ()))

    def remove(self, key: ObjectKey) -> Manifest | None:
        """Forget the object of a key, which is returned."""
        if key in self.objects:
            self._unfile(key)
        return self.objects.pop(key, None)

    def _file(self, key: ObjectKey, manifest: Manifest, filing: _Filing) -> Manifest | None:
        old = self.objects.get(key)
        if old is not None:
            self._unfile(key)
        self.objects[key] = manifest
        if key.namespace:
            self.namespaces.setdefault(key.namespace, {})[key] = manifest
        if filing:
            self._filings[key] = filing
        for index, values in filing:
            table = self.tables[index]
            for value in values:
                table.setdefault(value, {})[key] = manifest
        return old

    def _unfile(self, key: ObjectKey) -> None:
        if key.namespace:
            _drop(self.namespaces, key.namespace, key)
        for index, values in self._filings.pop(key, ()):
            for value in values:
                _drop(self.tables[index], value, key)


def _drop(table: dict[_Place, _Found], place: _Place, key: ObjectKey) -> None:
    found = table.get(place, {})
    found.pop(key, None)
    if not found:
        table.pop(place, None)


class Replacement:
    """What a scope of a store is to hold."""

    def __init__(self, current: _Shard, following: _Shard, swap: Callable[[], None]) -> None:
        self._current = current
        self._following = following
        self._swap = swap
        self._different: dict[ObjectKey, Change] = {}
        self._missing = current.objects.copy()
        """The current objects that were not among those that were added."""
        self._changes: deque[Change] = deque()

    def add(self, manifests: Iterable[Manifest]) -> None:
        """Let these objects be among those that the scope will hold; of two with one key the later counts."""
        for manifest in manifests:
            key = key_of(manifest)
            old = self._current.objects.get(key)
            self._missing.pop(key, None)
            if old == manifest:
                self._following.adopt(key, self._current)
                self._different.pop(key, None)
            else:
                self._following.put(manifest)
                self._different[key] = Change(old, manifest)

    def commit(self) -> None:
        """Let the scope hold exactly what was added."""
        self._swap()
        self._changes.extend(self._different.values())
        self._different.clear()

    def next_changes(self) -> list[Change]:
        """The next slice of what is different from before, none perhaps; the rest of what was before is forgotten, too.

        New and changed objects come in the order in which they were added, then removals. To forget a hundred thousand
        objects at once would take as long as to compare them.
        """
        changes = [self._changes.popleft() for _ in range(min(SLICE, len(self._changes)))]
        removals = range(min(SLICE - len(changes), len(self._missing)))
        changes += [Change(self._missing.popitem()[1], None) for _ in removals]
        for key in list(islice(self._current.objects, SLICE)):
            self._current.remove(key)
        return changes

    @property
    def is_over(self) -> bool:
        """Whether every change was handed out, and nothing is left of what was before."""
        return not (self._changes or self._missing or self._current.objects)


class ObjectStore:
    """The current objects of one resource, as kept. No two scopes of a store hold the same object."""

    def __init__(self, indexes: Iterable[Index[Any]] = ()) -> None:
        self._indexes = {index.name: index for index in indexes}
        self._shards: dict[ReadScope, _Shard] = {}
        self._next: dict[ReadScope, _Shard] = {}
        """What scopes are to hold once their replacements are complete."""

    def add_index(self, index: Index[Any]) -> None:
        """Have the objects found by one more index; raises ValueError if another index has its name."""
        if index.name not in self._indexes:
            self._indexes[index.name] = index
            for shard in (*self._shards.values(), *self._next.values()):
                shard.add_index(index)
        elif self._indexes[index.name] != index:
            raise ValueError(f'two indexes of one store are called "{index.name}"')

    def __len__(self) -> int:
        return sum(len(shard.objects) for shard in self._shards.values())

    def get(self, key: ObjectKey) -> Manifest | None:
        """The object of a key."""
        for shard in self._shards.values():
            if (found := shard.objects.get(key)) is not None:
                return found
        return None

    def all(self) -> Sequence[Manifest]:
        """Every object."""
        return [manifest for shard in self._shards.values() for manifest in shard.objects.values()]

    def of_namespace(self, namespace: str) -> Sequence[Manifest]:
        """The objects of one namespace."""
        shards = self._shards.values()
        return [manifest for shard in shards for manifest in shard.namespaces.get(namespace, {}).values()]

    def under(self, index: Index[Any], value: Hashable) -> Sequence[Manifest]:
        """The objects that an index files under a value."""
        shards = self._shards.values()
        return [manifest for shard in shards for manifest in shard.tables[index.name].get(value, {}).values()]

    def values_of(self, index: Index[Any]) -> Collection[Any]:
        """The values that an index files anything under."""
        return {value for shard in self._shards.values() for value in shard.tables[index.name]}

    def put(self, manifest: Manifest, scope: ReadScope = EVERYTHING) -> Change:
        """Store an object in place of the one of its key; raises UnfiledError if an index cannot make sense of it."""
        return Change(self._shard(scope).put(manifest), manifest)

    def remove(self, key: ObjectKey, scope: ReadScope = EVERYTHING) -> Change | None:
        """Forget the object of a key; none if there was none."""
        old = self._shard(scope).remove(key)
        return None if old is None else Change(old, None)

    def replacement(self, scope: ReadScope = EVERYTHING) -> Replacement:
        """Begin to replace all objects of a scope; a replacement that was begun before counts no longer.

        Nothing else may write to the scope until the replacement is complete or given up.
        """
        following = self._next[scope] = _Shard(self._indexes.values())

        def swap() -> None:
            self._shards[scope] = self._next.pop(scope)

        return Replacement(self._shard(scope), following, swap)

    def _shard(self, scope: ReadScope) -> _Shard:
        return self._shards.get(scope) or self._shards.setdefault(scope, _Shard(self._indexes.values()))


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
        return (self._target if cluster is _TARGET else self._source)[resource]

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
        store = (self._target if cluster is _TARGET else self._source).get(resource)
        return self._dynamic(cluster, resource) if store is None else store


def is_over(index: Index[Any], read: Read) -> bool:
    """Whether an index looks up what is read there."""
    return (index.resource, index.cluster) == (read.resource, read.cluster)
