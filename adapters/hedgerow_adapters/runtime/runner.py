"""Runs one declared controller: keeps its caches, feeds its queue, and works on its keys.

Expected flow: `run` in a task; `synced` is set when the caches are complete; `start` lets the workers begin, before or
after that; `drain` stops, whatever has been reached by then. Guarantees: no key is reconciled before all caches are
complete, none by two workers at a time, and none while the caches are behind what was written for it; whatever goes
wrong with one key is told, counted and tried again, and stops nothing else. A defect of the runtime itself, or of an
observer, ends `run` with an error: better a process that starts again than one that works by halves.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from hedgerow.machinery.controller import Change, Context, Controller, Watch, all_keys, concerned_keys
from hedgerow.machinery.objects import ObjectKey, Resource, key_of, uid_of
from hedgerow.machinery.plan import Delete, Event, Plan
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.informer import Delivery, Informer, Put, Remove, Replace
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.runtime.deletions import STOPPED_FOR, DeletionLedger, Forecast
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.executor import Executor, NotWritten, Written
from hedgerow_adapters.runtime.expectations import Expectations
from hedgerow_adapters.runtime.observer import ControllerObserver, Result
from hedgerow_adapters.runtime.queue import WorkQueue

TIME_LIMIT: Final = 180.0
"""Seconds that one reconciliation may take."""
RESYNC_PERIOD: Final = 24 * 3600.0
EVERYWHERE: Final = ("",)


class ControllerRunner:
    """One controller at work."""

    def __init__(
        self,
        controller: Controller[Any],
        transport: Transport,
        *,
        random: Callable[[], float],
        recorder: EventRecorder,
        observer: ControllerObserver | None = None,
        may_write: Callable[[], bool] = lambda: True,
        namespaces: Sequence[str] = EVERYWHERE,
        resync_period: float = RESYNC_PERIOD,
    ) -> None:
        """A controller that has asked for nothing yet.

        Args:
            controller: what to run.
            transport: leads to the cluster that it looks after.
            random: numbers between 0 and 1, for jitter.
            recorder: records the events that plans ask for.
            observer: is told what happens.
            may_write: asked before every write.
            namespaces: to which namespaced objects are restricted; the empty name stands for all.
            resync_period: seconds after which every object is looked at again although nothing changed.
        """
        self.controller: Final = controller
        self.snapshot: Final = StoreSnapshot.of(controller)
        self.synced: Final = asyncio.Event()
        self.queue: Final = WorkQueue(observer or ControllerObserver())
        self._observer = observer or ControllerObserver()
        self._executor = Executor(transport, may_write=may_write)
        self._recorder = recorder
        self._resync_period = resync_period
        self._informers = [
            Informer(
                transport,
                watch,
                self._listener(watch, namespace),
                observer=self._observer,
                random=random,
                namespace=namespace,
            )
            for watch in controller.watches
            for namespace in (namespaces if watch.resource.namespaced else EVERYWHERE)
        ]
        self._expectations = Expectations(self.snapshot, self._version_of)
        self._deletions = DeletionLedger(controller, self.snapshot, self._relist)
        self._may_start = asyncio.Event()
        self._beginning: asyncio.Task[None] | None = None
        self._started = False
        self._draining = False
        self._workers: list[asyncio.Task[None]] = []
        self._busy: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Let the workers begin as soon as the caches are complete: this process leads."""
        self._may_start.set()

    async def run(self) -> None:
        """Work until cancelled or drained."""
        if self._draining:
            return
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(informer.run()) for informer in self._informers]
            self._beginning = tasks.create_task(self._wait_to_begin())
            try:
                await asyncio.wait([self._beginning])
                if not self._started:
                    return
                background.append(tasks.create_task(self._resync()))
                self._workers = [tasks.create_task(self._work()) for _ in range(self.controller.concurrency)]
                await asyncio.gather(*self._workers, return_exceptions=True)
            finally:
                for task in (self._beginning, *background):
                    task.cancel()
                self.queue.close()

    async def drain(self, grace: float) -> None:
        """Take no further key, and let those that are worked on end within so many seconds.

        When this returns nothing is worked on any more; `run` then returns as well.
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
                await asyncio.wait(late)

    async def _wait_to_begin(self) -> None:
        for informer in self._informers:
            await informer.synced.wait()
        self.synced.set()
        self._observer.synced()
        await self._may_start.wait()
        keys = all_keys(self.controller, self.snapshot)
        self._started = True
        for key in keys:
            self.queue.add(key, patient=True)
        self._observer.started(len(keys))

    def _listener(self, watch: Watch, namespace: str) -> Callable[[Delivery], None]:
        store = self.snapshot.store(watch.resource)
        is_primary = watch.resource == self.controller.primary
        is_owned = watch.resource == self.controller.owned.resource

        def receive(delivery: Delivery) -> None:
            changes: list[Change] = []
            match delivery:
                case Replace(objects):
                    changes = store.replace(objects, namespace)
                    self._deletions.replaced()
                case Put(manifest):
                    changes = [store.put(manifest)]
                case Remove(manifest):
                    changes = [removed] if (removed := store.remove(key_of(manifest))) else []
            for change in changes:
                if is_owned:
                    self._deletions.owned_changed(change)
                keys = self._concerned(watch, change) if self._started else ()
                if is_primary and not isinstance(delivery, Replace):
                    self._note_owner(change, gets_a_turn=bool(keys))
                for key in keys:
                    self.queue.add(key)
            self._expectations.progressed()

        return receive

    def _note_owner(self, change: Change, *, gets_a_turn: bool) -> None:
        """An update is evidence only for the turn that it leads to; without one nothing would ever settle it."""
        if gets_a_turn or change.old is None or change.new is None:
            self._deletions.owner_changed(change)
        if change.old is not None and not gets_a_turn:
            self._deletions.forget_if_bare(key_of(change.old))

    def _concerned(self, watch: Watch, change: Change) -> Collection[ObjectKey]:
        try:
            return concerned_keys(watch, change, self.snapshot)
        except Exception as error:  # noqa: BLE001 -- the other changes must reach the queue
            self._observer.unmapped(watch.resource, error)
            return ()

    def _version_of(self, resource: Resource, namespace: str) -> int | None:
        return min(
            (
                informer.resource_version
                for informer in self._informers
                if informer.resource == resource and informer.namespace in ("", namespace)
            ),
            default=None,
        )

    async def _relist(self) -> None:
        await asyncio.gather(*(informer.relist() for informer in self._informers))

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(self._resync_period)
            for key in all_keys(self.controller, self.snapshot):
                self.queue.add(key, patient=True)

    async def _work(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 -- this runs in a task
        while not self._draining:
            key = await self.queue.take()
            self._busy.add(task)
            try:
                await self._attempt(key)
            finally:
                self._busy.discard(task)
                self.queue.done(key)
            # A settled key is done without any wait, and thousands of them must not hold up a lease or a probe.
            await asyncio.sleep(0)

    async def _attempt(self, key: ObjectKey) -> None:
        """Reconcile a key, and see to its next turn."""
        clock = asyncio.get_running_loop().time
        began = clock()
        self._observer.began(key)
        try:
            async with asyncio.timeout(TIME_LIMIT):
                result = await self._reconcile(key)
        except Exception as error:  # noqa: BLE001 -- a defect in one reconciliation must not stop the others
            self._observer.raised(key, error)
            self.queue.retry(key)
            result = "error"
        self._observer.reconciled(key, result, clock() - began)

    async def _reconcile(self, key: ObjectKey) -> Result:
        if not await self._expectations.caught_up(key):
            self._observer.cache_behind(key)
        plan, held = await self._decision(key)
        self._recorder.record(plan.events)
        actions = plan.actions
        if held:
            self._observer.deletions_held(key, plan.deletions)
            actions = tuple(action for action in actions if not isinstance(action, Delete))
        outcomes = await self._executor.carry_out(actions) if actions else []
        failed = self._take_note(key, outcomes)
        if plan.failures:
            self._observer.refused(key, plan.failures)
        return self._next_turn(key, plan, failed=failed, held=held)

    async def _decision(self, key: ObjectKey) -> tuple[Plan, bool]:
        """The plan for a key, and whether its deletions are held back."""
        plan = self._plan(key)
        if not plan.deletions or self._deletions.allows(key, plan):
            return plan, False
        if forecast := await self._deletions.look_again(plan.deletions):
            self._recorder.record([self._stopped(key, forecast)])
        plan = self._plan(key)
        return plan, plan.deletions > 0 and not self._deletions.allows(key, plan)

    def _plan(self, key: ObjectKey) -> Plan:
        return self.controller.reconcile(key, self.snapshot, Context(utc_now(), self.controller.config))

    def _stopped(self, key: ObjectKey, forecast: Forecast) -> Event:
        """The event that the guard has stopped, at the object whose turn it was."""
        owner = self.snapshot.get(self.controller.primary, key)
        note = f"deletions are held back: {forecast}"
        return Event(self.controller.primary, key, uid_of(owner) if owner else None, "Warning", "DeletionsHeld", note)

    def _take_note(self, key: ObjectKey, outcomes: Sequence[Written | NotWritten]) -> bool:
        for outcome in outcomes:
            if isinstance(outcome, Written):
                self._expectations.expect(key, outcome)
                self._observer.acted(key, outcome.action)
            else:
                self._observer.not_written(key, outcome)
        return any(isinstance(outcome, NotWritten) for outcome in outcomes)

    def _next_turn(self, key: ObjectKey, plan: Plan, *, failed: bool, held: bool) -> Result:
        """When the key is looked at next. Bad input is not retried: its correction is an event of its own."""
        if failed or any(failure.retryable for failure in plan.failures):
            self.queue.retry(key)
            return "error"
        self.queue.forget(key)
        if held:
            # Until then the guard says the same; whatever tells it something new comes as an event.
            self.queue.add_after(key, STOPPED_FOR)
            return "requeue_after"
        if not plan.deletions:
            self._deletions.settled(key)
        if plan.requeue_after is not None:
            self.queue.add_after(key, plan.requeue_after)
            return "requeue_after"
        return "error" if plan.failures else "success"
