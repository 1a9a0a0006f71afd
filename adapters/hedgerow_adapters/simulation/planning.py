"""What controllers come to: a plan for each key, the cluster once all have settled, or all that happens in some days.

Time stands still while controllers settle: round by round every key has its turn, and more turns as long as something
concerns it, until nothing is written in a round.

In a plan each key is looked at again as if the time had passed that it wanted to wait, and its writes had taken effect.
Later keys see what earlier ones have led to.

Where days pass, the clock stands still while anybody has something to do, and then moves to the moment at which
something is due. So everything happens as in a process that is never late: a key that failed is tried again after the
wait that it has there, and turns get the jitter of a seed.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, Self

from typing_extensions import override

from hedgerow.api.custom_resources import CUSTOM_RESOURCES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import only_asks
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.files.sources import LoadedObject, LoadProblem
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.clusters import Happening, SentAction, Worlds, in_memory
from hedgerow_adapters.simulation.seeding import applied
from hedgerow_adapters.simulation.simulation import Charts, RestlessError, Simulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

MOST_ROUNDS: Final = 100
MOST_TURNS: Final = 10
"""Looks at one key; after that it is taken for one that never comes to rest."""


class KeyPlan(NamedTuple):
    """The actions that would be taken for a key, in their order, and what cannot be planned or would be refused."""

    steps: Sequence[SentAction]
    failures: Sequence[Failure]


class Planner(Simulation):
    """A controller whose plans are not carried out: a context, in which it sees what it has planned."""

    def __init__(
        self, controller: Controller[Any], worlds: Worlds, now: datetime, charts: Charts | None = None
    ) -> None:
        """A controller before its clusters, which are for it alone; `now` is when all of it would happen."""
        super().__init__(CalendarLoop(now), worlds, [controller], charts=charts)
        self.controller: Final = controller

    @override
    def __enter__(self) -> Self:
        super().__enter__()
        for cluster, world in self._worlds.items():
            world.transport.effects.keep(self.controller, self.snapshot, cluster)
        return self

    @property
    def snapshot(self) -> StoreSnapshot:
        """What the controller sees."""
        return self._seats[0].runner.snapshot

    def notes(self) -> Iterator[str]:
        """What the controller could not see, a sentence each."""
        if not all(world.transport.is_whole for world in self._worlds.values()):
            return
        for (resource, _), problem in self._seats[0].account.interruptions.items():
            if problem is not None:
                yield f"planned without a list of {resource}: {problem}"
            elif resource == self.controller.primary:
                is_own = any(custom.resource == resource for custom in CUSTOM_RESOURCES)
                install = f": it is not installed: `hedgerow crds {resource.plural} | kubectl apply -f -`"
                yield f"the cluster does not know {resource}{install if is_own else ''}"

    def plan(self, key: ObjectKey) -> KeyPlan:
        """Everything that would be done about a key.

        Raises ReadingError if a cluster does not show what is asked for, and SimulationError for a defect.
        """
        steps: list[SentAction] = []
        failures: Sequence[Failure] = ()
        for _ in range(MOST_TURNS):
            turn = self._turn_of(key)
            done = [step for step in turn.steps if not step.error]
            steps += done
            refused = [
                Failure(step.action.resource, step.action.key, Problem("", f"is refused: {step.error}"))
                for step in turn.steps
                if step.error
            ]
            # What trying again cannot help holds on, though a later turn may have nothing new to say of it.
            lasting = (failure for failure in failures if not failure.retryable)
            failures = tuple(dict.fromkeys((*turn.failures, *refused, *lasting)))
            is_at_rest = not any(step.is_change and not only_asks(step.action) for step in done)
            if self.controller.periodic or is_at_rest or turn.again_after is None or refused:
                return KeyPlan(steps, failures)
        problem = f"did not come to rest within {MOST_TURNS} looks: what follows is not planned"
        return KeyPlan(steps, (*failures, Failure(self.controller.primary, key, Problem("", problem))))

    def _turn_of(self, key: ObjectKey) -> Happening:
        """Take a turn of a key. Afterwards only the keys that the turn enqueued are waiting."""
        self._settle()
        (seat,) = self._seats
        seat.runner.queue.release(key)
        seat.runner.queue.clear()
        seat.runner.queue.add(key)
        happening = self._turn(seat)
        self._settle()
        return happening


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a cluster came to rest."""

    steps: tuple[SentAction, ...]
    """Everything that was done, and then what is still refused."""
    last_turns: tuple[Happening, ...]
    unrest: str
    """Why it did not come to rest, as a sentence; empty: it did."""

    def problems(self, explained: Callable[[Failure], str] = str) -> list[str]:
        """What is still refused, or could not be planned, a sentence each."""
        problems = [problem for turn in self.last_turns for problem in turn.problems(explained)]
        return [*problems, self.unrest] if self.unrest else problems


def settle(
    cluster: InMemoryCluster,
    controllers: Sequence[Controller[Any]],
    *,
    source: InMemoryCluster | None = None,
    namespaces: Sequence[str] = (),
    charts: Charts | None = None,
) -> Settlement:
    """Run controllers until none of them has anything to do that the server does not refuse.

    Without a `source`, the cluster plays both roles. `namespaces` of the cluster are visible; none: all. Raises
    ReadingError if an object cannot be read, and SimulationError for a defect or a decision that took too long.
    """
    done: list[SentAction] = []
    unrest = ""
    worlds = in_memory(cluster, source, namespaces)
    with Simulation(CalendarLoop(cluster.now()), worlds, controllers, charts=charts) as simulation:
        try:
            for _ in range(MOST_ROUNDS):
                known = len(done)
                simulation.look_at_everything()
                for turn in simulation.work():
                    done += (step for step in turn.steps if not step.error)
                unrest = simulation.conflict
                if unrest or all(only_asks(step.action) for step in done[known:]):
                    break
            else:
                last = done[-1]
                unrest = f"{last.controller} did not come to rest about {last.key} within {MOST_ROUNDS} rounds"
        except RestlessError as error:
            unrest = str(error)
    turns = simulation.last_turns
    refused = (step for turn in turns for step in turn.steps if step.error)
    return Settlement((*done, *refused), (*turns,), unrest)


class Arrival(NamedTuple):
    """Objects that somebody applies after a while."""

    after: timedelta
    source: str
    objects: Sequence[LoadedObject]


@dataclass(frozen=True, slots=True)
class Arrived:
    """Objects that were applied."""

    at: datetime
    arrival: Arrival
    problems: tuple[LoadProblem, ...]
    """Those that no API server would have stored."""


class TimedSimulation(Simulation):
    """Iterated once: the turns in which something was done or told, or failed, and what arrived, in their order."""

    def __init__(
        self,
        loop: CalendarLoop,
        clusters: Mapping[Cluster, InMemoryCluster],
        controllers: Sequence[Controller[Any]],
        length: timedelta,
        *,
        seed: int = 0,
        arrivals: Sequence[Arrival] = (),
        namespaces: Sequence[str] = (),
        charts: Charts | None = None,
    ) -> None:
        """A simulation in which nothing has happened yet, on the time of a loop; no `namespaces`: all are visible.

        The jitter of all turns is drawn from the seed.
        """
        self._target = clusters[Cluster.TARGET]
        worlds = in_memory(self._target, clusters[Cluster.SOURCE], namespaces)
        jitter = random.Random(seed).random  # noqa: S311 -- it spreads turns, and hides nothing
        super().__init__(loop, worlds, controllers, jitter=jitter, looks_once=False, charts=charts)
        self.began: Final = loop.utc_now()
        self._end = self.began + length
        self._arrivals = sorted(arrivals, key=lambda arrival: arrival.after, reverse=True)

    @property
    def now(self) -> datetime:
        """How far time has passed."""
        return self._loop.utc_now()

    @property
    def failing(self) -> list[Happening]:
        """The last turns of the keys whose last turn has failed."""
        return [turn for turn in self.last_turns if turn.is_failure]

    def __iter__(self) -> Iterator[Happening | Arrived]:
        """Let time pass; raises what `work` does."""
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
