"""The objects of one resource, in scopes that are read as one and replaced one by one.

A store holds what it is given, which is what a watch keeps of an object, and decides nothing. It is read and written
from one thread. A write that fails, because an index cannot make sense of an object, changes nothing.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

from hedgerow.machinery.clusters import EVERYTHING, ReadScope
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.snapshot import Index, Value
from hedgerow_adapters.cache.shard import Replacement, Shard


class ObjectStore:
    """The current objects of one resource, as kept.

    Each write says which scope it is about. No two scopes of a store hold the same object.
    """

    def __init__(self, indexes: Iterable[Index[Any]] = ()) -> None:
        self._indexes = {index.name: index for index in indexes}
        self._shards: dict[ReadScope, Shard] = {}
        self._next: dict[ReadScope, Shard] = {}
        """What scopes are to hold once their replacements are complete."""

    def add_index(self, index: Index[Any]) -> None:
        """Have the objects found by one more index.

        Raises:
            ValueError: another index has this name.
        """
        if index.name not in self._indexes:
            self._indexes[index.name] = index
            for shard in (*self._shards.values(), *self._next.values()):
                shard.add_index(index)
        elif self._indexes[index.name] != index:
            raise ValueError(f'two indexes of one store are called "{index.name}"')

    def __len__(self) -> int:
        return sum(map(len, self._shards.values()))

    def get(self, key: ObjectKey) -> Manifest | None:
        """The object of a key."""
        for shard in self._shards.values():
            if (found := shard.get(key)) is not None:
                return found
        return None

    def all(self) -> Sequence[Manifest]:
        """Every object."""
        return [manifest for shard in self._shards.values() for manifest in shard.all()]

    def of_namespace(self, namespace: str) -> Sequence[Manifest]:
        """The objects of one namespace."""
        return [manifest for shard in self._shards.values() for manifest in shard.of_namespace(namespace)]

    def under(self, index: Index[Any], value: Hashable) -> Sequence[Manifest]:
        """The objects that an index files under a value."""
        return [manifest for shard in self._shards.values() for manifest in shard.under(index.name, value)]

    def values_of(self, index: Index[Value]) -> Collection[Value]:
        """The values that an index files anything under."""
        return {value for shard in self._shards.values() for value in shard.values_of(index.name)}

    def put(self, manifest: Manifest, scope: ReadScope = EVERYTHING) -> Change:
        """Store an object in place of the one of its key.

        Raises:
            UnfiledError: an index cannot make sense of the object.
        """
        return Change(self._shard(scope).put(manifest), manifest)

    def remove(self, key: ObjectKey, scope: ReadScope = EVERYTHING) -> Change | None:
        """Forget the object of a key; none if there was none."""
        old = self._shard(scope).remove(key)
        return None if old is None else Change(old, None)

    def replacement(self, scope: ReadScope = EVERYTHING) -> Replacement:
        """Begin to replace all objects of a scope; a replacement that was begun before counts no longer.

        Nothing else may write to the scope until the replacement is complete or given up.
        """
        following = self._next[scope] = Shard(self._indexes.values())
        return Replacement(self._shard(scope), following, lambda: self._swap(scope))

    def _swap(self, scope: ReadScope) -> None:
        self._shards[scope] = self._next.pop(scope)

    def _shard(self, scope: ReadScope) -> Shard:
        if scope not in self._shards:
            self._shards[scope] = Shard(self._indexes.values())
        return self._shards[scope]
