"""The objects of one resource by key, by namespace and by declared index.

A store holds what it is given, which is what a watch keeps of an object, and decides nothing. It is read and written
from one thread. A write that fails, because an index cannot make sense of an object, changes nothing.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeAlias, TypeVar

from hedgerow.machinery.controller import Change, Controller
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Value

_Found: TypeAlias = dict[ObjectKey, Manifest]
_Table: TypeAlias = dict[Hashable, _Found]
_Filing: TypeAlias = tuple[ObjectKey, Manifest, list[tuple[_Table, list[Hashable]]]]
"""An object, and where it is to be found: under which values of which index."""
_Value = TypeVar("_Value", bound=Hashable)


class ObjectStore:
    """The current objects of one resource, as kept."""

    def __init__(self, indexes: Iterable[Index[Any]] = ()) -> None:
        self._objects: _Found = {}
        self._namespaces: dict[str, _Found] = {}
        self._indexes: dict[str, tuple[Index[Any], _Table]] = {index.name: (index, {}) for index in indexes}

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

    def put(self, manifest: Manifest) -> Change:
        """Store an object in place of the one of its key."""
        return self._store(self._filing(manifest))

    def remove(self, key: ObjectKey) -> Change | None:
        """Forget the object of a key; none if there was none."""
        old = self._objects.get(key)
        if old is None:
            return None
        self._unfile(self._filing(old))
        del self._objects[key]
        return Change(old, None)

    def replace(self, manifests: Iterable[Manifest], namespace: str = "") -> list[Change]:
        """Hold exactly these objects from now on, of one namespace if given.

        Returns:
            What is different from before: new and changed objects in the order given, then removals.
        """
        present = {key_of(manifest): manifest for manifest in manifests}
        before = self._namespaces.get(namespace, {}) if namespace else self._objects
        superfluous = [key for key in before if key not in present]
        different = [manifest for key, manifest in present.items() if self._objects.get(key) != manifest]
        changes = [self._store(filing) for filing in [self._filing(manifest) for manifest in different]]
        return changes + [change for key in superfluous if (change := self.remove(key))]

    def _filing(self, manifest: Manifest) -> _Filing:
        places = [(table, list(index.values(manifest))) for index, table in self._indexes.values()]
        return key_of(manifest), manifest, places

    def _store(self, filing: _Filing) -> Change:
        key, manifest, places = filing
        old = self._objects.get(key)
        if old is not None:
            self._unfile(self._filing(old))
        self._objects[key] = manifest
        if key.namespace:
            self._namespaces.setdefault(key.namespace, {})[key] = manifest
        for table, values in places:
            for value in values:
                table.setdefault(value, {})[key] = manifest
        return Change(old, manifest)

    def _unfile(self, filing: _Filing) -> None:
        key, _, places = filing
        if key.namespace:
            _drop(self._namespaces, key.namespace, key)
        for table, values in places:
            for value in values:
                _drop(table, value, key)


def _drop(table: dict[_Value, _Found], value: _Value, key: ObjectKey) -> None:
    found = table.get(value)
    if found is None:
        return
    found.pop(key, None)
    if not found:
        del table[value]


class StoreSnapshot:
    """The stores of everything that one controller watches, as the snapshot that its decisions read."""

    def __init__(self, stores: Mapping[Resource, ObjectStore]) -> None:
        self._stores = stores

    @classmethod
    def of(cls, controller: Controller[Any], objects: Mapping[Resource, Iterable[Manifest]] | None = None) -> Self:
        """The snapshot that a controller reads, over whole objects; without objects it is empty."""
        snapshot = cls(
            {
                watch.resource: ObjectStore([index for index in controller.indexes if index.resource == watch.resource])
                for watch in controller.watches
            }
        )
        for watch in controller.watches:
            store = snapshot.store(watch.resource)
            for manifest in (objects or {}).get(watch.resource, ()):
                store.put(watch.keep(manifest))
        return snapshot

    def store(self, resource: Resource) -> ObjectStore:
        """The store of a watched resource."""
        return self._stores[resource]

    def get(self, resource: Resource, key: ObjectKey) -> Manifest | None:
        """The object of that key; none if it does not exist."""
        return self._stores[resource].get(key)

    def list(
        self, resource: Resource, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[Manifest]:
        """The objects of a resource, of one namespace or of all, that a selector matches."""
        store = self._stores[resource]
        found = store.all() if namespace is None else store.of_namespace(namespace)
        return found if selector is None else [manifest for manifest in found if selector.matches(labels_of(manifest))]

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """The objects that a declared index files under a value."""
        return self._stores[index.resource].under(index, value)
