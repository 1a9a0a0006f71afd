"""The caches of a process: what its controllers and webhooks read of the clusters, each thing once for all who read it.

Expected flow: every controller asks for its `view`, and whoever else reads for what he is `reading`, before `run` is
started; `run` in a task then keeps the stores in step with the API servers. Guarantees: a listener hears of changes in
their order, when the store shows them already; one that raises keeps no other from hearing of them, and ends `run` with
its error, as nothing would tell it again what it has missed.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from hedgerow.machinery.clusters import Cluster, Part, visible_parts
from hedgerow.machinery.controller import Change, Controller, Read, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.informer import Delivery, Informer, InformerObserver, Put, Recovery, Remove, Replace, Watched
from hedgerow_adapters.runtime.clusters import Access, Clusters

Shared: TypeAlias = tuple[Cluster, Resource, Callable[[Manifest], Manifest], bool, bool]
"""What two readers have in common that can do with one cache."""


class Listener(Protocol):
    """Hears what has changed in a cache."""

    def __call__(self, changes: Sequence[Change], *, is_event: bool) -> None:
        """Hear of changes, none perhaps.

        Args:
            changes: the objects before and after.
            is_event: whether the server told of this very change; otherwise a list has replaced what was known.
        """
        ...


class Cache:
    """The objects of one resource in one cluster, as some readers keep them, and the informers that see to them."""

    def __init__(
        self,
        read: Read,
        access: Access,
        recovery: Recovery,
        *,
        random: Callable[[], float],
        on_defect: Callable[[Exception], None],
    ) -> None:
        self._on_defect = on_defect
        self.store: Final = ObjectStore()
        self._listeners: list[Listener] = []
        self._observers: list[InformerObserver] = []
        self.informers: Final = tuple(
            Informer(
                access.transport,
                read,
                self._receiver(part),
                observer=self,
                random=random,
                part=part,
                pause=recovery.pause,
            )
            for part in visible_parts(read.resource, access.namespaces)
        )

    def subscribe(self, listener: Listener) -> None:
        """Let one more hear of changes."""
        self._listeners.append(listener)

    def serve(self, observer: InformerObserver, indexes: Iterable[Index[Any]]) -> None:
        """Let one more hear of what happens to the watches, and have the store indexed for it."""
        for index in indexes:
            self.store.add_index(index)
        if not any(known is observer for known in self._observers):
            self._observers.append(observer)

    def informer_of(self, key: ObjectKey) -> Informer | None:
        """The informer that sees the object of a key; none if it is out of sight."""
        return next((informer for informer in self.informers if informer.part.holds(key)), None)

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """Tell everybody who reads this cache."""
        for observer in self._observers:
            observer.interrupted(watched, cause, problem)

    def resumed(self, watched: Watched) -> None:
        """Tell everybody who reads this cache."""
        for observer in self._observers:
            observer.resumed(watched)

    def silence(self) -> float:
        """For how many seconds nothing has been heard, of that part which is worst off."""
        return asyncio.get_running_loop().time() - min(informer.heard_at for informer in self.informers)

    def _receiver(self, part: Part) -> Callable[[Delivery], None]:
        def receive(delivery: Delivery) -> None:
            match delivery:
                case Replace(objects):
                    self._tell(self.store.replace(objects, part), is_event=False)
                case Put(manifest):
                    self._tell([self.store.put(manifest)], is_event=True)
                case Remove(manifest):
                    removed = self.store.remove(key_of(manifest))
                    self._tell([removed] if removed else [], is_event=True)

        return receive

    def _tell(self, changes: Sequence[Change], *, is_event: bool) -> None:
        for listener in self._listeners:
            try:
                listener(changes, is_event=is_event)
            except Exception as error:  # noqa: BLE001 -- the others must hear of it, too
                self._on_defect(error)


class View:
    """What one controller, or another reader, sees."""

    def __init__(self, caches: Mapping[tuple[Cluster, Resource], Cache]) -> None:
        self._caches = caches
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for (cluster, resource), cache in caches.items():
            stores[cluster][resource] = cache.store
        self.snapshot: Final = StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    def informer_of(self, cluster: Cluster, resource: Resource, key: ObjectKey) -> Informer | None:
        """The informer that sees an object; none if it is not read."""
        cache = self._caches.get((cluster, resource))
        return cache.informer_of(key) if cache is not None else None

    def is_complete(self, cluster: Cluster) -> bool:
        """Whether everything that is read of a cluster has been listed."""
        return all(informer.synced.is_set() for informer in self._informers(cluster))

    async def completed(self) -> None:
        """Return when everything has been listed."""
        for informer in self._informers(*Cluster):
            await informer.synced.wait()

    async def relist(self) -> None:
        """Return when everything has been listed anew."""
        await asyncio.gather(*(informer.relist() for informer in self._informers(*Cluster)))

    def silences(self) -> Iterator[tuple[Resource, Callable[[], float]]]:
        """What is read, and how to ask for how many seconds nothing has been heard of it."""
        return ((resource, cache.silence) for (_, resource), cache in self._caches.items())

    def _informers(self, *clusters: Cluster) -> Iterator[Informer]:
        """Each informer once, although a cache may serve both roles of one cluster."""
        caches = dict.fromkeys(cache for (cluster, _), cache in self._caches.items() if cluster in clusters)
        return (informer for cache in caches for informer in cache.informers)


class Caches:
    """The caches of one process."""

    def __init__(self, clusters: Clusters, *, random: Callable[[], float]) -> None:
        """Caches that hold nothing yet.

        Args:
            clusters: where to read.
            random: numbers between 0 and 1, for jitter.
        """
        self.clusters: Final = clusters
        self._random = random
        self._recoveries = {
            cluster: Recovery(clusters.access(cluster).urgent, random=random, on_recovery=self._tell_of_recovery)
            for cluster in Cluster
        }
        self._caches: dict[Shared, Cache] = {}
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Nothing ends the caches but a defect of a listener."""
        self._wait_for_recovery: list[Callable[[], None]] = []

    def view(
        self, controller: Controller[Any], listener_of: Callable[[Watch], Listener], observer: InformerObserver
    ) -> View:
        """What a controller reads; it is kept in step by `run`, if that is started afterwards.

        Args:
            controller: who reads.
            listener_of: who is to hear of the changes that a watch of the controller sees.
            observer: is told what happens to the watches.

        Raises:
            ValueError: another controller has an index of the same name over the same objects.
        """
        view = self.reading(controller.watches, controller.indexes, observer)
        for watch in controller.watches:
            self._cache(watch).subscribe(listener_of(watch))
        return view

    def reading(self, reads: Iterable[Read], indexes: Sequence[Index[Any]], observer: InformerObserver) -> View:
        """What somebody reads who need not hear of changes, such as a webhook; as `view` otherwise.

        Args:
            reads: what is looked up.
            indexes: how else than by key, namespace and label.
            observer: is told what happens to the watches.

        Raises:
            ValueError: somebody else has an index of the same name over the same objects.
        """
        caches = {}
        for read in reads:
            cache = caches[read.cluster, read.resource] = self._cache(read)
            cache.serve(observer, [index for index in indexes if is_over(index, read)])
        return View(caches)

    def when_recovered(self, tell: Callable[[], None]) -> None:
        """Tell somebody whenever an API server that was away is ready again."""
        self._wait_for_recovery.append(tell)

    def _tell_of_recovery(self) -> None:
        for tell in self._wait_for_recovery:
            tell()

    async def run(self) -> None:
        """Keep everything that is read in step until cancelled.

        Raises:
            ExceptionGroup: a listener has a defect.
        """
        async with asyncio.TaskGroup() as tasks:
            for cache in self._caches.values():
                for informer in cache.informers:
                    tasks.create_task(informer.run())
            await self._end

    def _cache(self, read: Read) -> Cache:
        role = Cluster.TARGET if self.clusters.are_one else read.cluster
        shared = (role, read.resource, read.keep, read.metadata_only, read.optional)
        if shared not in self._caches:
            self._caches[shared] = Cache(
                read,
                self.clusters.access(role),
                self._recoveries[role],
                random=self._random,
                on_defect=self._end_with,
            )
        return self._caches[shared]

    def _end_with(self, defect: Exception) -> None:
        if not self._end.done():
            self._end.set_exception(defect)
