"""What etcd and the watch cache are to an API server: objects, one counter of revisions, and the recent past.

Stored objects are immutable by convention: whoever changes one stores another. What a valid object is
is not known here.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, NamedTuple

from hedgerow.machinery.objects import Manifest, ObjectKey, Resource

_AFTER_SLASH: Final = chr(ord("/") + 1)
_revision_of = attrgetter("revision")


class StoredChange(NamedTuple):
    """One write: the object before and after; one of them is none for a creation or a deletion."""

    revision: int
    path: str
    old: Manifest | None
    new: Manifest | None


@dataclass(slots=True)
class _Shelf:
    """The objects of one resource by path, the paths in order, and what happened to them since the horizon."""

    objects: dict[str, Manifest] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    history: list[StoredChange] = field(default_factory=list)
    horizon: int = 0


class State(NamedTuple):
    """All objects of one resource at one revision."""

    revision: int
    objects: Mapping[str, Manifest]
    paths: list[str]

    def range(self, namespace: str, after: str = "") -> list[str]:
        """The paths of a namespace, or of all where it is empty, that come behind a path, in order."""
        first = bisect_left(self.paths, f"{namespace}/") if namespace else 0
        last = bisect_left(self.paths, f"{namespace}{_AFTER_SLASH}") if namespace else len(self.paths)
        return self.paths[max(first, bisect_right(self.paths, after)) : last]

    def of_namespace(self, namespace: str) -> list[Manifest]:
        """The objects of a namespace, or of all where it is empty, in order."""
        return [self.objects[path] for path in self.range(namespace)]


def _path_of(key: ObjectKey) -> str:
    """Where an object is stored, beneath its resource; etcd sorts by it."""
    return f"{key.namespace}/{key.name}"


def with_revision(manifest: Manifest, revision: int) -> dict[str, Any]:
    """The object with the revision as its resourceVersion."""
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(revision)}}


class Backup(NamedTuple):
    """All objects of a moment."""

    revision: int
    objects: Mapping[Resource, Mapping[str, Manifest]]


class Storage:
    """Keeps objects, and tells listeners of every write in the order of the writes.

    A write that a listener makes is told only after the one that it is listening to was told to all.
    """

    def __init__(self, *, history: int) -> None:
        """An empty storage that remembers at least `history` changes of each resource."""
        self.revision = 1
        self._history = history
        self._shelves: defaultdict[Resource, _Shelf] = defaultdict(_Shelf)
        self._listeners: defaultdict[Resource, list[Callable[[StoredChange], None]]] = defaultdict(list)
        self._untold: deque[tuple[Resource, StoredChange]] = deque()
        self._held_back = False
        self.is_trial = False
        """Whether writes are answered and not done."""

    def get(self, resource: Resource, key: ObjectKey) -> Manifest | None:
        """The object of a key."""
        return self._shelves[resource].objects.get(_path_of(key))

    def all(self, resource: Resource) -> Iterable[Manifest]:
        """The present objects of a resource, in no order; they change with the next write."""
        return self._shelves[resource].objects.values()

    def state(self, resource: Resource) -> State:
        """The present objects of a resource. A view: it changes with the next write."""
        shelf = self._shelves[resource]
        return State(self.revision, shelf.objects, shelf.paths)

    def past_state(self, resource: Resource, revision: int) -> State | None:
        """The objects as they were at a revision; none if that is no longer known."""
        changes, shelf = self.changes(resource, revision), self._shelves[resource]
        if not changes:
            return None if changes is None else State(revision, shelf.objects, shelf.paths)
        objects = dict(shelf.objects)
        for change in reversed(changes):
            if change.old is None:
                del objects[change.path]
            else:
                objects[change.path] = change.old
        return State(revision, objects, sorted(objects))

    def changes(self, resource: Resource, after: int) -> list[StoredChange] | None:
        """What happened after a revision; none if that is no longer known."""
        shelf = self._shelves[resource]
        if after < shelf.horizon:
            return None
        return shelf.history[bisect_right(shelf.history, after, key=_revision_of) :]

    def horizon(self, resource: Resource) -> int:
        """The oldest revision after which all changes of a resource are known."""
        return self._shelves[resource].horizon

    def put(self, resource: Resource, key: ObjectKey, manifest: Manifest) -> Manifest:
        """Store an object, and return it with its new resourceVersion; in a trial, return it as it is."""
        if self.is_trial:
            return manifest
        shelf, path = self._shelves[resource], _path_of(key)
        old = shelf.objects.get(path)
        if old is None:
            insort(shelf.paths, path)
        stored = shelf.objects[path] = with_revision(manifest, self.revision + 1)
        self._record(resource, path, old, stored)
        return stored

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        """Forget an object, unless in a trial."""
        if self.is_trial:
            return
        shelf, path = self._shelves[resource], _path_of(key)
        del shelf.paths[bisect_left(shelf.paths, path)]
        self._record(resource, path, shelf.objects.pop(path), None)

    def compact(self) -> None:
        """Forget the past, so that every revision handed out until now is too old."""
        self.revision += 1
        for shelf in self._shelves.values():
            shelf.history.clear()
            shelf.horizon = self.revision

    def back_up(self) -> Backup:
        """All objects as they are now."""
        return Backup(self.revision, {each: dict(shelf.objects) for each, shelf in self._shelves.items()})

    def restore(self, backup: Backup) -> None:
        """Let the objects be those of a backup, and the revision the one that it had; no listener is told."""
        self.revision = backup.revision
        for resource, shelf in self._shelves.items():
            shelf.objects = dict(backup.objects.get(resource, {}))
            shelf.paths = sorted(shelf.objects)
            shelf.history.clear()
            shelf.horizon = 0

    def listen(self, resource: Resource, listener: Callable[[StoredChange], None]) -> Callable[[], None]:
        """Tell a listener of the changes of a resource from now on; the answer ends that."""
        told_until, listeners = self.revision, self._listeners[resource]

        def tell(change: StoredChange) -> None:
            if change.revision > told_until:
                listener(change)

        def end() -> None:
            if tell in listeners:
                listeners.remove(tell)

        listeners.append(tell)
        return end

    def _record(self, resource: Resource, path: str, old: Manifest | None, new: Manifest | None) -> None:
        self.revision += 1
        shelf, change = self._shelves[resource], StoredChange(self.revision, path, old, new)
        shelf.history.append(change)
        if len(shelf.history) > 2 * self._history:
            shelf.horizon = shelf.history[-self._history - 1].revision
            del shelf.history[: -self._history]
        self._untold.append((resource, change))
        if not self._held_back:
            self._tell()

    @contextmanager
    def trial(self, *, is_trial: bool) -> Iterator[None]:
        """Writes inside of the context are answered and, if it is a trial, not done."""
        self.is_trial = is_trial
        try:
            yield
        finally:
            self.is_trial = False

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Writes inside of the context are told at its end."""
        outermost, self._held_back = not self._held_back, True
        try:
            yield
        finally:
            self._held_back = not outermost
        if outermost:
            self._tell()

    def _tell(self) -> None:
        """Tell the listeners of all writes that were not told yet, those included that they make meanwhile."""
        self._held_back = True
        try:
            while self._untold:
                resource, change = self._untold.popleft()
                for tell in tuple(self._listeners[resource]):
                    tell(change)
        finally:
            self._held_back = False
