"""The cache of one resource in one cluster, for all who keep the same of its objects.

Guarantees: a listener hears of changes in their order, when the store shows them already; one that raises keeps no
other from hearing of them, and is reported.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol

from hedgerow.machinery.clusters import Part, visible_parts
from hedgerow.machinery.controller import Change, Read
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore
from hedgerow_adapters.informer import Delivery, Informer, InformerObserver, Put, Recovery, Remove, Replace, Watched
from hedgerow_adapters.runtime.clusters import Access


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
        on_absence: Callable[[], None],
    ) -> None:
        """A cache that holds nothing, and is not kept in step yet.

        Args:
            read: what it holds.
            access: leads to the cluster.
            recovery: of that cluster.
            random: numbers between 0 and 1, for jitter.
            on_defect: told what a listener raises.
            on_absence: told whenever the server turns out not to know the resource.
        """
        self.resource: Final = read.resource
        self._on_defect = on_defect
        self._on_absence = on_absence
        self.store: Final = ObjectStore()
        self._listeners: list[Listener] = []
        self._observers: list[InformerObserver] = []
        self._listed: set[Part] = set()
        self._in_trouble: set[Watched] = set()
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
            for part in visible_parts(read.resource, access.namespaces, read.namespace)
        )

    @property
    def is_complete(self) -> bool:
        """Whether everything has been listed, and the server knows it."""
        return len(self._listed) == len(self.informers)

    @property
    def is_listed(self) -> bool:
        """Whether everything has been listed at least once, be it that the server does not know it."""
        return all(informer.synced.is_set() for informer in self.informers)

    @property
    def is_well(self) -> bool:
        """Whether the cache is complete, and nothing keeps it from being kept in step."""
        return self.is_complete and not self._in_trouble

    def subscribe(self, listener: Listener) -> None:
        """Let one more hear of changes."""
        self._listeners.append(listener)

    def serve(self, observer: InformerObserver, indexes: Iterable[Index[Any]]) -> None:
        """Let one more hear of what happens to the watches, and have the store indexed for it."""
        for index in indexes:
            self.store.add_index(index)
        self._observers.append(observer)

    def dismiss(self, listener: Listener, observer: InformerObserver) -> None:
        """Tell nobody any more who was to be told of changes, and of what happens to the watches."""
        self._listeners.remove(listener)
        del self._observers[next(index for index, other in enumerate(self._observers) if other is observer)]
        if not any(other is observer for other in self._observers):
            for watched in self._in_trouble:
                observer.resumed(watched)  # what is not watched is in no trouble

    def informer_of(self, key: ObjectKey) -> Informer | None:
        """The informer that sees the object of a key; none if it is out of sight."""
        return next((informer for informer in self.informers if informer.part.holds(key)), None)

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """Tell everybody who reads this cache."""
        if problem is not None:
            self._in_trouble.add(watched)
        for observer in self._distinct_observers():
            observer.interrupted(watched, cause, problem)

    def resumed(self, watched: Watched) -> None:
        """Tell everybody who reads this cache."""
        self._in_trouble.discard(watched)
        for observer in self._distinct_observers():
            observer.resumed(watched)

    def silence(self) -> float:
        """For how many seconds nothing has been heard, of that part which is worst off; 0 if no part is in sight."""
        now = asyncio.get_running_loop().time()
        return now - min((informer.heard_at for informer in self.informers), default=now)

    def _distinct_observers(self) -> Iterable[InformerObserver]:
        """Each once, although one may read in two roles of one cluster."""
        return {id(observer): observer for observer in self._observers}.values()

    def _receiver(self, part: Part) -> Callable[[Delivery], None]:
        def receive(delivery: Delivery) -> None:
            match delivery:
                case Replace(objects, is_known):
                    changes = self.store.replace(objects, part)
                    (self._listed.add if is_known else self._listed.discard)(part)
                    self._tell(changes, is_event=False)
                    if not is_known:
                        self._on_absence()
                case Put(manifest):
                    self._tell([self.store.put(manifest)], is_event=True)
                case Remove(manifest):
                    removed = self.store.remove(key_of(manifest))
                    self._tell([removed] if removed else [], is_event=True)

        return receive

    def _tell(self, changes: Sequence[Change], *, is_event: bool) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(changes, is_event=is_event)
            except Exception as error:  # noqa: BLE001 -- the others must hear of it, too
                self._on_defect(error)
