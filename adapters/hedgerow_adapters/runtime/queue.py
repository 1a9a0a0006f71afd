"""The work queue: which key a worker takes next.

Guarantees: a key waits once, however often it is added. No two workers have one key. A key that is added while a worker
has it comes back afterwards; a key that is added while it is held comes back when the hold ends. Keys of low priority
let live changes pass, but never wait for ever.

The writes of one controller enqueue keys of another: health, for example, is best judged once, after all objects are
applied. So a queue yields to those of other controllers, but never for long: a key waits at most `AT_MOST` seconds, and
a controller that works on one key for longer than that no longer counts as busy.
"""

import asyncio
import contextvars
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.runtime.observer import ControllerObserver

FIRST_DELAY: Final = 0.005
LONGEST_DELAY: Final = 1000.0
OVERALL_RATE: Final = 10.0
OVERALL_BURST: Final = 100
AT_MOST: Final = 5.0
"""Seconds that a key yields at most: enough to write hundreds of objects, and far less than a sync period."""
LOW_PRIORITY_TURN: Final = 5
"""One of so many keys taken in a row has low priority, if such a key waits."""
_DOUBLINGS: Final = 18


def failure_delay(failures: int, longest: float | None = None) -> float:
    """Seconds after so many failures in a row, from 1: 5 ms, doubling up to 1000 s, or to `longest`."""
    delay = min(FIRST_DELAY * 2.0 ** min(failures - 1, _DOUBLINGS), LONGEST_DELAY)
    return delay if longest is None else min(delay, longest)


class OverallLimit:
    """A limit over all keys together: 100 retries at once, then 10 a second."""

    def __init__(self) -> None:
        self._next_free = float("-inf")

    def reserve(self, now: float) -> float:
        """Take the next place; seconds until it comes."""
        burst = (OVERALL_BURST - 1) / OVERALL_RATE
        place = max(self._next_free, now - burst)
        self._next_free = place + 1 / OVERALL_RATE
        return max(0.0, place - now)


class WorkQueue:
    """Keys of one controller that wait to be reconciled."""

    def __init__(
        self,
        observer: ControllerObserver,
        *,
        queues: Mapping[str, "WorkQueue"] = MappingProxyType({}),
        yields_to: Iterable[str] = (),
        longest_wait: float | None = None,
        shortest_wait: float = 0.0,
    ) -> None:
        """A queue in which nothing waits; `queues` are those of all controllers of the process, by name.

        The queues that it `yields_to` need not exist. After a failure a key waits `longest_wait` seconds at most, and
        after every turn `shortest_wait` at least.
        """
        self._longest_wait = longest_wait
        self._shortest_wait = shortest_wait
        self._rests: dict[ObjectKey, float] = {}
        """When keys that had a turn may have the next one."""
        self._observer = observer
        self._queues = queues
        self._yields_to = frozenset(yields_to)
        self._awaited: set[str] = set()
        """The queues that tell this one when a key is done."""
        self._cleared: asyncio.Future[None] | None = None
        self._tell_done: list[Callable[[], None]] = []
        self._loop = asyncio.get_running_loop()
        self._line: OrderedDict[ObjectKey, float] = OrderedDict()
        self._low_priority: OrderedDict[ObjectKey, float] = OrderedDict()
        self._let_pass = 0
        self._started: dict[ObjectKey, float] = {}
        self._again: dict[ObjectKey, bool] = {}
        self._failures: dict[ObjectKey, int] = {}
        self._timers: dict[ObjectKey, asyncio.TimerHandle] = {}
        self._holds: dict[ObjectKey, asyncio.TimerHandle] = {}
        self._overall = OverallLimit()
        self._takers: deque[asyncio.Future[None]] = deque()
        self._context: Final = contextvars.Context()
        """Of timers: that of the turn that asks for one, as its log lines have it, would live as long as they wait."""

    def __len__(self) -> int:
        return len(self._line) + len(self._low_priority)

    @property
    def idle(self) -> bool:
        """True if no key waits and no worker has one; keys that wait for a later time do not count."""
        return not self and not self._started

    def age(self) -> float:
        """For how many seconds the oldest key in line has waited; 0 if none does."""
        since = min((*self._line.values(), *self._low_priority.values()), default=None)
        return 0.0 if since is None else self._loop.time() - since

    @property
    def due(self) -> float | None:
        """When the next key is due, by the clock of the event loop; none: no key waits for a time."""
        return min((timer.when() for timer in (*self._timers.values(), *self._holds.values())), default=None)

    @property
    def is_clear(self) -> bool:
        """True if no controller that goes first is busy."""
        return not any(self._queues[name].is_busy for name in self._yields_to if name in self._queues)

    @property
    def gives_way(self) -> bool:
        """True if keys wait, and others go before them."""
        return bool(self) and self._gives_way_for() > 0

    @property
    def is_busy(self) -> bool:
        """True if a key waits, or a worker took one less than `AT_MOST` seconds ago."""
        earliest = self._loop.time() - AT_MOST
        return bool(self) or any(taken > earliest for taken in self._started.values())

    def is_taken(self, key: ObjectKey) -> bool:
        """Whether a worker is at a key."""
        return key in self._started

    def add(self, key: ObjectKey, *, low_priority: bool = False) -> None:
        """Enqueue a key, unless it waits already. A key of low priority lets others pass."""
        if key in self._started or key in self._holds:
            self._again[key] = low_priority and self._again.get(key, True)
        elif key in self._line or (low_priority and key in self._low_priority):
            return
        elif key in self._low_priority:
            self._line[key] = self._low_priority.pop(key)
        elif (rest := self._rests.get(key, 0.0) - self._loop.time()) > 0:
            self.add_after(key, rest)
        else:
            line = self._low_priority if low_priority else self._line
            line[key] = self._loop.time()
            self._wake_one()
            self._observer.added(len(self))

    def add_after(self, key: ObjectKey, delay: float) -> None:
        """Enqueue a key after so many seconds; of several calls the earliest counts."""
        when = self._loop.time() + delay
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= when:
                return
            timer.cancel()
        self._timers[key] = self._loop.call_at(when, self._add_now, key, context=self._context)

    def _add_now(self, key: ObjectKey) -> None:
        self._timers.pop(key, None)
        self._rests.pop(key, None)
        self.add(key)

    def retry(self, key: ObjectKey) -> float:
        """Retry a failed key, later after each failure in a row; return the seconds that it waits."""
        self._failures[key] = self._failures.get(key, 0) + 1
        delay = max(failure_delay(self._failures[key], self._longest_wait), self._overall.reserve(self._loop.time()))
        self.add_after(key, delay)
        self._observer.retried()
        return delay

    def hold(self, key: ObjectKey, seconds: float) -> None:
        """Hold a key back for so many seconds; of several holds the longest counts."""
        when = self._loop.time() + seconds
        if (timer := self._holds.get(key)) is not None:
            if timer.when() >= when:
                return
            timer.cancel()
        self._holds[key] = self._loop.call_at(when, self.release, key, context=self._context)
        self._observer.slowed(len(self._holds))

    def release(self, key: ObjectKey) -> None:
        """End the hold of a key, if there is one."""
        timer = self._holds.pop(key, None)
        if timer is None:
            return
        timer.cancel()
        self._observer.slowed(len(self._holds))
        self._come_back(key)

    def shorten(self, key: ObjectKey, seconds: float) -> None:
        """End the hold of a key, if there is one, in no more than so many seconds."""
        timer = self._holds.get(key)
        if timer is None or timer.when() <= self._loop.time() + seconds:
            return
        timer.cancel()
        self._holds[key] = self._loop.call_later(seconds, self.release, key, context=self._context)

    def _come_back(self, key: ObjectKey) -> None:
        """Enqueue a key that was added while a worker had it or while it was held."""
        low_priority = self._again.pop(key, None)
        if low_priority is not None:
            self.add(key, low_priority=low_priority)

    def retry_now(self) -> None:
        """Retry all failed keys now, at low priority: what made them fail may be over."""
        for key in [key for key in self._failures if key in self._timers]:
            self._timers.pop(key).cancel()
            self.forget(key)
            self.add(key, low_priority=True)
        self._overall = OverallLimit()

    def clear(self) -> None:
        """Empty the line. Keys that wait for a later time, and those that are worked on, stay."""
        self._line.clear()
        self._low_priority.clear()

    def forget(self, key: ObjectKey) -> None:
        """Let a key's next failure count as its first."""
        self._failures.pop(key, None)

    async def take(self) -> ObjectKey:
        """The key whose turn it is, as soon as there is one; `done` has to follow."""
        while True:
            if not self:
                await self._arrival()
            elif (wait := self._gives_way_for()) > 0:
                await self._until_clear(wait)
            else:
                break
        key, since = self._next()
        now = self._started[key] = self._loop.time()
        self._observer.taken(len(self), now - since)
        return key

    async def _arrival(self) -> None:
        """Return when this worker may find a key."""
        taker = self._loop.create_future()
        self._takers.append(taker)
        try:
            await taker
        except asyncio.CancelledError:
            if taker.done() and not taker.cancelled():
                self._wake_one()
            raise

    def _gives_way_for(self) -> float:
        """For how many seconds others may still go before the key that has waited longest."""
        if self.is_clear:
            return 0.0
        came = min(next(iter(line.values())) for line in (self._line, self._low_priority) if line)
        return came + AT_MOST - self._loop.time()

    async def _until_clear(self, seconds: float) -> None:
        for name in (self._yields_to & self._queues.keys()) - self._awaited:
            self._queues[name]._tell_done.append(self._tell_if_clear)  # noqa: SLF001 -- one of the same class
            self._awaited.add(name)
        if self._cleared is None:
            self._cleared = self._loop.create_future()
        await asyncio.wait([self._cleared], timeout=seconds)

    def _tell_if_clear(self) -> None:
        if self._cleared is not None and self.is_clear:
            self._cleared.set_result(None)
            self._cleared = None

    def _next(self) -> tuple[ObjectKey, float]:
        """The key that has waited longest; one of low priority if no other waits, or enough others have passed it."""
        if self._low_priority and (not self._line or self._let_pass >= LOW_PRIORITY_TURN - 1):
            self._let_pass = 0
            return self._low_priority.popitem(last=False)
        self._let_pass += bool(self._low_priority)
        return self._line.popitem(last=False)

    def done(self, key: ObjectKey) -> None:
        """End the work on a key that was taken."""
        now = self._loop.time()
        worked = now - self._started.pop(key)
        if self._shortest_wait:
            self._rests[key] = now + self._shortest_wait
        self._come_back(key)
        self._observer.finished(worked)
        for tell in self._tell_done:
            tell()

    def close(self) -> None:
        """Forget all that waits for a later time."""
        for timers in (self._timers, self._holds):
            for timer in timers.values():
                timer.cancel()
            timers.clear()

    def _wake_one(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return
