"""Lets time pass for controllers in in-memory clusters: each is looked at when something concerns it, or it is due.

The clock stands still while anybody has something to do, and then moves to the moment at which something is due. So
everything happens as in a process that is never late: a key that failed is tried again after the wait that it has
there, and turns get the jitter of a seed.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow_adapters.files import LoadedObject, LoadProblem
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.clusters import in_memory
from hedgerow_adapters.simulation.happenings import Happening
from hedgerow_adapters.simulation.seeding import applied
from hedgerow_adapters.simulation.simulation import Simulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop


class Arrival(NamedTuple):
    """Objects that somebody applies after a while."""

    after: timedelta
    source: str
    objects: Sequence[LoadedObject]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How time passes."""

    length: timedelta
    seed: int = 0
    """Of the jitter of all turns."""
    arrivals: Sequence[Arrival] = ()


@dataclass(frozen=True, slots=True)
class Arrived:
    """Objects that were applied."""

    at: datetime
    arrival: Arrival
    problems: tuple[LoadProblem, ...]
    """What of them no API server would have stored."""


class TimedSimulation(Simulation):
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
        """A simulation in which nothing has happened yet, on the time of a loop; no `namespaces`: all are visible."""
        self._target = clusters[Cluster.TARGET]
        worlds = in_memory(self._target, clusters[Cluster.SOURCE], namespaces)
        jitter = random.Random(schedule.seed).random  # noqa: S311 -- it spreads turns, and hides nothing
        super().__init__(loop, worlds, controllers, jitter=jitter, looks_once=False)
        self.began: Final = loop.utc_now()
        self._end = self.began + schedule.length
        self._arrivals = sorted(schedule.arrivals, key=lambda arrival: arrival.after, reverse=True)

    @property
    def now(self) -> datetime:
        """How far time has passed."""
        return self._loop.utc_now()

    @property
    def failing(self) -> list[Happening]:
        """The last turns of the keys whose last turn has failed."""
        return [turn for turn in self.last_turns if turn.is_failure]

    def __iter__(self) -> Iterator[Happening | Arrived]:
        """Let time pass.

        Raises:
            RestlessError: at some moment no end is in sight.
            CrashedTurnError: a decision has a defect, goes on and on, or took too long.
            CrashedMappingError: an `enqueue` function has a defect.
        """
        with self:
            self.look_at_everything()
            while True:
                while self._arrivals and self.began + self._arrivals[-1].after <= self.now:
                    arrival = self._arrivals.pop()
                    yield Arrived(self.now, arrival, applied(self._target, arrival.objects))
                yield from (turn for turn in self.work() if turn.steps or turn.events or turn.failures)
                moment = self._next_moment()
                if moment is None or self._loop.moment(moment) > self._end:
                    self._loop.jump_to((self._end - self._loop.start).total_seconds())
                    return
                self._loop.jump_to(moment)

    def _next_moment(self) -> float | None:
        moments = [timer] if (timer := self._loop.next_timer()) is not None else []
        if self._arrivals:
            moments.append((self.began + self._arrivals[-1].after - self._loop.start).total_seconds())
        return min(moments, default=None)
