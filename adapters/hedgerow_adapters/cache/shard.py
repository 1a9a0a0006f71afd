"""The objects of one scope of a resource by key, by namespace and by declared index.

A write that fails, because an index cannot make sense of an object, changes nothing.
"""

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, Self, TypeAlias, TypeVar

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.slices import SLICE

_Found: TypeAlias = dict[ObjectKey, Manifest]
_Table: TypeAlias = dict[Hashable, _Found]
_Filing: TypeAlias = tuple[tuple[str, tuple[Hashable, ...]], ...]
"""Under which values of which index an object is filed; indexes without values for it are left out."""
_Key = TypeVar("_Key", bound=Hashable)


class UnfiledError(Exception):
    """An index cannot make sense of an object; names it."""

    def __init__(self, manifest: Manifest, problem: Exception) -> None:
        super().__init__(f"{key_of(manifest)} cannot be filed: {type(problem).__name__}: {problem}")


class Shard:
    """Some objects of one resource, as kept."""

    def __init__(self, indexes: Iterable[Index[Any]]) -> None:
        self._objects: _Found = {}
        self._namespaces: dict[str, _Found] = {}
        self._filings: dict[ObjectKey, _Filing] = {}
        """Of each object that an index files: to work that out again would take longer than all the rest."""
        self._indexes = tuple(indexes)
        self._tables: dict[str, _Table] = {index.name: {} for index in self._indexes}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[ObjectKey]:
        return iter(self._objects)

    def get(self, key: ObjectKey) -> Manifest | None:
        """The object of a key."""
        return self._objects.get(key)

    def objects(self) -> dict[ObjectKey, Manifest]:
        """A copy of all objects by their keys."""
        return self._objects.copy()

    def all(self) -> Iterable[Manifest]:
        """Every object, for as long as nothing is written."""
        return self._objects.values()

    def of_namespace(self, namespace: str) -> Iterable[Manifest]:
        """The objects of one namespace, for as long as nothing is written."""
        return self._namespaces.get(namespace, {}).values()

    def under(self, index: str, value: Hashable) -> Iterable[Manifest]:
        """The objects that an index files under a value, for as long as nothing is written."""
        return self._tables[index].get(value, {}).values()

    def values_of(self, index: str) -> Collection[Any]:
        """The values that an index files anything under; they change with the objects."""
        return self._tables[index].keys()

    def add_index(self, index: Index[Any]) -> None:
        """File the objects by one more index."""
        table = self._tables[index.name] = {}
        self._indexes = (*self._indexes, index)
        for key, manifest in self._objects.items():
            if values := tuple(index.values(manifest)):
                self._filings[key] = (*self._filings.get(key, ()), (index.name, values))
                _enter(table, values, key, manifest)

    def put(self, manifest: Manifest) -> Manifest | None:
        """Hold an object in place of the one of its key, which is returned.

        Raises:
            UnfiledError: an index cannot make sense of the object.
        """
        return self._file(key_of(manifest), manifest, self._filing(manifest))

    def adopt(self, key: ObjectKey, other: Self) -> None:
        """Hold the object that another shard with the same indexes holds under a key."""
        self._file(key, other._objects[key], other._filings.get(key, ()))

    def remove(self, key: ObjectKey) -> Manifest | None:
        """Forget the object of a key, which is returned."""
        if key not in self._objects:
            return None
        self._unfile(key)
        return self._objects.pop(key)

    def _filing(self, manifest: Manifest) -> _Filing:
        try:
            return tuple((index.name, values) for index in self._indexes if (values := tuple(index.values(manifest))))
        except Exception as problem:
            raise UnfiledError(manifest, problem) from problem

    def _file(self, key: ObjectKey, manifest: Manifest, filing: _Filing) -> Manifest | None:
        old = self._objects.get(key)
        if old is not None:
            self._unfile(key)
        self._objects[key] = manifest
        if key.namespace:
            self._namespaces.setdefault(key.namespace, {})[key] = manifest
        if filing:
            self._filings[key] = filing
        for index, values in filing:
            _enter(self._tables[index], values, key, manifest)
        return old

    def _unfile(self, key: ObjectKey) -> None:
        if key.namespace:
            _drop(self._namespaces, key.namespace, key)
        for index, values in self._filings.pop(key, ()):
            for value in values:
                _drop(self._tables[index], value, key)


def _enter(table: _Table, values: Iterable[Hashable], key: ObjectKey, manifest: Manifest) -> None:
    for value in values:
        table.setdefault(value, {})[key] = manifest


def _drop(table: dict[_Key, _Found], place: _Key, key: ObjectKey) -> None:
    found = table.get(place)
    if found is None:
        return
    found.pop(key, None)
    if not found:
        del table[place]


class Replacement:
    """What a scope of a store is to hold."""

    def __init__(self, current: Shard, following: Shard, swap: Callable[[], None]) -> None:
        """Nothing was added yet.

        Args:
            current: what the scope holds now; nothing else may change it meanwhile.
            following: what it will hold.
            swap: makes it so.
        """
        self._current = current
        self._following = following
        self._swap = swap
        self._different: dict[ObjectKey, Change] = {}
        self._missing = current.objects()
        """The current objects that were not among those that were added."""
        self._changes: deque[Change] = deque()

    def add(self, manifests: Iterable[Manifest]) -> None:
        """Let these objects be among those that the scope will hold; of two with one key the later counts.

        Raises:
            UnfiledError: an index cannot make sense of an object.
        """
        for manifest in manifests:
            key = key_of(manifest)
            old = self._current.get(key)
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
        for key in list(islice(self._current, SLICE)):
            self._current.remove(key)
        return changes

    @property
    def is_over(self) -> bool:
        """Whether every change was handed out, and nothing is left of what was before."""
        return not (self._changes or self._missing or len(self._current))
