"""The caches of a process: each resource is cached once for all controllers and webhooks that read it.

Expected flow: before `run` starts, every controller asks for its `view`, and every other reader for its `reading`.
`run` in a task then keeps the stores in step with the API servers, and begins and ends dynamic watches.

Guarantees: a listener hears of changes in order, after the store shows them. A listener that raises keeps no other from
hearing of them, and ends `run` with its error, because nothing would repeat what it has missed.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Controller, Read, Watch
from hedgerow.machinery.objects import Manifest, Resource, key_of
from hedgerow.machinery.questions import defines_kinds
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import is_over
from hedgerow_adapters.informer import InformerObserver, Recovery
from hedgerow_adapters.kubernetes.discovery import Discovery
from hedgerow_adapters.kubernetes.questions import AT_ONCE
from hedgerow_adapters.runtime.clusters import Clusters
from hedgerow_adapters.runtime.long_decisions import LongDecisions
from hedgerow_adapters.runtime.shared_cache import Cache, Listener
from hedgerow_adapters.runtime.view import View

__all__ = ["Caches", "Listener", "View"]

Shared: TypeAlias = tuple[Cluster, Resource, Callable[[Manifest], Manifest], bool, bool, str, str, str]
"""What two readers have in common that can do with one cache."""


class Caches:
    """The caches of one process."""

    def __init__(self, clusters: Clusters, *, random: Callable[[], float]) -> None:
        """Caches that hold nothing yet.

        Args:
            clusters: where to read.
            random: numbers between 0 and 1, for jitter.
        """
        self.clusters: Final = clusters
        self.random: Final = random
        self._recoveries = {
            cluster: Recovery(clusters.access(cluster).urgent, random=random, on_recovery=self._tell_of_recovery)
            for cluster in Cluster
        }
        discovery = Discovery(clusters.target.transport)
        source = discovery if clusters.are_one else Discovery(clusters.source.transport)
        self._discoveries: Final = {Cluster.TARGET: discovery, Cluster.SOURCE: source}
        self.discovery: Final = discovery
        """What is known of the kinds of the target cluster."""
        self.places_for_questions: Final = asyncio.Semaphore(AT_ONCE)
        """How many questions decisions may have under way at a time, all controllers together."""
        self.long_decisions: Final = LongDecisions()
        """Which decisions compute for long, all controllers together."""
        self._caches: dict[Shared, Cache] = {}
        self._users: Counter[Shared] = Counter()
        self._informing: dict[Shared, list[asyncio.Task[None]]] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Nothing ends the caches but a defect of a listener."""
        self._wait_for_recovery: list[Callable[[], None]] = []

    def view(
        self,
        controller: Controller[Any],
        listener_of: Callable[[Watch], Listener],
        observer: InformerObserver,
    ) -> View:
        """The view of a controller; `run`, started afterwards, keeps it in step.

        Args:
            controller: reads the view.
            listener_of: the listener of the changes that a watch of the controller sees.
            observer: is told what happens to the watches.

        Raises:
            ValueError: another controller has an index of the same name over the same objects.
        """
        view = self.reading(controller.watches, controller.indexes, observer)
        for watch in controller.watches:
            self.cache(watch).subscribe(listener_of(watch))
        return view

    def reading(self, reads: Iterable[Read], indexes: Sequence[Index[Any]], observer: InformerObserver) -> View:
        """The view of a reader without listeners, such as a webhook.

        Args:
            reads: what is looked up.
            indexes: how else than by key, namespace and label.
            observer: is told what happens to the watches.

        Raises:
            ValueError: another reader has an index of the same name over the same objects.
        """
        required: dict[tuple[Cluster, Resource], Cache] = {}
        beside: dict[tuple[Cluster, Resource], Cache] = {}
        for read in reads:
            caches = required if read.required_for_sync else beside
            cache = caches[read.cluster, read.resource] = self.join(read)
            cache.serve(observer, [index for index in indexes if is_over(index, read)])
        return View(required, beside)

    def when_recovered(self, tell: Callable[[], None]) -> None:
        """Call a function whenever an unreachable API server is ready again."""
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
            self._tasks = tasks
            for shared in self._caches:
                self._inform(shared)
            await self._end

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Have something done beside, for as long as the caches are kept in step."""
        if self._tasks is None:
            raise RuntimeError("nothing is kept in step yet")
        return self._tasks.create_task(work)

    def join(self, read: Read) -> Cache:
        """The cache of a read, kept in step while it has readers."""
        shared = self._shared(read)
        self._users[shared] += 1
        if shared not in self._caches:
            self._caches[shared] = self._new_cache(shared, read)
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

    def discovery_of(self, cluster: Cluster) -> Discovery:
        """What is known of the kinds of a cluster."""
        return self._discoveries[cluster]

    async def pause(self, cluster: Cluster, seconds: float) -> bool:
        """Wait for so many seconds, or until an API server that was away is ready again; whether it is."""
        return await self._recoveries[cluster].pause(seconds)

    def cache(self, read: Read) -> Cache:
        """The cache of a read that has a reader."""
        return self._caches[self._shared(read)]

    def _shared(self, read: Read) -> Shared:
        role = Cluster.TARGET if self.clusters.are_one else read.cluster
        return (
            role,
            read.resource,
            read.transform,
            read.metadata_only,
            read.may_be_absent,
            read.label_selector,
            read.field_selector,
            read.namespace,
        )

    def _inform(self, shared: Shared) -> None:
        self._informing[shared] = [self.start(informer.run()) for informer in self._caches[shared].informers]

    def _new_cache(self, shared: Shared, read: Read) -> Cache:
        role = shared[0]
        discovery = self._discoveries[role]
        cache = Cache(
            read,
            self.clusters.access(role),
            self._recoveries[role],
            random=self.random,
            on_defect=self._end_with,
            discovery=discovery,
        )
        if defines_kinds(read.resource):
            cache.subscribe(_hints(read.resource, discovery))
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
