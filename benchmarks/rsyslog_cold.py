"""Extensions reconciled from cold: from the start of the process to the last status that says so.

Beside it, in the same run and on the same server, the bare client sends the same writes, those of one Extension one
after the other and those of as many Extensions at a time as the process has under way: finalizer, first status, the
request taken off, ConfigMap, last status. Both times are those of the API server's audit log; nobody else asks the
server for anything meanwhile.
"""

import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from benchmarks.bare_client import send_all, send_chains
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.prepared import Prepared
from benchmarks.rsyslog_process import Extension, change, creation, extension, namespace_of, seed
from benchmarks.rsyslog_relp import PLAIN
from hedgerow.api.gardener import EXTENSIONS
from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.extensions.operations import OperationType, started, succeeded
from hedgerow.machinery.objects import key_of
from hedgerow.rsyslog_relp.lifecycle import lifecycle_controller
from hedgerow.rsyslog_relp.monitoring import monitoring_config_map
from hedgerow.rsyslog_relp.naming import FINALIZER
from hedgerow_adapters.protocol.requests import object_path
from hedgerow_adapters.runtime.runner import keys_under_way
from tests.control_plane import ControlPlane
from tests.e2e.rsyslog.seed import OPERATION

COUNT: Final = 1_000
ROUNDS: Final = 4
AGAINST_BARE: Final = 1.25
START_UP: Final = 0.6
WRITES: Final = 4
"""For each Extension."""
PATIENCE: Final = 300.0


class Convergence(NamedTuple):
    """One cold start."""

    to_first_write: float
    """Seconds from the start of the process until its first write reached the API server."""
    writing: float
    """Seconds from then until the last write was stored."""
    processor: float
    peak_memory: float


def measure(command: Command, count: int = COUNT, rounds: int = ROUNDS) -> Iterator[Figure]:
    """The time against that of the bare client."""
    raw, cold = list[float](), list[Convergence]()
    with seed(count) as plane:

        def write() -> None:
            raw.append(
                send_chains(
                    plane, [raw_writes(number) for number in range(count)], keys_under_way(lifecycle_controller())
                )
            )

        def converge() -> None:
            cold.append(_converge(command, plane, count))

        for number in range(rounds + 1):
            # Who comes second finds a server with more history, so each is second as often as the other.
            for work in (write, converge) if number % 2 else (converge, write):
                send_all(plane, (creation(EXTENSIONS, extension(number, PLAIN)) for number in range(count)))
                wait_for_calm(plane)
                work()
                _clear(plane, count)
            if number == 0:  # an API server takes its time over the first objects of every kind
                raw.clear()
                cold.clear()
    base, mine = statistics.median(raw), Convergence(*map(statistics.median, zip(*cold, strict=True)))
    what = f"{count} Extensions"
    yield Figure(f"{what}: raw writes", base, "s")
    yield Figure(f"{what}: process start to first write", mine.to_first_write, "s")
    yield Figure(f"{what}: first write to last one", mine.writing, "s")
    yield Figure(f"{what}: processor time of the process", mine.processor, "s")
    yield Figure(f"{what}: peak memory", mine.peak_memory, "MiB")
    seconds = mine.to_first_write + mine.writing
    yield Figure.at_most(f"{what}: process start to last success", seconds, "s", AGAINST_BARE * base + START_UP)


def _converge(command: Command, plane: ControlPlane, count: int) -> Convergence:
    since, deadline = plane.audit_position(), time.monotonic() + PATIENCE
    with Extension.serving(command, "rsyslog-cold", plane) as process:
        while len(events := _writes(plane, since)) < WRITES * count:
            process.require_running()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(events)} writes instead of {WRITES * count}")
            wait_for_calm(plane)
        processor, peak = process.processor_seconds(), process.peak_memory()
    if len(events) != WRITES * count:
        raise AssertionError(f"{len(events)} writes instead of {WRITES * count}")
    first = min(_time(event["requestReceivedTimestamp"]) for event in events)
    last = max(_time(event["stageTimestamp"]) for event in events)
    return Convergence(first - process.began, last - first, processor, peak)


def _writes(plane: ControlPlane, since: int) -> list[dict[str, Any]]:
    events = plane.audit_events(verbs={"create", "update", "patch", "delete"}, since=since)
    return [event for event in events if event["objectRef"]["resource"] in {EXTENSIONS.plural, CONFIG_MAPS.plural}]


def _time(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).timestamp()


def raw_writes(number: int) -> tuple[Prepared, ...]:
    """What has to be written for one Extension."""
    manifest, now = extension(number), datetime.now(UTC)
    return (
        change(EXTENSIONS, manifest, {"metadata": {"finalizers": [FINALIZER], "annotations": {OPERATION: None}}}),
        change(EXTENSIONS, manifest, {"status": started(OperationType.CREATE, now)}, "/status"),
        creation(CONFIG_MAPS, monitoring_config_map(namespace_of(number))),
        change(EXTENSIONS, manifest, {"status": succeeded(OperationType.CREATE, 1, now)}, "/status"),
    )


def _clear(plane: ControlPlane, count: int) -> None:
    """Leave no Extension and no ConfigMap."""

    def removals(number: int) -> Iterator[Prepared]:
        manifest = extension(number)
        yield change(EXTENSIONS, manifest, {"metadata": {"finalizers": None}})
        yield Prepared("DELETE", object_path(EXTENSIONS, key_of(manifest)))
        yield Prepared("DELETE", object_path(CONFIG_MAPS, key_of(monitoring_config_map(namespace_of(number)))))

    send_chains(plane, map(removals, range(count)))
