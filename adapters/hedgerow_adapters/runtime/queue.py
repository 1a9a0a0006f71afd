"""The work queue: which key is looked at next.

Guarantees: a key waits at most once however often it is added; it is never handed to two workers at a time; one that is
added while it is worked on comes back afterwards, one that is added while it is held when the hold ends. Keys that are
looked at only for completeness' sake let live changes pass, without being forgotten. It knows neither what a key stands
for nor what is done with it.
"""

import asyncio
import contextvars
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.precedence import AT_MOST, Precedence, Way

FIRST_DELAY: Final = 0.005
LONGEST_DELAY: Final = 1000.0
OVERALL_RATE: Final = 10.0
OVERALL_BURST: Final = 100
_DOUBLINGS: Final = 18


def failure_delay(failures: int, longest: float | None = None) -> float:
    """Seconds after so many failures in a row: 5 ms, doubling up to 1000 s, or to less.

    Args:
        failures: at least one.
        longest: seconds that the key waits at most; none: 1000.
    """
    delay = min(FIRST_DELAY * 2.0 ** min(failures - 1, _DOUBLINGS), LONGEST_DELAY)
    return delay if longest is None else min(delay, longest)


class OverallLimit:
    """A limit over all keys together: 100 retries at once, then 10 a second."""

    def __init__(self) -> None:
        self._next_free = float("-inf")

    def reserve(self, now: float) -> float:
        """Take the next place; seconds until it comes.

        Args:
            now: a monotonic time in seconds.
        """
        burst = (OVERALL_BURST - 1) / OVERALL_RATE
        place = max(self._next_free, now - burst)
        self._next_free = place + 1 / OVERALL_RATE
        return max(0.0, place - now)


PATIENT_TURN: Final = 5
"""Of so many keys taken in a row one is a patient one, if any waits."""


class WorkQueue:
    """Keys of one controller that wait to be reconciled."""

    def __init__(
        self, observer: ControllerObserver, way: Way | None = None, *, longest_wait: float | None = None
    ) -> None:
        """A queue in which nothing waits.

        Args:
            observer: is told what happens.
            way: on which others go before its keys; none: nobody does.
            longest_wait: seconds that a key waits at most after a failure; none: as `failure_delay` has it.
        """
        self._longest_wait = longest_wait
        self._observer = observer
        self._way = way or Precedence().way()
        self._tell_done: list[Callable[[], None]] = []
        self._loop = asyncio.get_running_loop()
        self._line: OrderedDict[ObjectKey, float] = OrderedDict()
        self._patient: OrderedDict[ObjectKey, float] = OrderedDict()
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
        return len(self._line) + len(self._patient)

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is worked on; keys that wait for a later time do not count."""
        return not self and not self._started

    @property
    def due(self) -> float | None:
        """When the next key is put in line, by the clock of the event loop; none: when somebody adds it."""
        return min((timer.when() for timer in (*self._timers.values(), *self._holds.values())), default=None)

    @property
    def gives_way(self) -> bool:
        """True if keys wait, and others go before them."""
        return bool(self) and self._gives_way_for() > 0

    def is_busy(self, at_most: float) -> bool:
        """Whether a key waits, or is worked on that was taken less than so many seconds ago."""
        earliest = self._loop.time() - at_most
        return bool(self) or any(taken > earliest for taken in self._started.values())

    def when_done(self, tell: Callable[[], None]) -> None:
        """Tell somebody each time that a key is done."""
        self._tell_done.append(tell)

    def is_taken(self, key: ObjectKey) -> bool:
        """Whether a worker is at a key."""
        return key in self._started

    def add(self, key: ObjectKey, *, patient: bool = False) -> None:
        """Put a key in line, unless it stands there already; a patient one lets others pass."""
        if key in self._started or key in self._holds:
            self._again[key] = patient and self._again.get(key, True)
        elif key in self._line or (patient and key in self._patient):
            return
        elif patient:
            self._patient[key] = self._loop.time()
            self._arrived()
        elif key in self._patient:
            self._line[key] = self._patient.pop(key)
        else:
            self._line[key] = self._loop.time()
            self._arrived()

    def _arrived(self) -> None:
        self._wake_one()
        self._observer.added(len(self))

    def add_after(self, key: ObjectKey, delay: float) -> None:
        """Put a key in line after so many seconds; of several such wishes the earliest counts."""
        when = self._loop.time() + delay
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= when:
                return
            timer.cancel()
        self._timers[key] = self._loop.call_at(when, self._add_now, key, context=self._context)

    def _add_now(self, key: ObjectKey) -> None:
        self._timers.pop(key, None)
        self.add(key)

    def retry(self, key: ObjectKey) -> float:
        """Put a key back that failed, later each time that it fails in a row; the seconds that it waits."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = max(failure_delay(failures, self._longest_wait), self._overall.reserve(self._loop.time()))
        self.add_after(key, delay)
        self._observer.retried()
        return delay

    def hold(self, key: ObjectKey, seconds: float) -> None:
        """Give a key that is worked on to no worker for so many seconds; of several holds the longest counts."""
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
        """Put a key in line that was added while something stood in its way; perhaps something else still does."""
        patient = self._again.pop(key, None)
        if patient is not None:
            self.add(key, patient=patient)

    def hasten(self) -> None:
        """Let keys that failed wait no longer: what made them fail may be over. Live changes pass them."""
        for key in [key for key in self._failures if key in self._timers]:
            self._timers.pop(key).cancel()
            self.forget(key)
            self.add(key, patient=True)
        self._overall = OverallLimit()

    def clear(self) -> None:
        """Empty the line. Keys that wait for a later time, and those that are worked on, stay."""
        self._line.clear()
        self._patient.clear()

    def forget(self, key: ObjectKey) -> None:
        """Let a key's next failure count as its first."""
        self._failures.pop(key, None)

    async def take(self) -> ObjectKey:
        """The key whose turn it is, as soon as there is one; `done` has to follow."""
        while True:
            if not self:
                await self._arrival()
            elif (wait := self._gives_way_for()) > 0:
                await self._way.cleared(wait)
            else:
                break
        key, since = self._next()
        now = self._started[key] = self._loop.time()
        self._observer.taken(len(self), now - since)
        return key

    async def _arrival(self) -> None:
        """Return when this worker is to see whether there is a key for it."""
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
        if self._way.is_clear:
            return 0.0
        came = min(next(iter(line.values())) for line in (self._line, self._patient) if line)
        return came + AT_MOST - self._loop.time()

    def _next(self) -> tuple[ObjectKey, float]:
        """The key that has waited longest; of the patient ones if nobody else waits, or enough have passed them."""
        if self._patient and (not self._line or self._let_pass >= PATIENT_TURN - 1):
            self._let_pass = 0
            return self._patient.popitem(last=False)
        self._let_pass += bool(self._patient)
        return self._line.popitem(last=False)

    def done(self, key: ObjectKey) -> None:
        """The worker that took the key is through with it."""
        worked = self._loop.time() - self._started.pop(key)
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
