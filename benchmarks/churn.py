"""A hundred changes a second for two minutes: Services come, change, and go, while their number stays the same.

The changes are sent at their times, whether or not earlier ones are through. How long keys wait is what the process's
own histogram counts between the beginning and the end; depth and memory are looked at every ten seconds.
"""

import asyncio
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import aiohttp

from benchmarks.bare_client import send, send_all, session
from benchmarks.cluster import POLICIES_PER_SERVICE, SMALL, Size, cluster, service, wait_for_calm, wait_for_policies
from benchmarks.figures import Figure, percentile
from benchmarks.launch import Command
from benchmarks.prepared import Prepared, change, creation, deletion
from benchmarks.process import ResourceManager, buckets, total
from tests.control_plane import ControlPlane

RATE: Final = 100
SECONDS: Final = 120
LOOK: Final = 10 * RATE
"""Changes between looks at the process."""
QUANTILE: Final = 0.99
TURN: Final = 3
AGE: Final = 300
"""How many newer Services there are when one is changed, and as many again when it is deleted."""
GROWTH: Final = 2.0
"""MiB between the two halves that count as none."""
WAITS: Final = "workqueue_queue_duration_seconds"


class Look(NamedTuple):
    """The process at one moment."""

    memory: float
    depth: float
    waits: dict[float, float]


def measure(command: Command, size: Size = SMALL, seconds: int = SECONDS) -> Iterator[Figure]:
    """Queue wait, depth, and growth."""
    with cluster(size) as plane:
        send_all(plane, (creation(_passing(size, number)) for number in range(2 * AGE)))
        with ResourceManager.at_work(command, "churn", plane) as process:
            expected = size.policies + 2 * AGE * POLICIES_PER_SERVICE
            wait_for_policies(plane, expected, still=process.require_running)
            wait_for_calm(plane)
            answers, looks = asyncio.run(_churn(plane, process, [*_changes(size, seconds * RATE)]))
            wait_for_policies(plane, expected, still=process.require_running)
    late = percentile([answer for answer in answers if answer is not None], 99)
    middle = len(looks) // 2
    growth = _usual_memory(looks[middle:]) - _usual_memory(looks[1:middle])
    yield Figure(f"{RATE} changes a second for {seconds} s: time from when one is due to its answer, p99", late, "s")
    yield Figure("changes that came too late for their Service", answers.count(None))
    yield Figure.at_most("wait of keys in the queue, p99 (bound of its bucket)", _wait(looks[0], looks[-1]), "s", 0.1)
    yield Figure("most keys in the queue at any look", max(look.depth for look in looks))
    yield Figure.at_most("memory of the second half against the first", growth, "MiB", GROWTH)


def _usual_memory(looks: Sequence[Look]) -> float:
    return statistics.median(look.memory for look in looks)


def _passing(size: Size, number: int) -> dict[str, Any]:
    """A Service that comes and goes."""
    return service(f"passing-{number}", size.namespace(number))


def _changes(size: Size, count: int) -> Iterator[Prepared]:
    """In turns: a new Service, another selector for one of some age, the end of one of twice that age."""
    for number in range(count - count % TURN):
        newest = 2 * AGE + number // TURN
        match number % TURN:
            case 0:
                yield creation(_passing(size, newest))
            case 1:
                yield change(_passing(size, newest - AGE), {"spec": {"selector": {"app": f"changed-{number}"}}})
            case _:
                yield deletion(_passing(size, newest - 2 * AGE))


async def _churn(
    plane: ControlPlane, process: ResourceManager, changes: Iterable[Prepared]
) -> tuple[Sequence[float | None], Sequence[Look]]:
    """Seconds from when each change was due to its answer, if it found its Service, and looks at the process."""
    clock = asyncio.get_running_loop().time
    answers: list[float | None] = []
    looks = [_look(process)]

    async def make(request: Prepared, due: float) -> None:
        try:
            await send(client, request)
        except aiohttp.ClientResponseError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            answers.append(None)
        else:
            answers.append(clock() - due)

    async def look() -> None:
        looks.append(await asyncio.to_thread(_look, process))

    async with session(plane) as client, asyncio.TaskGroup() as tasks:
        began = clock()
        for number, request in enumerate(changes):
            due = began + number / RATE
            await asyncio.sleep(due - clock())
            tasks.create_task(make(request, due))
            if number % LOOK == 0:
                tasks.create_task(look())
    return answers, [*looks, _look(process)]


def _look(process: ResourceManager) -> Look:
    samples = process.metrics()
    return Look(process.memory(), total(samples, "workqueue_depth"), buckets(samples, WAITS))


def _wait(before: Look, after: Look) -> float:
    """The least bound of the histogram that 99 of 100 waits between two looks have stayed below."""
    waits = {bound: count - before.waits[bound] for bound, count in after.waits.items()}
    return min(bound for bound, count in waits.items() if count >= QUANTILE * waits[math.inf])
