"""The caches of a process: each resource is cached once for all controllers and webhooks that read it.

Expected flow: before `run` starts, every controller asks for its `view`, and every other reader for its `reading`.
`run` in a task then keeps the stores in step with the API servers, and begins and ends dynamic watches.

Guarantees: a listener hears of changes in order, after the store shows them. A listener that raises keeps no other from
hearing of them, and ends `run` with its error, because nothing would repeat what it has missed.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Controller, Read, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.questions import defines_kinds
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.informer.informer import Informer, InformerObserver
from hedgerow_adapters.informer.recovery import Recovery
from hedgerow_adapters.kubernetes.discovery import Discovery
from hedgerow_adapters.kubernetes.live_reads import AT_ONCE
from hedgerow_adapters.runtime.clusters import Clusters
from hedgerow_adapters.runtime.queue import WorkQueue
from hedgerow_adapters.runtime.shared_cache import Cache, Listener
from hedgerow_adapters.runtime.steps import LongDecisions, Render, no_charts

LATE_AFTER: Final = 10.0
"""Seconds for which a start waits for watches that are not `required_for_sync`, once all others have synced."""
_Caches: TypeAlias = Mapping[tuple[Cluster, Resource], Cache]
_Shared: TypeAlias = tuple[Cluster, Resource, Callable[[Manifest], Manifest], bool, bool, str, str, str]
"""What two readers have in common that can do with one cache."""


class View:
    """The caches of one controller or webhook.

    The snapshot shows a dynamic watch while its cache is complete, and never waits for it. It shows a watch that is not
    `required_for_sync` from its first list on; the start waits only `LATE_AFTER` for that.
    """

    def __init__(self, required: _Caches, beside: _Caches) -> None:
        self._required = required
        self._beside = beside
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for (cluster, resource), cache in required.items():
            stores[cluster][resource] = cache.store
        self._dynamic: dict[tuple[Cluster, Resource], list[Cache]] = {}
        self.snapshot: Final = StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE], self._other_store)

    def show(self, cluster: Cluster, cache: Cache) -> None:
        """Add a cache to the snapshot; it is visible while it is complete."""
        self._dynamic.setdefault((cluster, cache.resource), []).append(cache)

    def hide(self, cluster: Cluster, cache: Cache) -> None:
        """Remove a cache from the snapshot."""
        self._dynamic[cluster, cache.resource].remove(cache)

    def silence_of(self, cluster: Cluster, resource: Resource) -> float:
        """Seconds since the API server last sent anything about a resource; 0 if no dynamic watch reads it."""
        return max((cache.silence() for cache in self._dynamic.get((cluster, resource), ())), default=0.0)

    def informer_of(self, cluster: Cluster, resource: Resource, key: ObjectKey) -> Informer | None:
        """The informer that sees an object; none if the object is not read, or if no turn may wait for the informer."""
        cache = self._required.get((cluster, resource))
        if cache is None:
            other = self._other_cache(cluster, resource)
            cache = other if other is not None and other.is_well else None
        return cache.informer_of(key) if cache is not None else None

    def is_complete(self, cluster: Cluster) -> bool:
        """True if every watch of a cluster that is required for the sync has been listed."""
        return all(informer.synced.is_set() for informer in self._informers(cluster))

    async def completed(self) -> None:
        """Return when everything has been listed; wait at most `LATE_AFTER` for what is not required for the sync."""
        for informer in self._informers(*Cluster):
            await informer.synced.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LATE_AFTER):
                for informer in (informer for cache in self._beside.values() for informer in cache.informers):
                    await informer.synced.wait()

    async def relist(self) -> None:
        """Return when everything has been listed anew."""
        await asyncio.gather(*(informer.relist() for informer in self._informers(*Cluster)))

    def silences(self) -> Iterator[tuple[Resource, Callable[[], float]]]:
        """Each resource that is read, with a function that returns the seconds since the server last sent anything."""
        return ((resource, cache.silence) for (_, resource), cache in (*self._required.items(), *self._beside.items()))

    def _other_store(self, cluster: Cluster, resource: Resource) -> ObjectStore | None:
        return cache.store if (cache := self._other_cache(cluster, resource)) is not None else None

    def _other_cache(self, cluster: Cluster, resource: Resource) -> Cache | None:
        beside = self._beside.get((cluster, resource))
        if beside is not None and beside.is_listed:
            return beside
        caches = self._dynamic.get((cluster, resource), ())
        return next((cache for cache in caches if cache.is_complete), None)

    def _informers(self, *clusters: Cluster) -> Iterator[Informer]:
        """Each informer that is declared once, although a cache may serve both roles of one cluster."""
        caches = dict.fromkeys(cache for (cluster, _), cache in self._required.items() if cluster in clusters)
        return (informer for cache in caches for informer in cache.informers)


class Caches:
    """The caches of one process, and what else all its controllers share."""

    def __init__(self, clusters: Clusters, *, random: Callable[[], float], render: Render = no_charts) -> None:
        """Caches that hold nothing yet; `random` draws numbers between 0 and 1, for jitter; `render` renders charts."""
        self.clusters: Final = clusters
        self.random: Final = random
        self.render: Final = render
        self.recoveries: Final = {
            cluster: Recovery(clusters.access(cluster).urgent, random=random, on_recovery=self._tell_of_recovery)
            for cluster in Cluster
        }
        target = Discovery(clusters.target.transport)
        source = target if clusters.are_one else Discovery(clusters.source.transport)
        self.discoveries: Final = {Cluster.TARGET: target, Cluster.SOURCE: source}
        self.places_for_questions: Final = asyncio.Semaphore(AT_ONCE)
        """Bounds the questions that decisions have under way at a time."""
        self.long_decisions: Final = LongDecisions()
        self.queues: dict[str, WorkQueue] = {}
        self._caches: dict[_Shared, Cache] = {}
        self._users: Counter[_Shared] = Counter()
        self._informing: dict[_Shared, list[asyncio.Task[None]]] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Nothing ends the caches but a defect of a listener."""
        self.when_recovered: Final = list[Callable[[], None]]()
        """Called whenever an unreachable API server is ready again."""

    def view(
        self, controller: Controller[Any], listener_of: Callable[[Watch], Listener], observer: InformerObserver
    ) -> View:
        """The view of a controller; the listener of each of its watches hears of changes once `run` has started."""
        view = self.reading(controller.watches, controller.indexes, observer)
        for watch in controller.watches:
            self.cache(watch).listeners.append(listener_of(watch))
        return view

    def reading(self, reads: Iterable[Read], indexes: Sequence[Index[Any]], observer: InformerObserver) -> View:
        """The view of a reader without listeners, such as a webhook.

        Raises ValueError if another reader has an index of the same name over the same objects.
        """
        required: dict[tuple[Cluster, Resource], Cache] = {}
        beside: dict[tuple[Cluster, Resource], Cache] = {}
        for read in reads:
            caches = required if read.required_for_sync else beside
            cache = caches[read.cluster, read.resource] = self.join(read)
            cache.serve(observer, [index for index in indexes if is_over(index, read)])
        return View(required, beside)

    def _tell_of_recovery(self) -> None:
        for tell in self.when_recovered:
            tell()

    async def run(self) -> None:
        """Keep everything that is read in step until cancelled; raises ExceptionGroup if a listener has a defect."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for shared in self._caches:
                self._inform(shared)
            await self._end

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside, for as long as `run` runs."""
        if self._tasks is None:
            raise RuntimeError("nothing is kept in step yet")
        return self._tasks.create_task(work)

    def join(self, read: Read) -> Cache:
        """The cache of a read, kept in step while it has readers."""
        shared = self._shared(read)
        self._users[shared] += 1
        if shared not in self._caches:
            self._caches[shared] = self._new_cache(shared[0], read)
            if self._tasks is not None:
                self._inform(shared)
        return self._caches[shared]

    def leave(self, read: Read) -> None:
        """Remove a reader; the cache ends with its last one."""
        shared = self._shared(read)
        self._users[shared] -= 1
        if not self._users[shared]:
            del self._users[shared], self._caches[shared]
            for task in self._informing.pop(shared):
                task.cancel()

    def cache(self, read: Read) -> Cache:
        """The cache of a read that has a reader."""
        return self._caches[self._shared(read)]

    def _shared(self, read: Read) -> _Shared:
        role = Cluster.TARGET if self.clusters.are_one else read.cluster
        selection = (read.label_selector, read.field_selector, read.namespace)
        return (role, read.resource, read.transform, read.metadata_only, read.may_be_absent, *selection)

    def _inform(self, shared: _Shared) -> None:
        self._informing[shared] = [self.start(informer.run()) for informer in self._caches[shared].informers]

    def _new_cache(self, role: Cluster, read: Read) -> Cache:
        access, recovery, discovery = self.clusters.access(role), self.recoveries[role], self.discoveries[role]
        cache = Cache(read, access, recovery, discovery, random=self.random, on_defect=self._end_with)
        if defines_kinds(read.resource):
            cache.listeners.append(_hints(read.resource, discovery))
        return cache

    def _end_with(self, defect: Exception) -> None:
        if not self._end.done():
            self._end.set_exception(defect)


def _hints(resource: Resource, discovery: Discovery) -> Listener:
    """Hears that other kinds may be served than before; the first list is no news."""
    lists = 0

    def receive(changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
        nonlocal lists
        lists += not is_event and not continues
        if is_event or lists > 1:
            for change in changes:
                discovery.may_have_changed(resource, key_of(change.new or change.old or {}))
        return 0

    return receive
