"""What controllers come to: a plan for each key, or the cluster once all have settled.

Time stands still while controllers settle: round by round every key has its turn, and more turns as long as something
concerns it, until nothing is written in a round.

In a plan each key is looked at again as if the time had passed that it wanted to wait, and its writes had taken effect.
Later keys see what earlier ones have led to.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import only_asks
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.clusters import Worlds, in_memory
from hedgerow_adapters.simulation.happenings import Happening, SentAction
from hedgerow_adapters.simulation.simulation import RestlessError, Simulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

MOST_ROUNDS: Final = 100
MOST_TURNS: Final = 10
"""Looks at one key; after that it is taken for one that never comes to rest."""


class KeyPlan(NamedTuple):
    """Everything that would be done about a key."""

    steps: Sequence[SentAction]
    """What would be done, in its order; without what would be refused."""
    failures: Sequence[Failure]
    """What cannot be planned, or would be refused."""


class Planner:
    """A controller before its clusters."""

    def __init__(self, simulation: Simulation) -> None:
        """Nothing was done yet in the simulation, which is of one controller alone."""
        (self.controller,) = simulation.controllers
        self.snapshot: Final[StoreSnapshot] = simulation.snapshot
        self._simulation = simulation

    def notes(self) -> Iterator[str]:
        """What the controller could not see, a sentence each."""
        for (resource, _), problem in self._simulation.unlisted.items() if self._simulation.is_whole else ():
            if problem is not None:
                yield f"planned without a list of {resource}: {problem}"
            elif resource == self.controller.primary:
                yield f"the cluster does not know {resource}"

    def plan(self, key: ObjectKey) -> KeyPlan:
        """Everything that would be done about a key.

        Raises:
            CrashedTurnError: a decision has a defect, goes on and on, or took too long.
            CrashedMappingError: an `enqueue` function has a defect.
            ReadingError: a cluster does not show what is asked for.
        """
        steps: list[SentAction] = []
        failures: Sequence[Failure] = ()
        for _ in range(MOST_TURNS):
            turn = self._simulation.turn_of(key)
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


@contextmanager
def planning(controller: Controller[Any], worlds: Worlds, now: datetime) -> Iterator[Planner]:
    """A controller whose plans are not carried out.

    Args:
        controller: who decides.
        worlds: its clusters, for this controller alone: they show what it has planned.
        now: the time at which all of it would happen.

    Raises:
        ReadingError: a cluster does not show what the controller has to watch.
    """
    with Simulation(CalendarLoop(now), worlds, [controller]) as simulation:
        for cluster, world in worlds.items():
            world.transport.effects.keep(controller, simulation.snapshot, cluster)
        yield Planner(simulation)


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a cluster came to rest."""

    steps: tuple[SentAction, ...]
    """Everything that was done, and then what is still refused."""
    last_turns: tuple[Happening, ...]
    unrest: str
    """Why it did not come to rest, as a sentence; empty: it did."""

    @property
    def is_settled(self) -> bool:
        """True if it came to rest."""
        return not self.unrest

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
) -> Settlement:
    """Run controllers until none of them has anything to do that the server does not refuse.

    Args:
        cluster: what they look after.
        controllers: who is run.
        source: the source cluster; none: it is the same.
        namespaces: what is seen of the cluster that is looked after; none: all.

    Raises:
        CrashedTurnError: a decision has a defect, goes on and on, or took too long.
        CrashedMappingError: an `enqueue` function has a defect.
        ReadingError: an object cannot be read.
    """
    done: list[SentAction] = []
    unrest = ""
    worlds = in_memory(cluster, source, namespaces)
    with Simulation(CalendarLoop(cluster.now()), worlds, controllers) as simulation:
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
