"""The objects of one resource by key, by namespace and by declared index.

A store holds what it is given, which is what a watch keeps of an object, and decides nothing. It is read and written
from one thread. A write that fails, because an index cannot make sense of an object, changes nothing.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, Self, TypeAlias, TypeVar

from hedgerow.machinery.clusters import EVERYTHING, Cluster, Part
from hedgerow.machinery.controller import Change, Controller, Read
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Value

_Found: TypeAlias = dict[ObjectKey, Manifest]
_Table: TypeAlias = dict[Hashable, _Found]
_Places: TypeAlias = tuple[tuple[_Table, tuple[Hashable, ...]], ...]
"""Where an object is to be found: under which values of which index, of those alone that have any."""
_Filing: TypeAlias = tuple[ObjectKey, Manifest, _Places]
_Value = TypeVar("_Value", bound=Hashable)
_TARGET: Final = Cluster.TARGET
World: TypeAlias = Mapping[Resource, Iterable[Manifest]]
"""The whole objects of one cluster."""


class UnfiledError(Exception):
    """An index cannot make sense of an object; names it."""

    def __init__(self, manifest: Manifest, problem: Exception) -> None:
        super().__init__(f"{key_of(manifest)} cannot be filed: {type(problem).__name__}: {problem}")


class ObjectStore:
    """The current objects of one resource, as kept."""

    def __init__(self, indexes: Iterable[Index[Any]] = ()) -> None:
        self._objects: _Found = {}
        self._namespaces: dict[str, _Found] = {}
        self._places: dict[ObjectKey, _Places] = {}
        """Of each object that an index files: to work that out again would take longer than all the rest."""
        self._indexes: dict[str, tuple[Index[Any], _Table]] = {index.name: (index, {}) for index in indexes}

    def add_index(self, index: Index[Any]) -> None:
        """Have the objects found by one more index.

        Raises:
            ValueError: another index has this name.
        """
        if index.name not in self._indexes:
            self._indexes[index.name] = (index, self._table(index))
        elif self._indexes[index.name][0] != index:
            raise ValueError(f'two indexes of one store are called "{index.name}"')

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: ObjectKey) -> Manifest | None:
        """The object of a key."""
        return self._objects.get(key)

    def all(self) -> Sequence[Manifest]:
        """Every object."""
        return list(self._objects.values())

    def of_namespace(self, namespace: str) -> Sequence[Manifest]:
        """The objects of one namespace."""
        return list(self._namespaces.get(namespace, {}).values())

    def under(self, index: Index[Any], value: Hashable) -> Sequence[Manifest]:
        """The objects that an index files under a value."""
        return list(self._indexes[index.name][1].get(value, {}).values())

    def values_of(self, index: Index[Value]) -> Collection[Value]:
        """The values that an index files anything under; they change with the objects."""
        values: Collection[Any] = self._indexes[index.name][1].keys()
        return values

    def put(self, manifest: Manifest) -> Change:
        """Store an object in place of the one of its key."""
        return self._store(self._filing(manifest))

    def remove(self, key: ObjectKey) -> Change | None:
        """Forget the object of a key; none if there was none."""
        old = self._objects.get(key)
        if old is None:
            return None
        self._unfile(key)
        del self._objects[key]
        return Change(old, None)

    def replace(self, manifests: Iterable[Manifest], part: Part = EVERYTHING) -> list[Change]:
        """Hold exactly these objects from now on, as far as a part goes.

        Returns:
            What is different from before: new and changed objects in the order given, then removals.
        """
        present = {key_of(manifest): manifest for manifest in manifests}
        superfluous = [key for key in self._keys_of(part) if key not in present]
        different = [manifest for key, manifest in present.items() if self._objects.get(key) != manifest]
        changes = [self._store(filing) for filing in [self._filing(manifest) for manifest in different]]
        return changes + [change for key in superfluous if (change := self.remove(key))]

    def _table(self, index: Index[Any]) -> _Table:
        table: _Table = {}
        for key, manifest in self._objects.items():
            if values := tuple(index.values(manifest)):
                self._places[key] = (*self._places.get(key, ()), (table, values))
            for value in values:
                table.setdefault(value, {})[key] = manifest
        return table

    def _keys_of(self, part: Part) -> Iterable[ObjectKey]:
        if part.name:
            return (ObjectKey(part.namespace, part.name),)
        return self._namespaces.get(part.namespace, {}) if part.namespace else self._objects

    def _filing(self, manifest: Manifest) -> _Filing:
        try:
            places = tuple(
                (table, values) for index, table in self._indexes.values() if (values := tuple(index.values(manifest)))
            )
        except Exception as problem:
            raise UnfiledError(manifest, problem) from problem
        return key_of(manifest), manifest, places

    def _store(self, filing: _Filing) -> Change:
        key, manifest, places = filing
        old = self._objects.get(key)
        if old is not None:
            self._unfile(key)
        self._objects[key] = manifest
        if key.namespace:
            self._namespaces.setdefault(key.namespace, {})[key] = manifest
        if places:
            self._places[key] = places
        for table, values in places:
            for value in values:
                table.setdefault(value, {})[key] = manifest
        return Change(old, manifest)

    def _unfile(self, key: ObjectKey) -> None:
        if key.namespace:
            _drop(self._namespaces, key.namespace, key)
        for table, values in self._places.pop(key, ()):
            for value in values:
                _drop(table, value, key)


def _drop(table: dict[_Value, _Found], value: _Value, key: ObjectKey) -> None:
    found = table.get(value)
    if found is None:
        return
    found.pop(key, None)
    if not found:
        del table[value]


def _nothing_followed(_cluster: Cluster, _resource: Resource) -> ObjectStore | None:
    return None


class StoreSnapshot:
    """The stores of everything that one controller watches, as the snapshot that its decisions read."""

    def __init__(
        self,
        target: Mapping[Resource, ObjectStore],
        source: Mapping[Resource, ObjectStore] | None = None,
        followed: Callable[[Cluster, Resource], ObjectStore | None] = _nothing_followed,
    ) -> None:
        """A snapshot of stores.

        Args:
            target: those of the target cluster.
            source: those of the source cluster.
            followed: where else the objects of a resource are, if they are at hand at the moment.
        """
        self._target = target
        self._source = source or {}
        self._followed = followed

    @classmethod
    def of(cls, controller: Controller[Any], target: World | None = None, source: World | None = None) -> Self:
        """The snapshot that a controller reads, over whole objects; without objects it is empty.

        Args:
            controller: who reads.
            target: the objects of the target cluster.
            source: those of the source cluster; none: it is the target.
        """
        target = target or {}
        worlds = {Cluster.TARGET: target, Cluster.SOURCE: target if source is None else source}
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for watch in controller.watches:
            indexes = [index for index in controller.indexes if is_over(index, watch)]
            store = stores[watch.cluster][watch.resource] = ObjectStore(indexes)
            for manifest in worlds[watch.cluster].get(watch.resource, ()):
                store.put(watch.keep(manifest))
        return cls(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    def store(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> ObjectStore:
        """The store of a watched resource."""
        return (self._target if cluster is _TARGET else self._source)[resource]

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of that key; none if it does not exist, or its resource is not held."""
        store = self._held(resource, cluster)
        return None if store is None else store.get(key)

    def holds(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
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
        return self._followed(cluster, resource) if store is None else store


def is_over(index: Index[Any], read: Read) -> bool:
    """Whether an index looks up what is read there."""
    return (index.resource, index.cluster) == (read.resource, read.cluster)
