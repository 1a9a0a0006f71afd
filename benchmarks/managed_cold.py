"""ManagedResources all created at once: from the first creation until the last one says that it is applied.

The process runs already, and the Secrets are there; the load generator creates the ManagedResources with 32 in flight,
and a watch of the measuring client tells when each says for the first time that `ResourcesApplied` is true. Beside it,
in the same run and on the same server, the bare client creates as many ManagedResources and sends for each the writes
that the process has to send, one after the other, those of 32 ManagedResources at a time: a finalizer, a first status,
three objects, a final status, and the Secret's finalizer. What the process writes about health comes on top.

Each round has ManagedResources of a class of their own, and a process that looks after these alone.
"""

import itertools
import statistics
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from benchmarks.bare_client import send_all, send_chains
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.managed_landscape import Landscape, bare_writes, cluster, made
from benchmarks.managed_watch import WORKING, ObjectWatch
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane
from tests.e2e.managed_resources.landscape import Delivery

SMALL: Final = 200
LARGE: Final = 2000
PER_NAMESPACE: Final = 20
ROUNDS: Final = 4
LARGE_ROUNDS: Final = 1
SECONDS: Final = 3.4
AGAINST_BARE: Final = 1.5
GROWTH: Final = 1.1
MEMORY: Final = 250
IDLE: Final = 1.0


class Convergence(NamedTuple):
    """What came of one round."""

    seconds: float
    processor: float
    """Processor seconds of the process from the first creation until all was calm."""
    memory: float
    """What it holds then, in MiB."""
    peak_memory: float


class Comparison(NamedTuple):
    """Medians over some rounds."""

    bare: float
    process: Convergence


def measure(command: Command, count: int = SMALL, rounds: int = ROUNDS) -> Iterator[Figure]:
    """The time against the goal and against the bare client."""
    result = _compare(command, count, rounds)
    size = Landscape(count, 1, "")
    yield Figure(f"{size}: bare client", result.bare, "s")
    yield Figure.at_most(f"{size}: created to every ResourcesApplied", result.process.seconds, "s", SECONDS)
    yield Figure.at_most(f"{size}: against the bare client", result.process.seconds / result.bare, "", AGAINST_BARE)
    yield from _usage(size, result.process)


def measure_large(command: Command, small: int = SMALL, large: int = LARGE) -> Iterator[Figure]:
    """How time and memory grow.

    Of many, health is judged and Secrets are held before the last one is applied; of few, after that. The processor
    time counts both, and tells whether the work grows faster than the cluster.
    """
    few, many = _compare(command, small, rounds=2), _compare(command, large, LARGE_ROUNDS)
    size, growth = Landscape(large, 1, ""), large / small
    yield Figure(f"{size}: bare client", many.bare, "s")
    yield Figure(f"{size}: created to every ResourcesApplied", many.process.seconds, "s")
    what = f"time for each against {small}"
    yield Figure(f"{size}: bare client, {what}", many.bare / few.bare / growth)
    yield Figure(f"{size}: {what}", many.process.seconds / few.process.seconds / growth)
    spent = many.process.processor / few.process.processor / growth
    yield Figure.at_most(f"{size}: processor time for each against {small}", spent, "", GROWTH)
    yield from _usage(size, many.process)
    yield Figure.at_most(f"{size}: peak memory", many.process.peak_memory, "MiB", MEMORY)


def _usage(size: Landscape, process: Convergence) -> Iterator[Figure]:
    yield Figure(f"{size}: processor time of the process", process.processor, "s")
    yield Figure(f"{size}: memory when all is calm", process.memory, "MiB")


def _compare(command: Command, count: int, rounds: int) -> Comparison:
    numbers, bare, processes = itertools.count(), list[float](), list[Convergence]()
    with cluster() as plane:

        def prepared() -> tuple[Landscape, list[Delivery]]:
            landscape = Landscape(count, max(1, count // PER_NAMESPACE), f"round-{next(numbers)}")
            deliveries = landscape.deliveries()
            landscape.prepare_cluster(plane, deliveries)
            return landscape, deliveries

        def write() -> None:
            _, deliveries = prepared()
            bare.append(send_chains(plane, [bare_writes(each) for each in deliveries]))

        def converge() -> None:
            processes.append(_converge(command, plane, *prepared()))

        write()  # an API server takes its time over the first objects of every kind
        bare.clear()
        for number in range(rounds):
            # Who comes second finds a server with more history, so each is second as often as the other.
            for work in (write, converge) if number % 2 else (converge, write):
                work()
    return Comparison(statistics.median(bare), Convergence(*map(statistics.median, zip(*processes, strict=True))))


def _converge(command: Command, plane: ControlPlane, landscape: Landscape, deliveries: list[Delivery]) -> Convergence:
    name, controllers = f"managed-cold-{landscape.count}", landscape.controllers
    with ResourceManager.at_work(command, name, plane, controllers=controllers) as process:
        process.time_of("Controller works", WORKING)
        wait_for_calm(plane, IDLE)
        watch, processor = ObjectWatch.from_now_on(plane), process.processor_seconds()
        requests = [made(each.managed_resource) for each in deliveries]
        began = time.perf_counter()
        send_all(plane, requests)
        seconds = watch.all_are_applied(landscape.count, process.require_running) - began
        wait_for_calm(plane, IDLE)
        processor = process.processor_seconds() - processor
        return Convergence(seconds, processor, process.memory(), process.peak_memory())
