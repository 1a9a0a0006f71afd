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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Controller, DynamicWatch, Watch
from hedgerow.machinery.objects import Kind, Resource
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore, is_over
from hedgerow_adapters.informer.recovery import restart_delay
from hedgerow_adapters.runtime.caches import Caches, View
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.shared_cache import Listener

GRACE: Final = 60.0
"""Seconds for which a kind is still watched after the last object has ceased to name it."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A controller with dynamic watches."""

    caches: Caches
    view: View
    indexes: Sequence[Index[Any]]
    listener_of: Callable[[Watch], Listener]
    observer: ControllerObserver


def watch_named_kinds(controller: Controller[Any], reader: Reader) -> None:
    """Begin to watch whatever kinds the objects of a controller name, and go on for as long as its caches.

    Raises ValueError if the index of a dynamic watch is over objects that the controller does not watch, or if a
    dynamic watch and a declared one transform the same objects differently: a snapshot shows one projection of them.
    """
    for dynamic in controller.dynamic_watches:
        for watch in controller.watches:
            for named in dynamic.watches(watch.resource):
                is_same = (named.resource, named.cluster) == (watch.resource, watch.cluster)
                if is_same and named.transform != watch.transform:
                    raise ValueError(f"{watch.resource} is watched and followed, and not the same is kept of it")
        naming = [watch for watch in controller.watches if is_over(dynamic.kinds, watch)]
        if not naming:
            raise ValueError(f"what {dynamic.kinds.resource} name is followed, and they are not watched")
        cache = reader.caches.cache(naming[0])
        cache.store.add_index(dynamic.kinds)
        wakes = [reader.listener_of(watch) for watch in naming]
        cache.listeners.append(DynamicWatches(dynamic, reader, names=cache.store, wakes=wakes).names_changed)


class DynamicWatches:
    """The kinds that some objects name, each watched while it is served."""

    def __init__(self, dynamic: DynamicWatch, reader: Reader, *, names: ObjectStore, wakes: Sequence[Listener]) -> None:
        """Nothing is named yet; `names` are the objects that name kinds, `wakes` the listeners of these objects."""
        self._caches = reader.caches
        self._dynamic = dynamic
        self._reader = reader
        self._names = names
        self._wakes = wakes
        self._kinds: dict[Kind, asyncio.Task[None]] = {}
        self._served: dict[Kind, Resource] = {}
        self._ends: dict[Kind, asyncio.TimerHandle] = {}
        self._readings: dict[Watch, _Reading] = {}
        self._told: set[tuple[Cluster, Resource]] = set()

    def names_changed(self, changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:  # noqa: ARG002 -- a listener
        """Begin and end watches, so that they match the kinds that objects name now."""
        named = self._names.values_of(self._dynamic.kinds)
        for kind in named:
            if kind not in self._kinds:
                self._kinds[kind] = self._caches.start(self._pursue(kind))
            elif kind in self._ends:
                self._ends.pop(kind).cancel()
        for kind in self._kinds.keys() - self._ends.keys() - set(named):
            self._ends[kind] = asyncio.get_running_loop().call_later(GRACE, self._end, kind)
        return 0

    def _end(self, kind: Kind) -> None:
        del self._ends[kind]
        self._kinds.pop(kind).cancel()
        self._serve(kind, None)

    async def _pursue(self, kind: Kind) -> None:
        """Watch a kind whenever the API server serves it."""
        cluster = self._dynamic.cluster
        discovery, fruitless = self._caches.discoveries[cluster], 0
        while True:
            answer = (await discovery.look_up([kind]))[kind]
            if kind in discovery.known:
                fruitless = 0
                watched = None if isinstance(answer, NotAnswered) or not discovery.is_watchable(answer) else answer
                self._serve(kind, watched)
                await discovery.until_forgotten(kind)
                continue
            fruitless += 1
            seconds = restart_delay(fruitless, self._caches.random())
            if isinstance(answer, NotAnswered) and answer.is_unreachable:
                await self._caches.recoveries[cluster].pause(seconds)
            else:
                await asyncio.sleep(seconds)

    def _serve(self, kind: Kind, resource: Resource | None) -> None:
        """Watch a kind as this resource; none: the kind is not served, or named no more."""
        if resource == self._served.get(kind):
            return
        if self._served.pop(kind, None) is not None:
            self._stop_reading(kind)
        if resource is not None:
            self._served[kind] = resource
            self._read(kind, resource)

    def _read(self, kind: Kind, resource: Resource) -> None:
        for watch in self._dynamic.watches(resource):
            reading = self._readings.get(watch)
            if reading is None:
                reading = self._readings[watch] = _Reading(watch, self._reader, self._wake)
                place = (watch.cluster, watch.resource)
                if place not in self._told:
                    self._told.add(place)
                    self._reader.observer.keeps(watch.resource, partial(self._reader.view.silence_of, *place))
            reading.begin(kind)

    def _stop_reading(self, kind: Kind) -> None:
        """End the watches that only this kind needs."""
        for watch, reading in list(self._readings.items()):
            if not reading.is_needed_without(kind):
                del self._readings[watch]
                reading.end()

    def _wake(self, kind: Kind) -> None:
        """Enqueue the keys of the objects that name a kind, as if a list had just returned them."""
        changes = [Change(None, manifest) for manifest in self._names.under(self._dynamic.kinds, kind)]
        for listener in self._wakes:
            listener(changes, is_event=False)


class _Reading:
    """One watch that one or several kinds need."""

    def __init__(self, watch: Watch, reader: Reader, wake: Callable[[Kind], None]) -> None:
        # The API server may stop serving the resource at any time. That is no error.
        self._read = replace(watch, may_be_absent=True)
        self._reader = reader
        self._wake = wake
        self._kinds: set[Kind] = set()
        self._listener = reader.listener_of(watch)
        self._cache = reader.caches.join(self._read)
        self._is_at_hand = self._cache.is_complete
        self._cache.serve(reader.observer, [index for index in reader.indexes if is_over(index, watch)])
        self._cache.listeners.append(self._hear)
        reader.view.show(watch.cluster, self._cache)
        if self._is_at_hand:
            self._listener([Change(None, manifest) for manifest in self._cache.store.all()], is_event=False)

    def begin(self, kind: Kind) -> None:
        self._kinds.add(kind)
        if self._is_at_hand:
            self._wake(kind)

    def is_needed_without(self, kind: Kind) -> bool:
        """Remove a kind; true if another one still needs the watch."""
        self._kinds.discard(kind)
        return bool(self._kinds)

    def end(self) -> None:
        self._reader.view.hide(self._read.cluster, self._cache)
        self._cache.dismiss(self._hear, self._reader.observer)
        self._reader.caches.leave(self._read)

    def _hear(self, changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
        queued = self._listener(changes, is_event=is_event, continues=continues)
        if not self._is_at_hand and self._cache.is_complete:
            self._is_at_hand = True
            for kind in tuple(self._kinds):
                self._wake(kind)
        return queued
