"""Runs one declared controller: keeps its caches, feeds its queue, and works on its keys.

Expected flow: `run` in a task; `synced` is set when the caches are complete; `start` lets the workers begin, before or
after that; `drain` stops. Guarantees: no key is reconciled before all caches are complete, none by two workers at a
time, and none while the caches are behind what was written for it; whatever goes wrong with one key is told, counted
and tried again, and stops nothing else.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from hedgerow.machinery.controller import Change, Context, Controller, Watch, all_keys, concerned_keys
from hedgerow.machinery.objects import ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Delete, Plan
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.informer import Delivery, Informer, Put, Remove, Replace
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.runtime.clock import utc_now
from hedgerow_adapters.runtime.deletions import DeletionLedger
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
        self._started = False
        self._draining = False
        self._workers: list[asyncio.Task[None]] = []
        self._busy: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Let the workers begin as soon as the caches are complete: this process leads."""
        self._may_start.set()

    async def run(self) -> None:
        """Work until cancelled or drained."""
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(informer.run()) for informer in self._informers]
            try:
                await self._wait_to_begin()
                if self._draining:
                    return
                background.append(tasks.create_task(self._resync()))
                self._workers = [tasks.create_task(self._work()) for _ in range(self.controller.concurrency)]
                await asyncio.gather(*self._workers, return_exceptions=True)
            finally:
                for task in background:
                    task.cancel()
                self.queue.close()

    async def drain(self, grace: float) -> None:
        """Take no further key, and let those that are worked on end within so many seconds; `run` then returns."""
        self._draining = True
        self._may_start.set()
        for worker in self._workers:
            if worker not in self._busy:
                worker.cancel()
        if self._busy:
            _, late = await asyncio.wait(set(self._busy), timeout=grace)
            for worker in late:
                worker.cancel()

    async def _wait_to_begin(self) -> None:
        for informer in self._informers:
            await informer.synced.wait()
        self.synced.set()
        self._observer.synced()
        await self._may_start.wait()
        keys = all_keys(self.controller, self.snapshot)
        self._started = True
        for key in keys:
            self.queue.add(key)
        self._observer.started(len(keys))

    def _listener(self, watch: Watch, namespace: str) -> Callable[[Delivery], None]:
        store = self.snapshot.store(watch.resource)
        is_primary = watch.resource == self.controller.primary

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
            if is_primary and not isinstance(delivery, Replace):
                for change in changes:
                    self._deletions.owner_changed(change)
            self._pass_on(watch, changes)

        return receive

    def _pass_on(self, watch: Watch, changes: Sequence[Change]) -> None:
        self._expectations.progressed()
        if not self._started:
            return
        for change in changes:
            for key in concerned_keys(watch, change, self.snapshot):
                self.queue.add(key)

    def _version_of(self, resource: Resource) -> int:
        return min(informer.resource_version for informer in self._informers if informer.resource == resource)

    async def _relist(self) -> None:
        await asyncio.gather(*(informer.relist() for informer in self._informers))

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(self._resync_period)
            for watch in self.controller.watches:
                for manifest in self.snapshot.list(watch.resource):
                    self._pass_on(watch, [Change(manifest, manifest)])

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
        plan = self.controller.reconcile(key, self.snapshot, Context(utc_now(), self.controller.config))
        actions, held = plan.actions, False
        if plan.deletions and not await self._deletions.allows(key, plan):
            self._observer.deletions_held(key, plan.deletions)
            actions, held = tuple(action for action in actions if not isinstance(action, Delete)), True
        outcomes = await self._executor.carry_out(actions) if actions else []
        self._recorder.record(plan.events)
        failed = self._take_note(key, outcomes)
        if plan.failures:
            self._observer.refused(key, plan.failures)
        return self._next_turn(key, plan, again=failed or held)

    def _take_note(self, key: ObjectKey, outcomes: Sequence[Written | NotWritten]) -> bool:
        failed = False
        for outcome in outcomes:
            if isinstance(outcome, Written):
                self._expectations.expect(key, outcome)
                self._observer.acted(key, outcome.action)
            else:
                failed = True
                self._observer.not_written(key, outcome)
        return failed

    def _next_turn(self, key: ObjectKey, plan: Plan, *, again: bool) -> Result:
        """When the key is looked at next. Bad input is not retried: its correction is an event of its own."""
        if again or any(failure.retryable for failure in plan.failures):
            self.queue.retry(key)
            return "error"
        self.queue.forget(key)
        if not plan.deletions:
            self._deletions.settled(key)
        if plan.requeue_after is not None:
            self.queue.add_after(key, plan.requeue_after)
            return "requeue_after"
        return "error" if plan.failures else "success"
