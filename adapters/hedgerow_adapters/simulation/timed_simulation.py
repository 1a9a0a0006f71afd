"""Lets time pass for controllers in in-memory clusters: each is looked at when something concerns it, or it is due.

    loop = CalendarLoop(start)  # whose `utc_now` is the clock of the clusters
    simulation = TimedSimulation(loop, clusters, controllers, Schedule(timedelta(days=30)))
    for happening in simulation:
        ...
    simulation.turns, simulation.due

The clock stands still while anybody has something to do, and then moves to the moment at which something is due. So
everything happens as in a process that is never late: a key that failed is tried again after the wait that it has
there, and turns get the jitter of a seed.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.files import LoadedObject, LoadProblem
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.clusters import in_memory
from hedgerow_adapters.simulation.happenings import Happening
from hedgerow_adapters.simulation.seeding import applied
from hedgerow_adapters.simulation.simulation import MOST_TURNS_AT_ONCE, RestlessError, Simulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

_Entry: TypeAlias = tuple[str, ObjectKey]
"""A key of a controller."""


class Arrival(NamedTuple):
    """Objects that somebody applies after a while."""

    after: timedelta
    source: str
    """Where they come from."""
    objects: Sequence[LoadedObject]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How time is to pass."""

    length: timedelta
    seed: int = 0
    """What the jitter of all turns is drawn from."""
    arrivals: Sequence[Arrival] = ()
    """What comes from outside."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """Objects that were applied."""

    at: datetime
    arrival: Arrival
    problems: tuple[LoadProblem, ...]
    """What of them no API server would have stored."""


class TimedSimulation:
    """Iterated once: the turns in which something was done or told, or failed, and what arrived, in their order."""

    def __init__(
        self,
        loop: CalendarLoop,
        clusters: Mapping[Cluster, InMemoryCluster],
        controllers: Sequence[Controller[Any]],
        schedule: Schedule,
        *,
        namespaces: Sequence[str] = (),
    ) -> None:
        """A simulation in which nothing has happened yet.

        Args:
            loop: on whose time everything happens.
            clusters: what the controllers look after.
            controllers: who is at work.
            schedule: how time passes.
            namespaces: what is seen of the cluster that is looked after; none: all.
        """
        self.began: Final = loop.utc_now()
        self.turns = 0
        self._failing: dict[_Entry, Happening] = {}
        self._loop = loop
        self._end = self.began + schedule.length
        self._target = clusters[Cluster.TARGET]
        self._arrivals = sorted(schedule.arrivals, key=lambda arrival: arrival.after, reverse=True)
        self._turns_now: Counter[_Entry] = Counter()
        jitter = random.Random(schedule.seed).random  # noqa: S311 -- it spreads turns, and hides nothing
        worlds = in_memory(self._target, clusters[Cluster.SOURCE], namespaces)
        self._simulation = Simulation(loop, worlds, controllers, jitter=jitter, looks_once=False)

    @property
    def now(self) -> datetime:
        """How far time has passed."""
        return self._loop.utc_now()

    @property
    def failing(self) -> list[Happening]:
        """The last turns of the keys whose last turn has failed."""
        return [*self._failing.values()]

    @property
    def due(self) -> datetime | None:
        """When something is looked at next; none: never, unless something changes."""
        return self._simulation.due

    def __iter__(self) -> Iterator[Happening | Arrived]:
        """Let time pass.

        Raises:
            RestlessError: at some moment no end is in sight.
            EndlessDecisionError: a decision goes on and on.
        """
        with self._simulation:
            self._simulation.look_at_everything()
            while True:
                yield from self._arrived()
                yield from self._worked()
                moment = self._next_moment()
                if moment is None or self._loop.moment(moment) > self._end:
                    self._loop.jump_to((self._end - self._loop.start).total_seconds())
                    return
                self._loop.jump_to(moment)
                self._turns_now.clear()

    def _next_moment(self) -> float | None:
        arrivals = (
            [(self.began + self._arrivals[-1].after - self._loop.start).total_seconds()] if self._arrivals else []
        )
        timer = self._loop.next_timer()
        return min([*arrivals, *([timer] if timer is not None else [])], default=None)

    def _arrived(self) -> Iterator[Arrived]:
        while self._arrivals and self.began + self._arrivals[-1].after <= self.now:
            arrival = self._arrivals.pop()
            yield Arrived(self.now, arrival, applied(self._target, arrival.objects))

    def _worked(self) -> Iterator[Happening]:
        """Everything that is to be done at the moment."""
        while (happening := self._simulation.next_turn()) is not None:
            entry = (happening.controller, happening.key)
            self.turns += 1
            self._turns_now[entry] += 1
            if self._turns_now[entry] > MOST_TURNS_AT_ONCE:
                raise RestlessError(*entry)
            if happening.is_failure:
                self._failing[entry] = happening
            else:
                self._failing.pop(entry, None)
            if happening.steps or happening.events or happening.failures:
                yield happening
