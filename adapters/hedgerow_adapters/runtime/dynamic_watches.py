"""Watches of kinds that only objects name: they begin when a kind is named and served, and end when it is not.

Expected flow: `DynamicWatches` hears of each change of the objects that name kinds.

Guarantees: no controller waits for a kind that is not served, or for a list that is slow, forbidden or fails; it is
tried again in the background. The watch of a kind ends a minute after the last object has ceased to name it. When the
objects of a kind are listed for the first time, the keys of the objects that name the kind are enqueued, so that no
earlier change is missed.

Caveats: two watches share a subscription only if they are equal, with `enqueue` and `predicate`. Otherwise a change may
enqueue its keys twice, from the one cache.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, DynamicWatch, Read, Watch
from hedgerow.machinery.objects import Kind, Resource
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore, is_over
from hedgerow_adapters.informer import InformerObserver
from hedgerow_adapters.informer.backoff import restart_delay
from hedgerow_adapters.kubernetes.discovery import Discovery
from hedgerow_adapters.runtime.shared_cache import Cache, Listener

Keeps: TypeAlias = Callable[[Resource, Callable[[], float]], None]
"""Is told that a resource is kept, and how to ask for how many seconds nothing has been heard of it."""

GRACE: Final = 60.0
"""Seconds for which a kind is still watched after the last object has ceased to name it."""


class CachePool(Protocol):
    """The caches of a process, which come and go."""

    @property
    def random(self) -> Callable[[], float]:
        """Numbers between 0 and 1, for jitter."""
        ...

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Have something done beside, for as long as the caches are kept in step."""
        ...

    def join(self, read: Read) -> Cache:
        """The cache of a read, kept in step while it has readers."""
        ...

    def leave(self, read: Read) -> None:
        """Remove a reader; the cache ends with its last one."""
        ...

    def discovery_of(self, cluster: Cluster) -> Discovery:
        """What is known of the kinds of a cluster."""
        ...

    async def pause(self, cluster: Cluster, seconds: float) -> bool:
        """Wait for so many seconds, or until an unreachable API server is ready again; true if it is."""
        ...


class Showcase(Protocol):
    """The snapshot that a controller reads."""

    def show(self, cluster: Cluster, cache: Cache) -> None:
        """Add a cache to the snapshot; it is visible while it is complete."""
        ...

    def hide(self, cluster: Cluster, cache: Cache) -> None:
        """Remove a cache from the snapshot."""
        ...

    def silence_of(self, cluster: Cluster, resource: Resource) -> float:
        """Seconds since the API server last sent anything about a resource; 0 if no dynamic watch reads it."""
        ...


@dataclass(frozen=True, slots=True)
class Ground:
    """What the dynamic watches of one controller use."""

    caches: CachePool
    view: Showcase
    indexes: Sequence[Index[Any]]
    listener_of: Callable[[Watch], Listener]
    observer: InformerObserver
    keeps: Keeps
    """Called once for each resource that a dynamic watch reads."""


class DynamicWatches:
    """The kinds that some objects name, each watched while it is served."""

    def __init__(self, dynamic: DynamicWatch, ground: Ground, *, names: ObjectStore, wakes: Sequence[Listener]) -> None:
        """Nothing is named yet.

        Args:
            dynamic: the declaration.
            ground: the caches and the snapshot of the controller.
            names: the objects that name kinds.
            wakes: the listeners of these objects.
        """
        self._dynamic = dynamic
        self._ground = ground
        self._names = names
        self._wakes = wakes
        self._kinds: dict[Kind, _NamedKind] = {}
        self._ends: dict[Kind, asyncio.TimerHandle] = {}
        self._readings: dict[Watch, _Reading] = {}
        self._told: set[tuple[Cluster, Resource]] = set()

    def names_changed(self, changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:  # noqa: ARG002 -- a listener
        """Begin and end watches, so that they match the kinds that objects name now."""
        named = self._names.values_of(self._dynamic.kinds)
        for kind in named:
            if kind not in self._kinds:
                self._kinds[kind] = _NamedKind(kind, self)
            elif kind in self._ends:
                self._ends.pop(kind).cancel()
        for kind in self._kinds.keys() - self._ends.keys() - set(named):
            self._ends[kind] = asyncio.get_running_loop().call_later(GRACE, self._end, kind)
        return 0

    def _end(self, kind: Kind) -> None:
        del self._ends[kind]
        self._kinds.pop(kind).end()

    @property
    def discovery(self) -> Discovery:
        """The discovery of the cluster whose kinds are watched."""
        return self._ground.caches.discovery_of(self._dynamic.cluster)

    async def pause(self, attempt: int, *, is_away: bool) -> None:
        """Wait before the next attempt.

        Args:
            attempt: how many attempts have failed in a row.
            is_away: true if the API server is unreachable: the wait ends when it is ready again.
        """
        caches = self._ground.caches
        seconds = restart_delay(attempt, caches.random())
        await (caches.pause(self._dynamic.cluster, seconds) if is_away else asyncio.sleep(seconds))

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task in the background."""
        return self._ground.caches.start(work)

    def read(self, kind: Kind, resource: Resource) -> None:
        """Begin the watches that a kind needs."""
        for watch in self._dynamic.watches(resource):
            reading = self._readings.get(watch)
            if reading is None:
                reading = self._readings[watch] = _Reading(watch, self._ground, self._wake)
                self._tell_of(watch.cluster, watch.resource)
            reading.begin(kind)

    def stop_reading(self, kind: Kind) -> None:
        """End the watches that only this kind needs."""
        for watch, reading in list(self._readings.items()):
            if not reading.is_needed_without(kind):
                del self._readings[watch]
                reading.end()

    def _tell_of(self, cluster: Cluster, resource: Resource) -> None:
        if (cluster, resource) not in self._told:
            self._told.add((cluster, resource))
            self._ground.keeps(resource, partial(self._ground.view.silence_of, cluster, resource))

    def _wake(self, kind: Kind) -> None:
        """Enqueue the keys of the objects that name a kind, as if a list had just returned them."""
        changes = [Change(None, manifest) for manifest in self._names.under(self._dynamic.kinds, kind)]
        for listener in self._wakes:
            listener(changes, is_event=False)


class _NamedKind:
    """One kind that objects name."""

    def __init__(self, kind: Kind, watches: DynamicWatches) -> None:
        self._kind = kind
        self._watches = watches
        self._resource: Resource | None = None
        self._task = watches.start(self._pursue())

    def end(self) -> None:
        """Stop watching the kind."""
        self._task.cancel()
        self._serve(None)

    async def _pursue(self) -> None:
        """Watch the kind whenever the API server serves it."""
        discovery, fruitless = self._watches.discovery, 0
        while True:
            answer = (await discovery.look_up([self._kind]))[self._kind]
            if self._kind in discovery.known:
                fruitless = 0
                self._serve(None if isinstance(answer, NotAnswered) or not discovery.is_watchable(answer) else answer)
                await discovery.until_forgotten(self._kind)
            else:
                fruitless += 1
                is_away = isinstance(answer, NotAnswered) and answer.is_unreachable
                await self._watches.pause(fruitless, is_away=is_away)

    def _serve(self, resource: Resource | None) -> None:
        """Watch the kind as this resource; none: the kind is not served."""
        if resource == self._resource:
            return
        if self._resource is not None:
            self._watches.stop_reading(self._kind)
        self._resource = resource
        if resource is not None:
            self._watches.read(self._kind, resource)


class _Reading:
    """One watch that one or several kinds need."""

    def __init__(self, watch: Watch, ground: Ground, wake: Callable[[Kind], None]) -> None:
        # The API server may stop serving the resource at any time. That is no error.
        self._read = replace(watch, may_be_absent=True)
        self._ground = ground
        self._wake = wake
        self._kinds: set[Kind] = set()
        self._listener = ground.listener_of(watch)
        self._cache = ground.caches.join(self._read)
        self._is_at_hand = self._cache.is_complete
        self._cache.serve(ground.observer, [index for index in ground.indexes if is_over(index, watch)])
        self._cache.subscribe(self._hear)
        ground.view.show(watch.cluster, self._cache)
        if self._is_at_hand:
            self._listener([Change(None, manifest) for manifest in self._cache.store.all()], is_event=False)

    def begin(self, kind: Kind) -> None:
        """Note one more kind that needs the watch."""
        self._kinds.add(kind)
        if self._is_at_hand:
            self._wake(kind)

    def is_needed_without(self, kind: Kind) -> bool:
        """Remove a kind; true if another one still needs the watch."""
        self._kinds.discard(kind)
        return bool(self._kinds)

    def end(self) -> None:
        """End the watch."""
        self._ground.view.hide(self._read.cluster, self._cache)
        self._cache.dismiss(self._hear, self._ground.observer)
        self._ground.caches.leave(self._read)

    def _hear(self, changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
        queued = self._listener(changes, is_event=is_event, continues=continues)
        if not self._is_at_hand and self._cache.is_complete:
            self._is_at_hand = True
            for kind in tuple(self._kinds):
                self._wake(kind)
        return queued
