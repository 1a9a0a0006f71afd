"""Lets time pass for controllers in the in-memory cluster: each is looked at when something concerns it, or it is due.

    lapse = Lapse(clock, clusters, controllers, Course(timedelta(days=30)))
    for happening in lapse:
        ...
    lapse.turns, lapse.due

The clock stands still while anybody has something to do, and then moves to the moment at which the next key is due.
So everything happens as in a process that is never late: a key that failed is tried again after the wait that it has
there, and turns get the jitter of a seed. What a process does for completeness' sake alone, as it may have missed
something, is left out: nothing is missed here.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Event, Plan
from hedgerow_adapters.files import LoadedObject, LoadProblem
from hedgerow_adapters.memory import InMemoryCluster, SettableClock
from hedgerow_adapters.runtime.backoff import OverallLimit, failure_delay
from hedgerow_adapters.simulation.agenda import Agenda
from hedgerow_adapters.simulation.mirror import Mirror
from hedgerow_adapters.simulation.seeding import applied
from hedgerow_adapters.simulation.settling import Step
from hedgerow_adapters.simulation.surroundings import InMemory
from hedgerow_adapters.simulation.turns import decided

MOST_TURNS_AT_ONCE: Final = 200
"""Turns that one key may have at one moment. Each write of its own gives it another, and these come to an end."""


class RestlessError(Exception):
    """A key is looked at again and again at one moment: controllers undo each other's work, or one its own."""

    def __init__(self, controller: str, key: ObjectKey) -> None:
        super().__init__(f"{controller} did not come to rest about {key} within {MOST_TURNS_AT_ONCE} turns")


class Arrival(NamedTuple):
    """Objects that somebody applies after a while."""

    after: timedelta
    source: str
    """Where they come from."""
    objects: Sequence[LoadedObject]


@dataclass(frozen=True, slots=True)
class Course:
    """How time is to pass."""

    length: timedelta
    seed: int = 0
    """What the jitter of all turns is drawn from."""
    arrivals: Sequence[Arrival] = ()
    """What comes from outside."""


@dataclass(frozen=True, slots=True)
class Happening:
    """A turn in which something was done or told, or failed."""

    at: datetime
    controller: str
    key: ObjectKey
    steps: tuple[Step, ...]
    """Without those that were refused while the decision went on, as that has dealt with it."""
    events: tuple[Event, ...]
    """What would be recorded."""
    failures: tuple[DomainFailure, ...]
    again_after: float | None
    """In how many seconds the key is looked at next, unless something concerns it before; none: it is not."""

    @property
    def is_failure(self) -> bool:
        """Whether anything was refused, or could not be planned."""
        return bool(self.failures) or any(step.refusal for step in self.steps)


@dataclass(frozen=True, slots=True)
class Arrived:
    """Objects that were applied."""

    at: datetime
    arrival: Arrival
    problems: tuple[LoadProblem, ...]
    """What of them no API server would have stored."""


class _Entry(NamedTuple):
    """A key of a controller."""

    seat: int
    """Of which controller it is, in their order."""
    key: ObjectKey


@dataclass(slots=True)
class _Seat:
    """A controller, and what is known for its next turns."""

    controller: Controller[Any]
    mirror: Mirror
    memories: dict[ObjectKey, object] = field(default_factory=dict)
    failures: Counter[ObjectKey] = field(default_factory=Counter)
    limit: OverallLimit = field(default_factory=OverallLimit)


class Lapse:
    """Iterated once: what happens, in its order."""

    def __init__(
        self,
        clock: SettableClock,
        clusters: Mapping[Cluster, InMemoryCluster],
        controllers: Sequence[Controller[Any]],
        course: Course,
        *,
        namespaces: Sequence[str] = (),
    ) -> None:
        """A lapse in which nothing has happened yet.

        Args:
            clock: that of the clusters.
            clusters: what the controllers look after.
            controllers: who is at work.
            course: how time passes.
            namespaces: what is seen of the cluster that is looked after; none: all.
        """
        self.began: Final = clock.now
        self.turns = 0
        self._failing: dict[_Entry, Happening] = {}
        self._clock = clock
        self._end = clock.now + course.length
        self._clusters = clusters
        self._surroundings = InMemory(clusters)
        self._random = random.Random(course.seed).random  # noqa: S311 -- it spreads turns, and hides nothing
        self._arrivals = sorted(course.arrivals, key=lambda arrival: arrival.after, reverse=True)
        self._agenda: Agenda[_Entry] = Agenda()
        self._turns_now: Counter[_Entry] = Counter()
        self._seats = [self._seat(at, controller, namespaces) for at, controller in enumerate(controllers)]

    def _seat(self, at: int, controller: Controller[Any], namespaces: Sequence[str]) -> _Seat:
        def wake(key: ObjectKey) -> None:
            self._agenda.add(_Entry(at, key))

        return _Seat(controller, Mirror(controller, self._clusters, wake, namespaces=namespaces))

    @property
    def now(self) -> datetime:
        """How far time has passed."""
        return self._clock.now

    @property
    def failing(self) -> list[Happening]:
        """The last turns of the keys whose last turn has failed."""
        return [*self._failing.values()]

    @property
    def due(self) -> datetime | None:
        """When something is looked at next; none: never, unless something changes."""
        return self._agenda.due

    def __iter__(self) -> Iterator[Happening | Arrived]:
        """Let time pass.

        Raises:
            RestlessError: at some moment no end is in sight.
            EndlessDecisionError: a decision goes on and on.
        """
        for at, seat in enumerate(self._seats):
            seat.mirror.follow()
            for key in seat.mirror.all_keys():
                self._agenda.add(_Entry(at, key))
        while True:
            yield from self._arrived()
            yield from self._worked()
            moment = self._next_moment()
            if moment is None or moment > self._end:
                self._clock.now = self._end
                return
            self._clock.now = moment
            self._turns_now.clear()
            self._agenda.ring(moment)

    def _next_moment(self) -> datetime | None:
        moments = [self._agenda.due, self.began + self._arrivals[-1].after if self._arrivals else None]
        return min((moment for moment in moments if moment is not None), default=None)

    def _arrived(self) -> Iterator[Arrived]:
        while self._arrivals and self.began + self._arrivals[-1].after <= self.now:
            arrival = self._arrivals.pop()
            yield Arrived(self.now, arrival, applied(self._clusters[Cluster.TARGET], arrival.objects))

    def _worked(self) -> Iterator[Happening]:
        """Everything that is to be done at the moment."""
        while (entry := self._next_entry()) is not None:
            happening = self._turn(entry)
            if happening.is_failure:
                self._failing[entry] = happening
            else:
                self._failing.pop(entry, None)
            if happening.steps or happening.events or happening.failures:
                yield happening

    def _next_entry(self) -> _Entry | None:
        for seat in self._seats:
            seat.mirror.follow()
        return self._agenda.take()

    def _turn(self, entry: _Entry) -> Happening:
        seat, key = self._seats[entry.seat], entry.key
        controller = seat.controller
        self.turns += 1
        self._turns_now[entry] += 1
        if self._turns_now[entry] > MOST_TURNS_AT_ONCE:
            raise RestlessError(controller.name, key)
        decision = decided(
            controller,
            key,
            seat.mirror.snapshot,
            self.now,
            self._surroundings,
            jitter=self._random(),
            memory=seat.memories.pop(key, None),
            looks_before=False,
        )
        plan = decision.plan
        if plan.memory is not None:
            seat.memories[key] = plan.memory
        done = [Step(controller.name, key, step.action) for step in decision.steps if step.is_done]
        last = self._carried_out(controller.name, key, plan)
        failed = any(step.refusal for step in last) or any(failure.retryable for failure in plan.failures)
        wait = self._wait_after_failure(seat, key) if failed else plan.requeue_after
        if not failed:
            seat.failures.pop(key, None)
        if wait is not None:
            self._agenda.add_after(entry, wait, self.now)
        return Happening(self.now, controller.name, key, (*done, *last), decision.events, plan.failures, wait)

    def _carried_out(self, controller: str, key: ObjectKey, plan: Plan) -> list[Step]:
        """What has become of the actions of a last plan."""
        steps: list[Step] = []
        for action in plan.actions:
            refusal = self._surroundings.carry_out(action).refusal
            steps.append(Step(controller, key, action, refusal.message if refusal else ""))
            if refusal and plan.in_order:
                break
        return steps

    def _wait_after_failure(self, seat: _Seat, key: ObjectKey) -> float:
        seat.failures[key] += 1
        passed = (self.now - self.began).total_seconds()
        return max(failure_delay(seat.failures[key], seat.controller.longest_wait), seat.limit.reserve(passed))
