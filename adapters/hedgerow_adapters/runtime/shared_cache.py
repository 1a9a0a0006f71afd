"""The cache of one resource in one cluster, shared by all readers with the same transform.

Guarantees: a list replaces the content of the store at once. A listener hears of changes in their order, after the
store shows them, and of those of a list in slices. A listener that raises is reported and stops no other.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, Protocol

from hedgerow.machinery.clusters import ReadScope, visible_scopes
from hedgerow.machinery.controller import Change, Read
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore, Replacement
from hedgerow_adapters.informer.informer import Informer, InformerObserver, Watched
from hedgerow_adapters.informer.machine import Delivery, Gather, Put, Remove, Replace
from hedgerow_adapters.informer.recovery import Recovery
from hedgerow_adapters.kubernetes.discovery import Discovery
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.slices import SLICE, slices


class Listener(Protocol):
    """Hears what has changed in a cache."""

    def __call__(self, changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
        """Hear of changes, perhaps none; returns how many keys were enqueued because of them.

        The server sent an event's very change; otherwise a list has replaced what was known. Further changes of the
        list that the listener heard of last `continue` it.
        """


class Cache:
    """The objects of one resource in one cluster, as some readers keep them, and the informers that see to them."""

    def __init__(
        self,
        read: Read,
        access: Access,
        recovery: Recovery,
        discovery: Discovery,
        *,
        random: Callable[[], float],
        on_defect: Callable[[Exception], None],
    ) -> None:
        """A cache that holds nothing, and is not kept in step yet; `on_defect` is told what a listener raises."""
        self.resource: Final = read.resource
        self._on_defect = on_defect
        self._discovery = discovery
        self.store: Final = ObjectStore()
        self.listeners: Final = list[Listener]()
        self._observers: list[InformerObserver] = []
        self._replacements: dict[ReadScope, Replacement] = {}
        self._queued = 0
        """Keys that the last delivery enqueued."""
        self._listed: set[ReadScope] = set()
        self._in_trouble: set[Watched] = set()
        self.informers: Final = tuple(
            Informer(
                access.transport,
                read,
                partial(self._receive, scope),
                observer=self,
                random=random,
                scope=scope,
                pause=recovery.pause,
                is_absent=partial(discovery.lacks, read.resource),
                is_lossless=access.is_lossless,
            )
            for scope in visible_scopes(read.resource, access.namespaces, read.namespace)
        )

    @property
    def is_complete(self) -> bool:
        """True if everything has been listed, and the server knows the resource."""
        return len(self._listed) == len(self.informers)

    @property
    def is_listed(self) -> bool:
        """True if everything has been listed at least once; the server need not know the resource."""
        return all(informer.synced.is_set() for informer in self.informers)

    @property
    def is_well(self) -> bool:
        """True if the cache is complete, and no watch is in trouble."""
        return self.is_complete and not self._in_trouble

    def serve(self, observer: InformerObserver, indexes: Iterable[Index[Any]]) -> None:
        """Add an observer of the watches, and index the store for it."""
        for index in indexes:
            self.store.add_index(index)
        self._observers.append(observer)

    def dismiss(self, listener: Listener, observer: InformerObserver) -> None:
        """Remove a listener and an observer."""
        self.listeners.remove(listener)
        del self._observers[next(index for index, other in enumerate(self._observers) if other is observer)]
        if not any(other is observer for other in self._observers):
            for watched in self._in_trouble:
                observer.resumed(watched)  # what is not watched is in no trouble

    def informer_of(self, key: ObjectKey) -> Informer | None:
        """The informer that sees the object of a key; none if it is out of sight."""
        return next((informer for informer in self.informers if informer.scope.holds(key)), None)

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """Tell all observers."""
        if problem is not None:
            self._in_trouble.add(watched)
        for observer in self._distinct_observers():
            observer.interrupted(watched, cause, problem)

    def resumed(self, watched: Watched) -> None:
        """Tell all observers."""
        self._in_trouble.discard(watched)
        for observer in self._distinct_observers():
            observer.resumed(watched)

    def silence(self) -> float:
        """Seconds since the server last sent anything about the quietest scope; 0 if no scope is in sight."""
        now = asyncio.get_running_loop().time()
        return now - min((informer.heard_at for informer in self.informers), default=now)

    def _distinct_observers(self) -> Iterable[InformerObserver]:
        """Each once, although one may read in two roles of one cluster."""
        return {id(observer): observer for observer in self._observers}.values()

    async def _receive(self, scope: ReadScope, delivery: Delivery) -> None:
        # Pause before a delivery, not after one: those who wait for a version look at the informer's when told.
        if self._queued >= SLICE:
            await asyncio.sleep(0)
        self._queued = 0
        match delivery:
            case Gather(objects, is_first):
                await self._gather(scope, objects, is_first=is_first)
            case Replace(objects, is_first, is_known):
                await self._gather(scope, objects, is_first=is_first)
                await self._replace(scope, is_known=is_known)
            case Put(manifest):
                self._tell([self.store.put(manifest, scope)], is_event=True)
            case Remove(manifest):
                removed = self.store.remove(key_of(manifest), scope)
                self._tell([removed] if removed else [], is_event=True)

    async def _gather(self, scope: ReadScope, objects: Sequence[Manifest], *, is_first: bool) -> None:
        if is_first:
            self._replacements[scope] = self.store.replacement(scope)
        for piece in slices(objects):
            self._replacements[scope].add(piece)
            await asyncio.sleep(0)

    async def _replace(self, scope: ReadScope, *, is_known: bool) -> None:
        """Show a list in place of what was known, at once, and tell of the differences one slice after the other.

        No other task runs between the replacement and the first slice, nor after the last one: a task that waits for
        a version reads the informer's when it hears of changes.
        """
        replacement = self._replacements.pop(scope)
        replacement.commit()
        if is_known:
            self._listed.add(scope)
            self._discovery.was_served(self.resource)
        else:
            self._listed.discard(scope)
        self._tell(replacement.next_changes(), is_event=False)
        while not replacement.is_over:
            await asyncio.sleep(0)
            self._tell(replacement.next_changes(), is_event=False, continues=True)

    def _tell(self, changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> None:
        for listener in tuple(self.listeners):
            try:
                self._queued += listener(changes, is_event=is_event, continues=continues)
            except Exception as error:  # noqa: BLE001 -- the others must hear of it, too
                self._on_defect(error)
