"""The work queue: which key is looked at next.

Guarantees: a key waits at most once however often it is added; it is never handed to two workers at a time; one that is
added while it is worked on comes back afterwards. It knows neither what a key stands for nor what is done with it.
"""

import asyncio
from collections import deque
from typing import Protocol

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.runtime.backoff import OverallLimit, failure_delay


class QueueObserver(Protocol):
    """Is told what happens to the queue, for metrics."""

    def added(self, depth: int) -> None:
        """A key was put in line; so many wait now."""
        ...

    def taken(self, depth: int, waited: float) -> None:
        """A worker took a key that had waited so many seconds."""
        ...

    def finished(self, worked: float) -> None:
        """A worker is done with a key after so many seconds."""
        ...

    def retried(self) -> None:
        """A key was put back because it failed."""
        ...


class WorkQueue:
    """Keys of one controller that wait to be reconciled."""

    def __init__(self, observer: QueueObserver) -> None:
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._line: deque[ObjectKey] = deque()
        self._waiting_since: dict[ObjectKey, float] = {}
        self._started: dict[ObjectKey, float] = {}
        self._again: set[ObjectKey] = set()
        self._failures: dict[ObjectKey, int] = {}
        self._timers: dict[ObjectKey, asyncio.TimerHandle] = {}
        self._overall = OverallLimit()
        self._takers: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is worked on; keys that wait for a later time do not count."""
        return not self._line and not self._started

    def add(self, key: ObjectKey) -> None:
        """Put a key in line, unless it stands there already."""
        if key in self._started:
            self._again.add(key)
        elif key not in self._waiting_since:
            self._line.append(key)
            self._waiting_since[key] = self._loop.time()
            self._observer.added(len(self._line))
            self._wake_one()

    def add_after(self, key: ObjectKey, delay: float) -> None:
        """Put a key in line after so many seconds; of several such wishes the earliest counts."""
        when = self._loop.time() + delay
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= when:
                return
            timer.cancel()
        self._timers[key] = self._loop.call_at(when, self._add_now, key)

    def _add_now(self, key: ObjectKey) -> None:
        self._timers.pop(key, None)
        self.add(key)

    def retry(self, key: ObjectKey) -> float:
        """Put a key back that failed, later each time that it fails in a row; the seconds that it waits."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = max(failure_delay(failures), self._overall.reserve(self._loop.time()))
        self.add_after(key, delay)
        self._observer.retried()
        return delay

    def forget(self, key: ObjectKey) -> None:
        """Let a key's next failure count as its first."""
        self._failures.pop(key, None)

    async def take(self) -> ObjectKey:
        """The key that has waited longest, as soon as there is one; `done` has to follow."""
        while not self._line:
            taker = self._loop.create_future()
            self._takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                if taker.done() and not taker.cancelled():
                    self._wake_one()
                raise
        key = self._line.popleft()
        now = self._started[key] = self._loop.time()
        self._observer.taken(len(self._line), now - self._waiting_since.pop(key))
        return key

    def done(self, key: ObjectKey) -> None:
        """The worker that took the key is through with it."""
        self._observer.finished(self._loop.time() - self._started.pop(key))
        if key in self._again:
            self._again.remove(key)
            self.add(key)

    def longest_running(self) -> float:
        """Seconds since the oldest key that is worked on was taken; 0 if none is."""
        return self._loop.time() - min(self._started.values(), default=self._loop.time())

    def close(self) -> None:
        """Forget all that waits for a later time."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _wake_one(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return
