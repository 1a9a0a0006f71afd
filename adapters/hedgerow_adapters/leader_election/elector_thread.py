"""Runs an elector on a thread, an event loop and a transport of its own, so that no work delays a renewal.

Expected flow: as with `LeaderElector`. It is made and called on the main loop, where its events are told as well; only
the requests and the clock of the election belong to the thread.

Guarantees:
* However long a callback of the main loop runs, the lease is renewed, as long as other threads get the interpreter:
  Python code yields it every few milliseconds. C code that keeps it does not yield, such as the parser of one large
  JSON document: for so long nothing renews, and the renew deadline bounds the damage as it does for a lost connection.
* The gate of writes is exact on each thread: it compares the monotonic clock with the deadline and waits for nothing.
* `release` closes the gate before it returns to the loop, whatever the thread is at.
* A main loop that stands still keeps its lease for `PATIENCE` seconds and no longer. Then the gate is closed, the
  renewals end, and `on_stuck` is called on the thread, as the main loop could not answer.

Source: decision A-12.
"""

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, Protocol

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.leader_election.election import Timings
from hedgerow_adapters.leader_election.elector import ElectionEvent, EventKind, LeaderElector, LeadershipLostError
from hedgerow_adapters.protocol.transport import Transport

PERIOD: Final = 1.0
"""Seconds between two signs of life."""


class Heartbeat:
    """Signs of life of the loop that runs `beat`, for the loop that runs `stopped`."""

    def __init__(self, patience: float) -> None:
        """No sign of life yet; `patience`: seconds without any after which the loop counts as stuck."""
        self.patience: Final = patience
        self._beats = 0

    async def beat(self) -> None:
        """Give signs of life, until cancelled."""
        while True:
            self._beats += 1
            await asyncio.sleep(PERIOD)

    async def stopped(self) -> None:
        """Return once there was no sign of life for too long, in own pauses: a suspension does not count."""
        silent, seen = 0.0, self._beats
        while silent < self.patience:
            await asyncio.sleep(PERIOD)
            silent = silent + PERIOD if self._beats == seen else 0.0
            seen = self._beats


PATIENCE: Final = 60.0
"""Seconds without a sign of life after which the main loop counts as stuck."""


class OwnTransport(Transport, AbstractAsyncContextManager[Any], Protocol):
    """A transport that is entered on the loop that uses it."""


class ElectorThread:
    """One process that wants to lead, seen from its main loop."""

    def __init__(
        self,
        transport: OwnTransport,
        lease: ObjectKey,
        identity: str,
        timings: Timings | None = None,
        *,
        on_event: Callable[[ElectionEvent], None] = lambda _event: None,
        on_stuck: Callable[[str], None] = lambda _problem: None,
        patience: float | None = None,
    ) -> None:
        """An elector whose thread has not started yet; what is not told here is as with `LeaderElector`.

        The transport is entered on the thread, and nothing else may use it. `on_event` is called on the main loop, soon
        after the event. `on_stuck` is called on the thread with a sentence once the main loop has stood still for
        `patience` seconds (none: 60) and the gate is closed.
        """
        self._main = asyncio.get_running_loop()
        self._transport = transport
        # Not the loop's time: some loops read it once a turn, which would hold the gate open during a long one.
        self._elector = LeaderElector(
            transport, lease, identity, timings, clock=time.monotonic, on_event=self._tell_main_loop
        )
        self._lease = lease
        self._on_event = on_event
        self._on_stuck = on_stuck
        self._heartbeat = Heartbeat(PATIENCE if patience is None else patience)
        self._thread_loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False
        self._decided = asyncio.Event()
        self._over = asyncio.Event()
        self._over.set()

    def may_write(self) -> bool:
        """Whether this process leads at this moment and does not mean to stop; may be asked on any thread."""
        return not self._is_closed and self._elector.may_write()

    @property
    def lease_uid(self) -> str | None:
        """As that of `LeaderElector`."""
        return self._elector.lease_uid

    async def run(self) -> None:
        """Take part until released; raises LeadershipLostError. Cancelled, close the gate and let the Lease run out."""
        outcome = concurrent.futures.Future[None]()
        outcome.set_running_or_notify_cancel()
        loop = self._thread_loop = asyncio.new_event_loop()
        election = self._election(outcome)
        self._over.clear()
        thread = threading.Thread(target=_run, args=(loop, election), name="leader-election", daemon=True)
        thread.start()
        heart = asyncio.create_task(self._heartbeat.beat())
        try:
            await asyncio.wrap_future(outcome)
        finally:
            self._is_closed = True
            heart.cancel()
            self._decided.set()
            self._over.set()
            self._tell_thread(lambda: [task.cancel() for task in asyncio.all_tasks()])

    async def wait_until_leading(self) -> bool:
        """As that of `LeaderElector`."""
        await self._decided.wait()
        return self.may_write()

    async def release(self) -> bool:
        """As that of `LeaderElector`."""
        self._is_closed = True
        self._tell_thread(self._elector.resign)
        await self._over.wait()
        return self._elector.holds_nothing

    # On the thread.

    async def _election(self, outcome: concurrent.futures.Future[None]) -> None:
        try:
            async with self._transport:
                await self._take_part()
        except Exception as error:  # noqa: BLE001 -- raised again on the main loop
            outcome.set_exception(error)
        else:
            outcome.set_result(None)

    async def _take_part(self) -> None:
        election, watch = asyncio.create_task(self._elector.run()), asyncio.create_task(self._heartbeat.stopped())
        try:
            await asyncio.wait({election, watch}, return_when=asyncio.FIRST_COMPLETED)
            if election.done():
                return election.result()
            self._is_closed = True
            reason = f"the main loop has not answered for {self._heartbeat.patience:g} s"
            problem = f"left the election for the lease {self._lease}: {reason}"
            self._on_stuck(problem)
            raise LeadershipLostError(problem)
        finally:
            election.cancel()
            watch.cancel()
            await asyncio.wait({election, watch})

    def _tell_main_loop(self, event: ElectionEvent) -> None:
        with suppress(RuntimeError):  # closed: the process ends
            self._main.call_soon_threadsafe(self._hear, event)

    # On the main loop.

    def _hear(self, event: ElectionEvent) -> None:
        if event.kind is EventKind.LEADING:
            self._decided.set()
        self._on_event(event)

    def _tell_thread(self, work: Callable[[], object]) -> None:
        if self._thread_loop is not None:
            with suppress(RuntimeError):  # closed: the election is over
                self._thread_loop.call_soon_threadsafe(work)


def _run(loop: asyncio.AbstractEventLoop, election: Coroutine[Any, Any, None]) -> None:
    with suppress(asyncio.CancelledError), asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(election)
