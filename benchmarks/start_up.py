"""How long a person waits for help, and a cluster for a process that is ready."""

import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.figures import Figure
from benchmarks.launch import REPOSITORY, Command
from benchmarks.process import WORKING, ResourceManager
from tests.control_plane import ControlPlane

RUNS: Final = 7
POLL: Final = 0.004


def measure(command: Command, runs: int = RUNS) -> Iterator[Figure]:
    """Medians over fresh processes."""
    yield Figure("hedgerow --help", _median(lambda: _help(command), runs) * 1000, "ms")
    with ControlPlane() as plane:
        results = [_start(command, plane) for _ in range(runs)]
    for what, seconds in zip(
        ("first log line", "ready", "at work as the leader"), zip(*results, strict=True), strict=True
    ):
        yield Figure(f"hedgerow run in an empty cluster, process start to {what}", statistics.median(seconds), "s")


def _median(work: Callable[[], float], runs: int) -> float:
    return statistics.median(work() for _ in range(runs))


def _help(command: Command) -> float:
    began = time.perf_counter()
    subprocess.run(command.line("help", "--help"), cwd=REPOSITORY, check=True, capture_output=True)
    return time.perf_counter() - began


def _start(command: Command, plane: ControlPlane) -> tuple[float, float, float]:
    """Seconds until it said something, until it was ready, and until its workers had begun."""
    with ResourceManager.at_work(command, "start-up", plane) as process:
        while not process.is_ready():
            process.require_running()
            time.sleep(POLL)
        ready = time.time()
        first, working = process.time_of("Starting"), process.time_of("Controller works", WORKING)
    return first - process.began, ready - process.began, working - process.began
