"""An asyncio event loop on virtual time: where it would wait, its clock jumps to the next timer.

A month of `asyncio.sleep`, `asyncio.timeout` and `loop.call_later` passes at once, in the same order and at the same
readings of `loop.time()` every time. The loop opens no socket and no self-pipe.

Assumptions: what the coroutines wait for happens inside the loop, or is handed to `outside`: time stands still until
another thread has done it. Sockets, child processes and signals are not served. When all tasks wait and no timer is
left, nothing can ever happen again: the loop raises `DeadlockError` instead of hanging.
"""

import asyncio
import concurrent.futures
import math
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import datetime, timedelta
from typing import Any, Final, Self, TypeVar

from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport

T = TypeVar("T")


class DeadlockError(RuntimeError):
    """Every task waits, and nothing that could wake one is scheduled."""


class VirtualClockLoop(asyncio.BaseEventLoop):
    """An event loop whose clock stands still while there is work and jumps to the next timer when there is none."""

    def __init__(self) -> None:
        super().__init__()
        # The standard loop adds it to the time to find what is due; a smaller one is lost in the sum after half a year.
        self._clock_resolution = 1e-6
        self._now = 0.0
        self._stands_still = False
        self._outside = 0
        self._woken = threading.Event()
        self._selector = self

    def __del__(self) -> None:
        """One that was never closed holds nothing that would have to be given back."""

    def time(self) -> float:
        """Seconds of virtual time since the loop was made."""
        return self._now

    def jump_to(self, moment: float) -> None:
        """Move the clock forward; it never goes back."""
        self._now = max(self._now, moment)

    def next_timer(self) -> float | None:
        """When the first of the scheduled timers is due; none if there is none."""
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]  # the standard loop's heap
        return timers[0].when() if timers else None

    def settle(self) -> None:
        """Run everything that can run without that time passes."""
        timer = self.next_timer()
        if not self._outside and not self._ready and (timer is None or timer > self._now):  # type: ignore[attr-defined]  # what runs next
            return
        self._stands_still = True
        try:
            self.run_forever()
        finally:
            self._stands_still = False

    async def outside(self, work: concurrent.futures.Future[T]) -> T:
        """The result of another thread's work; no time passes meanwhile."""
        self._outside += 1
        try:
            return await asyncio.wrap_future(work, loop=self)
        finally:
            self._outside -= 1

    def select(self, timeout: float | None) -> list[Any]:
        """Stand where the standard loop keeps its selector: without events, as nothing comes from outside.

        Instead of waiting, wait for other threads, let time pass, or end the run where time stands still; raises
        DeadlockError if there is nothing to wait for.
        """
        if timeout is not None and timeout <= 0:
            return []
        if self._outside:
            self._woken.wait()
            self._woken.clear()
        elif self._stands_still:
            self.stop()
        elif (moment := self.next_timer()) is not None:
            self.jump_to(moment)
        else:
            raise DeadlockError("every task waits for something that no timer will bring")
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        """Nothing comes from outside."""

    def _write_to_self(self) -> None:
        """Another thread has called back."""
        self._woken.set()


class CalendarLoop(VirtualClockLoop):
    """A loop on virtual time whose time of day goes with its clock: decisions that run in it are told that time."""

    def __init__(self, start: datetime) -> None:
        super().__init__()
        self.start: Final = start

    def utc_now(self) -> datetime:
        """The time of day."""
        return self.moment(self.time())

    def moment(self, reading: float) -> datetime:
        """The time of day at a reading of the clock: never a moment too early, in whole microseconds."""
        return self.start + timedelta(microseconds=math.ceil(round(reading * 1_000_000, 3)))


class RealTime:
    """An event loop on real time in a thread of its own, which runs while the context is open.

    It sends the requests that a loop on virtual time waits for.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._entered = AsyncExitStack()
        self._thread = threading.Thread(target=self._loop.run_forever, name="real time", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Give up what is under way, leave the contexts that were entered here, and end the thread."""
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs there, for a caller without an event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        """Enter a context there, for as long as the thread runs."""
        return self.run(self._entered.enter_async_context(context))

    def over(self, transport: Transport) -> Transport:
        """A transport of that loop, for use on virtual time."""
        return _Across(transport, self._loop)

    async def _end(self) -> None:
        # An interrupted caller waits no longer for its requests; they end before their connections close.
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._entered.aclose()


class _Across:
    """Hands requests from a loop on virtual time to the one of their transport."""

    def __init__(self, transport: Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        here = asyncio.get_running_loop()
        assert isinstance(here, VirtualClockLoop)  # noqa: S101 -- only there time can stand still
        sent = self._transport.send(request, timeout=timeout, may_send=may_send)
        return await here.outside(asyncio.run_coroutine_threadsafe(sent, self._loop))

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError(f"no watch of {request.path} within {timeout:g} s")
