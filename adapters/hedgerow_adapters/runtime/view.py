"""The snapshot that one controller or webhook reads of the caches of a process, and whether it has synced."""

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
"""Seconds for which a start waits for watches that are not `required_for_sync`, once all others have synced."""


class View:
    """The caches of one controller or webhook.

    The snapshot shows a dynamic watch while its cache is complete, and never waits for it. It shows a watch that is not
    `required_for_sync` from its first list on; the start waits only `LATE_AFTER` for that.
    """

    def __init__(
        self,
        caches: Mapping[tuple[Cluster, Resource], Cache],
        beside: Mapping[tuple[Cluster, Resource], Cache] = MappingProxyType({}),
    ) -> None:
        """The view of some caches.

        Args:
            caches: those that are required for the sync.
            beside: those that are not.
        """
        self._caches = caches
        self._beside = beside
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for (cluster, resource), cache in caches.items():
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
        cache = self._caches.get((cluster, resource))
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
                for cache in self._beside.values():
                    for informer in cache.informers:
                        await informer.synced.wait()

    async def relist(self) -> None:
        """Return when everything has been listed anew."""
        await asyncio.gather(*(informer.relist() for informer in self._informers(*Cluster)))

    def silences(self) -> Iterator[tuple[Resource, Callable[[], float]]]:
        """Each resource that is read, with a function that returns the seconds since the server last sent anything."""
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
