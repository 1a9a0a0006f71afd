"""Runs one declared controller: listens to the caches, feeds its queue, and works on its keys.

Expected flow: `run` in a task, beside that of the caches. `synced` is set when the caches are complete. `start` lets
the workers begin, before or after that. `drain` stops at any time.

Guarantees: no key is reconciled before all caches of the controller are complete, or by two workers at a time. A turn
begins only when the caches show what was written for its key. After `reconfigure` every key gets a turn with the new
configuration. A failure of one key is logged, counted and retried, and stops no other key. A defect of the runtime or
of an observer ends `run`, or that of the caches, with an error: a restart is better than half a controller.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Controller, Watch, all_keys, concerned_keys, keys_from
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.restriction import restricted
from hedgerow_adapters.cache import is_over
from hedgerow_adapters.kubernetes.live_reads import server_version
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.deletions import STOPPED_FOR
from hedgerow_adapters.runtime.dynamic_watches import Reader, watch_named_kinds
from hedgerow_adapters.runtime.events import EventSink
from hedgerow_adapters.runtime.observer import ControllerObserver, Result
from hedgerow_adapters.runtime.queue import WorkQueue
from hedgerow_adapters.runtime.shared_cache import Listener
from hedgerow_adapters.runtime.steps import NoRoomError, Perform, no_further_step
from hedgerow_adapters.runtime.turns import (
    PAUSE,
    Decide,
    LeaseLostError,
    OutdatedTurnError,
    TurnResult,
    Turns,
    reconciled,
)
from hedgerow_adapters.runtime.write_conflicts import BESIDE_WAIT
from hedgerow_adapters.slices import slices

KEYS_OF_A_WORKER: Final = 3


def keys_under_way(controller: Controller[Any]) -> int:
    """The most keys that are reconciled at a time; metrics call it concurrent reconciles."""
    return controller.concurrency * KEYS_OF_A_WORKER


TIME_LIMIT: Final = 180.0
"""Seconds that one reconciliation may take."""
VERSION_PERIOD: Final = 60.0
"""Seconds after which the version of the target's API server is read again."""
GIVEN_UP_WITHIN: Final = 2.0
"""Seconds that cancelled work gets to end, such as to close a connection."""


class Reconciled(NamedTuple):
    """A key that was reconciled; the seconds until its next turn, unless only a change leads to one."""

    key: ObjectKey
    result: Result
    requeue_after: float | None = None


class ControllerRunner:
    """One controller at work."""

    def __init__(
        self,
        controller: Controller[Any],
        caches: Caches,
        *,
        recorder: EventSink,
        observer: ControllerObserver | None = None,
        may_write: Callable[[], bool] = lambda: True,
        decide: Decide = reconciled,
        guards_deletions: bool = True,
        pause: float = PAUSE,
        perform: Perform = no_further_step,
    ) -> None:
        """A controller that has asked for nothing yet, as far as the clusters let it see.

        Somebody else has to `run` the caches. `may_write` is asked before every write, `decide` makes the decisions.
        Mass deletions are held back, but in a cluster that is thrown away. Between two slices of a decision others get
        `pause` seconds. What only this controller awaits, `perform` does.
        """
        clusters = caches.clusters
        source, target = clusters.source.namespaces, clusters.target.namespaces
        self.controller = restricted(controller, source=source, target=target)
        self.synced: Final = asyncio.Event()
        self._observer = observer or ControllerObserver()
        self.queue: Final = WorkQueue(
            self._observer,
            queues=caches.queues,
            yields_to=controller.yields_to,
            longest_wait=controller.longest_wait,
            shortest_wait=controller.shortest_wait,
        )
        caches.queues[controller.name] = self.queue
        self._observer.queues(self.queue.age)
        self._clusters = clusters
        self._states: dict[ObjectKey, object] = {}
        """The `state` of the last plan of each key."""
        self.view: Final = caches.view(self.controller, self._listener, self._observer)
        reader = Reader(caches, self.view, self.controller.indexes, self._listener, self._observer)
        watch_named_kinds(self.controller, reader)
        caches.when_recovered.append(self.queue.retry_now)
        self.snapshot: Final = self.view.snapshot
        for resource, silence in self.view.silences():
            self._observer.keeps(resource, silence)
        self._turns = Turns(
            self.controller,
            caches,
            self.view,
            self.queue,
            recorder=recorder,
            observer=self._observer,
            may_write=may_write,
            decide=decide,
            guards_deletions=guards_deletions,
            pause=pause,
            perform=perform,
        )
        self._expectations, self._deletions = self._turns.expectations, self._turns.deletions
        self._may_start = asyncio.Event()
        self._beginning: asyncio.Task[None] | None = None
        self._started = False
        self._draining = False
        self._workers: list[asyncio.Task[None]] = []
        self._busy: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Let the workers begin as soon as the caches are complete: this process leads."""
        self._may_start.set()

    def reconfigure(self, config: Any, concerned: Callable[[ObjectKey], bool] = lambda _key: True) -> None:
        """Use another configuration from now on, and reconcile every key again that it concerns.

        A turn under way ends by the old configuration, but makes no more deletions that need a forecast; its key is
        enqueued again. None of these keys waits because of a write conflict, which belonged to the old configuration.
        The watches stay as declared. Before the start there is nothing to enqueue.
        """
        self.controller = replace(self.controller, config=config)
        self._turns.reconfigure(self.controller)
        self._states.clear()  # they belong to the last configuration
        if self._started:
            for key in filter(concerned, all_keys(self.controller, self.snapshot)):
                self.queue.add(key, low_priority=True)
                self.queue.release(key)

    async def run(self) -> None:
        """Work until cancelled or drained."""
        if self._draining:
            return
        async with asyncio.TaskGroup() as tasks:
            resyncs: list[asyncio.Task[None]] = []
            self._beginning = tasks.create_task(self.begin())
            try:
                await asyncio.wait([self._beginning])
                if not self._started:
                    return
                resyncs += [tasks.create_task(self._resync(cluster)) for cluster in Cluster]
                if self.controller.reads_server_version:
                    await self.read_server_version()
                    resyncs.append(tasks.create_task(self._read_server_versions()))
                self._workers = [tasks.create_task(self._work()) for _ in range(keys_under_way(self.controller))]
                await asyncio.gather(*self._workers, return_exceptions=True)
            finally:
                for task in (self._beginning, *resyncs):
                    task.cancel()
                self.queue.close()

    async def drain(self, grace: float) -> None:
        """Take no further key, and let those that are worked on end within so many seconds.

        When this returns nothing is worked on any more, and `run` returns as well; only what does not let itself be
        ended, within two more seconds, is left to whoever ends the process.
        """
        self._draining = True
        if self._beginning is not None:
            self._beginning.cancel()
        for worker in self._workers:
            if worker not in self._busy:
                worker.cancel()
        if self._busy:
            _, late = await asyncio.wait(set(self._busy), timeout=grace)
            for worker in late:
                worker.cancel()
            if late:
                await asyncio.wait(late, timeout=GIVEN_UP_WITHIN)

    async def begin(self) -> None:
        """Return when the caches are complete, the workers may begin, and all keys are queued."""
        await self.view.completed()
        self.synced.set()
        self._observer.synced()
        await self._may_start.wait()
        self._started = True
        self._observer.started(await self._add_all(*Cluster))

    def _listener(self, watch: Watch) -> Listener:
        primary = (self.controller.primary, self.controller.primary_cluster)
        is_primary = (watch.resource, watch.cluster) == primary
        is_owned = self.controller.owned is not None and is_over(self.controller.owned, watch)

        def receive(changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
            queued = 0
            if is_primary:
                self._observer.changed(changes)
            if not is_event and not continues:
                self._deletions.replaced()
            for change in changes:
                if is_owned:
                    self._deletions.owned_changed(change)
                keys = self._concerned(watch, change) if self._started else ()
                queued += len(keys)
                place = key_of(change.new or change.old or {})
                if is_primary and is_event:
                    self._note_owner(place, change, keys)
                for key in sorted(keys):
                    if is_event:
                        self._let_go_on(key, watch, place)
                    # A change of an owned object is most likely our own write then, and can wait for other keys.
                    is_echo = is_owned and (self.queue.is_taken(key) or self._expectations.awaits(key))
                    self.queue.add(key, low_priority=not is_event or is_echo)
            self._expectations.progressed()
            return queued

        return receive

    def _concerned(self, watch: Watch, change: Change) -> Collection[ObjectKey]:
        try:
            return concerned_keys(watch, change, self.snapshot)
        except Exception as error:  # noqa: BLE001 -- the other changes must reach the queue
            self._observer.unmapped(watch.resource, error)
            return ()

    def _note_owner(self, owner: ObjectKey, change: Change, keys: Collection[ObjectKey]) -> None:
        """Tell the deletion guard of an owner, and end its hold, unless the write conflict is over the owner itself."""
        # An update counts only if it leads to a turn, which settles it.
        if keys or change.old is None or change.new is None:
            self._deletions.owner_changed(change)
        if change.old is not None and not keys:
            self._deletions.forget_if_bare(owner)
        cluster = self.controller.primary_cluster
        if owner in keys and not self._turns.conflicts.concerns(owner, self.controller.primary, owner, cluster):
            self.queue.release(owner)

    def _let_go_on(self, key: ObjectKey, watch: Watch, place: ObjectKey) -> None:
        """End the hold of a key for new desired state; shorten it for a change of another object."""
        if self._turns.conflicts.concerns(key, watch.resource, place, watch.cluster):
            return
        if watch.is_desired_state:
            self.queue.release(key)
        else:
            self.queue.shorten(key, BESIDE_WAIT)

    async def _resync(self, cluster: Cluster) -> None:
        """Enqueue all keys of a cluster once a resync period."""
        while True:
            await asyncio.sleep(self._clusters.access(cluster).resync_period)
            await self._add_all(cluster)

    async def _add_all(self, *clusters: Cluster) -> int:
        """Enqueue all keys of the objects in some clusters at low priority; return their number."""
        keys: set[ObjectKey] = set()
        for cluster in clusters:
            for piece in slices(keys_from(self.controller, self.snapshot, cluster)):
                for key in piece:
                    self.queue.add(key, low_priority=True)
                keys.update(piece)
                await asyncio.sleep(0)
        return len(keys)

    async def _read_server_versions(self) -> None:
        """Read the version of the target's API server once a minute; several servers may have several."""
        while True:
            await asyncio.sleep(VERSION_PERIOD)
            await self.read_server_version()

    async def read_server_version(self) -> None:
        """Let turns know the version of the target's API server, if it tells."""
        if version := await server_version(self._clusters.target.transport):
            self._turns.server_versions |= {version}

    async def _work(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 -- this runs in a task
        while not self._draining:
            key = await self.queue.take()
            self._busy.add(task)
            try:
                await self._turn(key)
            finally:
                self._busy.discard(task)
            # A settled key is done without any wait, and thousands of them must not hold up a lease or a probe.
            await asyncio.sleep(0)

    async def turn(self) -> Reconciled:
        """Reconcile the key that waits longest, without a worker."""
        return await self._turn(await self.queue.take())

    async def _turn(self, key: ObjectKey) -> Reconciled:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            self._observer.began(key)
            limit = asyncio.timeout(TIME_LIMIT)
            try:
                async with limit:
                    done = await self._reconcile(key)
            except Exception as error:  # noqa: BLE001 -- a defect in one reconciliation must not stop the others
                late = TimeoutError(f"the turn did not end within {TIME_LIMIT:g} s")
                self._observer.raised(key, late if limit.expired() else error)
                done = self._give_up(key)
            self._observer.reconciled(key, done.result, clock() - began)
            return done
        finally:
            self.queue.done(key)

    async def _reconcile(self, key: ObjectKey) -> Reconciled:
        if wait := await self._expectations.catch_up(key):
            self._observer.waited(key, wait.seconds, caught_up=wait.caught_up)
        configured = self.controller
        try:
            result = await self._turns.take(key, self._states.get(key))
        except LeaseLostError:
            return self._give_up(key)
        except OutdatedTurnError:
            self._states.pop(key, None)
            self.queue.add(key)
            return Reconciled(key, "requeue")
        except NoRoomError:
            return Reconciled(key, "requeue")
        if configured is self.controller and result.plan.state is not None:
            self._states[key] = result.plan.state
        else:
            self._states.pop(key, None)
        if configured is not self.controller:
            self.queue.release(key)
        if result.plan.failures:
            self._observer.refused(key, result.plan.failures)
        return self._next_turn(key, result)

    def _give_up(self, key: ObjectKey) -> Reconciled:
        """Retry a key whose turn did not come to its end, without a state."""
        self._states.pop(key, None)
        return Reconciled(key, "error", self.queue.retry(key))

    def _next_turn(self, key: ObjectKey, result: TurnResult) -> Reconciled:
        """Enqueue the key again if its plan asks for it. Bad input is not retried: its correction is an event."""
        plan = result.plan
        if result.failed or any(failure.retryable for failure in plan.failures):
            return Reconciled(key, "error", self.queue.retry(key))
        self.queue.forget(key)
        if result.held:
            # Until then the guard says the same; whatever tells it something new comes as an event.
            self.queue.add_after(key, STOPPED_FOR)
            return Reconciled(key, "requeue_after", STOPPED_FOR)
        if not result.deletes:
            self._deletions.settled(key)
        if plan.requeue_after is not None:
            self.queue.add_after(key, plan.requeue_after)
            return Reconciled(key, "requeue_after", plan.requeue_after)
        return Reconciled(key, "error" if plan.failures else "success")
