"""Cold convergence: from the start of the process to the last policy stored.

Beside it, in the same run and on the same server, the bare client posts the same policies, in turns with the process,
so that both meet a server that is equally warm. When a request came and when its object was stored is read from the API
server's audit log afterwards; nobody else asks the server for anything while the process writes.
"""

import statistics
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from benchmarks.audit_times import creations
from benchmarks.bare_client import send_all
from benchmarks.cluster import LARGE, SMALL, Size, cluster, create_policies, delete_policies, wait_for_policies
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane

ROUNDS: Final = 4
LARGE_ROUNDS: Final = 2
START_UP: Final = 0.6
SETTLED: Final = 1.0
"""Seconds that the process gets to see the last of its own writes before its peak of memory is read."""


class Convergence(NamedTuple):
    """What a cold start took."""

    to_first_write: float
    """Seconds from the start of the process until its first policy reached the API server."""
    writing: float
    """Seconds from then until the last policy was stored."""
    processor: float
    """Processor seconds of the process until all was calm."""
    peak_memory: float

    @property
    def seconds(self) -> float:
        """The whole."""
        return self.to_first_write + self.writing


class Comparison(NamedTuple):
    """Medians over some rounds."""

    bare: float
    process: Convergence


def measure(command: Command, small: Size = SMALL, large: Size = LARGE, rounds: int = ROUNDS) -> Iterator[Figure]:
    """Both sizes, and how the time grows between them."""
    few = _compare(command, small, rounds)
    yield from _figures(small, few)
    yield Figure.at_most(f"{small}: process start to last policy", few.process.seconds, "s", 1.25 * few.bare + START_UP)
    yield Figure.at_most(f"{small}: peak memory", few.process.peak_memory, "MiB", 75)
    many = _compare(command, large, LARGE_ROUNDS)
    yield from _figures(large, many)
    yield Figure(f"{large}: process start to last policy", many.process.seconds, "s")
    growth = large.policies / small.policies
    yield Figure(f"{large}: bare client, time per policy against the smaller cluster", many.bare / few.bare / growth)
    yield Figure(
        f"{large}: start included, time per policy against the smaller cluster",
        many.process.seconds / few.process.seconds / growth,
    )
    yield Figure.at_most(
        f"{large}: time per policy from the first write on against the smaller cluster",
        many.process.writing / few.process.writing / growth,
        "",
        1.1,
    )
    yield Figure.at_most(f"{large}: peak memory", many.process.peak_memory, "MiB", 200)


def _figures(size: Size, result: Comparison) -> Iterator[Figure]:
    yield Figure(f"{size}: bare client", result.bare, "s")
    yield Figure(f"{size}: process start to first write", result.process.to_first_write, "s")
    yield Figure(f"{size}: first write to last policy", result.process.writing, "s")
    yield Figure(f"{size}: processor time of the process", result.process.processor, "s")


def _compare(command: Command, size: Size, rounds: int) -> Comparison:
    policies = create_policies(size)
    bare, cold = list[float](), list[Convergence]()
    with cluster(size) as plane:

        def post() -> None:
            bare.append(send_all(plane, policies))

        def converge() -> None:
            cold.append(_converge(command, plane, size))

        for number in range(rounds):
            # Who comes second finds a server with more history, so each is second as often as the other.
            for work in (post, converge) if number % 2 else (converge, post):
                work()
                delete_policies(plane, size)
    medians = (statistics.median(column) for column in zip(*cold, strict=True))
    return Comparison(statistics.median(bare), Convergence(*medians))


def _converge(command: Command, plane: ControlPlane, size: Size) -> Convergence:
    since = plane.audit_position()
    with ResourceManager.at_work(command, f"cold-{size.services}", plane) as process:
        wait_for_policies(plane, size.policies, still=process.require_running)
        time.sleep(SETTLED)
        processor, peak = process.processor_seconds(), process.peak_memory()
    policies = [made for made in creations(plane, since=since) if made.resource == "networkpolicies"]
    first, last = policies[0].received, max(made.stored for made in policies)
    return Convergence(first - process.began, last - first, processor, peak)
