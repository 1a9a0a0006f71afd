"""The controllers of a process, from the start of their caches to the return of the lease.

Start: caches, events and election at once; the workers once this process leads. Stop: the workers finish what they are
at, the last events leave, and the lease is given back. A part that fails ends everything at once; what fails during a
stop does not cut it off.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeAlias

from hedgerow.machinery.controller import Controller
from hedgerow_adapters.leader_election.elector import LeaderElector, LeadershipLostError
from hedgerow_adapters.leader_election.elector_thread import ElectorThread
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.runtime.turns import Decide, reconciled
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message

GRACE: Final = 5.0
"""Seconds in which turns end, and again in which the lease is given back."""
LAST_EVENTS: Final = 1.0
"""Seconds that events get in between."""
Elector: TypeAlias = LeaderElector | ElectorThread
"""Tells whether this process leads."""


class ControllerSet:
    """The controllers of a process at work."""

    def __init__(
        self,
        controllers: Iterable[Controller[Any]],
        caches: Caches,
        *,
        instance: str,
        observer: Callable[[Controller[Any]], ControllerObserver],
        stop: asyncio.Event,
        elector: Elector | None = None,
        decide: Decide = reconciled,
    ) -> None:
        """Controllers that have not begun; each gets its own `observer`, and events name the `instance`.

        `stop` ends the work once it is set; every end of the work sets it. The `elector` says that this process leads;
        without one it does.
        """
        self._caches = caches
        self._elector = elector
        self.stop: Final = stop
        self.runners: Final = list[ControllerRunner]()
        self.recorders: Final = list[EventRecorder]()
        may_write = elector.may_write if elector else lambda: True
        for controller in controllers:
            component = controller.events_from or controller.name
            recorder = EventRecorder(
                caches.clusters.target.transport,
                source=caches.clusters.source.transport,
                component=component,
                instance=instance,
                may_write=may_write,
                on_refusal=partial(_tell_of_refusal, component),
            )
            self.recorders.append(recorder)
            runner = ControllerRunner(
                controller, caches, recorder=recorder, observer=observer(controller), may_write=may_write, decide=decide
            )
            self.runners.append(runner)

    async def run(
        self,
        beside: Sequence[Coroutine[Any, Any, None]] = (),
        *,
        passing: Sequence[Coroutine[Any, Any, None]] = (),
        on_end: Callable[[], None] = lambda: None,
        last: Callable[[], Coroutine[Any, Any, None]] | None = None,
        before_release: Callable[[], None] = lambda: None,
    ) -> None:
        """Work until stopped or cancelled, or until a part ends, which none should but those that are `passing`.

        Every end calls `on_end` at first. Unless a part has failed the work then ends in good order, whatever fails
        meanwhile: `last` runs while the caches still do, and `before_release` is called once no turn is under way,
        while the lease still allows writes. Raises ExceptionGroup of what failed, such as a LeadershipLostError.
        """
        work = [*(runner.run() for runner in self.runners), *(recorder.run() for recorder in self.recorders)]
        election = [self._elect(self._elector)] if self._elector is not None else []
        parts = [asyncio.create_task(part) for part in (self._caches.run(), *work, *election, *beside)]
        beginnings = [asyncio.create_task(part) for part in (self._begin(), *passing)]
        stop = asyncio.create_task(self.stop.wait())
        ends: Sequence[BaseException | None] = ()
        try:
            await _one_ends({stop, *parts}, beginnings)
        finally:
            self.stop.set()
            on_end()
            if not any(map(_has_failed, (*parts, *beginnings))):
                await asyncio.gather(self._end(before_release), *([last()] if last else []))
            for task in (stop, *beginnings, *parts):
                task.cancel()
            ends = await asyncio.gather(*parts, *beginnings, return_exceptions=True)
        if failures := [end for end in ends if isinstance(end, Exception)]:
            raise ExceptionGroup("controllers have ended", failures)

    async def _begin(self) -> None:
        """Let the workers begin once this process leads."""
        if self._elector is None or await self._elector.wait_until_leading():
            for runner in self.runners:
                runner.start()

    async def _elect(self, elector: Elector) -> None:
        try:
            await elector.run()
        except LeadershipLostError:
            if not self.stop.is_set():  # else the lease was to be given back anyway
                raise
        self.stop.set()

    async def _end(self, before_release: Callable[[], None]) -> None:
        await asyncio.gather(*(runner.drain(GRACE) for runner in self.runners))
        before_release()
        # Events leave while the lease allows it, and are not worth a long wait.
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_EVENTS):
                await asyncio.gather(*(recorder.emptied() for recorder in self.recorders))
        if self._elector is None:
            return
        try:
            async with asyncio.timeout(GRACE):
                await self._elector.release()  # so that a successor need not wait
        except TimeoutError:
            get_logger("leader-election").tell(Message.LEASE_NOT_RELEASED)


async def _one_ends(endless: Collection[asyncio.Task[Any]], passing: Collection[asyncio.Task[Any]]) -> None:
    """Return once an endless task has ended, or another one has failed."""
    waiting = {*endless, *passing}
    while not any(task in endless or _has_failed(task) for task in (*endless, *passing) if task.done()):
        _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


def _tell_of_refusal(component: str, problem: str) -> None:
    get_logger(component).tell(Message.EVENT_NOT_RECORDED, error=problem)
