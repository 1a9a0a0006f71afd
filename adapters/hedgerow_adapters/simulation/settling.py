"""Lets controllers work in the in-memory cluster until nothing is left to do.

Time stands still. Round by round every key has its turn, and more turns as long as something concerns it; they have
settled when nothing is written in a round. What the server refuses in the last turn of a key is reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.plan import only_asks
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.clusters import in_memory
from hedgerow_adapters.simulation.happenings import Happening, SentAction
from hedgerow_adapters.simulation.simulation import RestlessError, Simulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

MOST_ROUNDS: Final = 100


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a cluster came to rest."""

    steps: tuple[SentAction, ...]
    """Everything that was done, and then what is still refused."""
    last_turns: tuple[Happening, ...]
    """Of all keys."""
    is_settled: bool
    """Whether it came to rest at all."""


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
    """
    worlds = in_memory(cluster, source, namespaces)
    done: list[SentAction] = []
    with Simulation(CalendarLoop(cluster.now()), worlds, controllers) as simulation:
        try:
            is_settled = _is_settled(simulation, done)
        except RestlessError:
            is_settled = False
    turns = simulation.last_turns
    refused = (step for turn in turns for step in turn.steps if step.error)
    return Settlement((*done, *refused), (*turns,), is_settled)


def _is_settled(simulation: Simulation, done: list[SentAction]) -> bool:
    """Let every key have its turns, and note what they do; whether that comes to an end."""
    for _ in range(MOST_ROUNDS):
        known = len(done)
        simulation.look_at_everything()
        for turn in simulation.work():
            done += (step for step in turn.steps if not step.error)
        if simulation.conflicts:
            return False
        if all(only_asks(step.action) for step in done[known:]):
            return True
    return False
