"""The next objects of a scope of a store, built beside the current ones and put in their place at once.

Expected flow: `add` as often as there are objects, then `commit`, then `next_changes` until the replacement `is_over`.
Guarantees: until `commit` a reader sees all objects as before, from then on exactly those that were added, never some
of both. What has not changed is held once. No step but `commit` takes longer the more objects there are.
"""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow_adapters.cache.shard import Shard
from hedgerow_adapters.slices import SLICE


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
