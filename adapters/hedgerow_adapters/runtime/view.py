"""What one reader sees of the caches of a process: the snapshot that its decisions read, and how complete that is."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot
from hedgerow_adapters.informer import Informer
from hedgerow_adapters.runtime.shared_cache import Cache

LATE_AFTER: Final = 10.0
"""Seconds for which a start waits for what is not essential, once everything else was listed."""


class View:
    """What one controller, or another reader, sees.

    What it follows is seen while it is there; nothing is ever waited for because of it. What is not essential is seen
    from the time on when it was listed, and is waited for only for a while.
    """

    def __init__(
        self,
        caches: Mapping[tuple[Cluster, Resource], Cache],
        beside: Mapping[tuple[Cluster, Resource], Cache] = MappingProxyType({}),
    ) -> None:
        """What some caches hold.

        Args:
            caches: of what is essential.
            beside: of what is not.
        """
        self._caches = caches
        self._beside = beside
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for (cluster, resource), cache in caches.items():
            stores[cluster][resource] = cache.store
        self._dynamic: dict[tuple[Cluster, Resource], list[Cache]] = {}
        self.snapshot: Final = StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE], self._other_store)

    def show(self, cluster: Cluster, cache: Cache) -> None:
        """Show what a cache holds as well, as soon as it is complete and for as long."""
        self._dynamic.setdefault((cluster, cache.resource), []).append(cache)

    def hide(self, cluster: Cluster, cache: Cache) -> None:
        """Do not show any longer what a cache holds."""
        self._dynamic[cluster, cache.resource].remove(cache)

    def silence_of(self, cluster: Cluster, resource: Resource) -> float:
        """For how many seconds nothing has been heard of what is followed; 0 if it is not at the moment."""
        return max((cache.silence() for cache in self._dynamic.get((cluster, resource), ())), default=0.0)

    def informer_of(self, cluster: Cluster, resource: Resource, key: ObjectKey) -> Informer | None:
        """The informer that sees an object; none if the object is not read, or if no turn may wait for the informer."""
        cache = self._caches.get((cluster, resource))
        if cache is None:
            other = self._other_cache(cluster, resource)
            cache = other if other is not None and other.is_well else None
        return cache.informer_of(key) if cache is not None else None

    def is_complete(self, cluster: Cluster) -> bool:
        """Whether everything essential that is read of a cluster has been listed."""
        return all(informer.synced.is_set() for informer in self._informers(cluster))

    async def completed(self) -> None:
        """Return when everything has been listed; what is not essential is not waited for for long."""
        for informer in self._informers(*Cluster):
            await informer.synced.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LATE_AFTER):
                for cache in self._beside.values():
                    for informer in cache.informers:
                        await informer.synced.wait()

    async def relist(self) -> None:
        """Return when everything has been listed anew."""
        await asyncio.gather(*(informer.relist() for informer in self._informers(*Cluster)))

    def silences(self) -> Iterator[tuple[Resource, Callable[[], float]]]:
        """What is read, and how to ask for how many seconds nothing has been heard of it."""
        return ((resource, cache.silence) for (_, resource), cache in (*self._caches.items(), *self._beside.items()))

    def _other_store(self, cluster: Cluster, resource: Resource) -> ObjectStore | None:
        cache = self._other_cache(cluster, resource)
        return cache.store if cache is not None else None

    def _other_cache(self, cluster: Cluster, resource: Resource) -> Cache | None:
        beside = self._beside.get((cluster, resource))
        if beside is not None and beside.is_listed:
            return beside
        caches = self._dynamic.get((cluster, resource), ())
        return next((cache for cache in caches if cache.is_complete), None)

    def _informers(self, *clusters: Cluster) -> Iterator[Informer]:
        """Each informer that is declared once, although a cache may serve both roles of one cluster."""
        caches = dict.fromkeys(cache for (cluster, _), cache in self._caches.items() if cluster in clusters)
        return (informer for cache in caches for informer in cache.informers)
