"""For how long the event loop of a process serves nobody that holds very much.

The cluster has 100 000 Secrets, 10 000 Services and 2 000 ManagedResources with three objects each. Secrets and
Services are written into etcd directly. The loop is watched from inside the process (`watched_loop`), and from outside
by a client that asks for a probe every 10 ms.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.bare_client import send_all
from benchmarks.cluster import LARGE, Size, wait_for_policies
from benchmarks.figures import Figure
from benchmarks.latency import is_idle
from benchmarks.launch import Command
from benchmarks.load_generator import Load, RunningLoad
from benchmarks.managed_landscape import Landscape, made
from benchmarks.managed_watch import WORKING, ObjectWatch
from benchmarks.prepared import change, creation_of_namespace
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane
from tests.e2e.managed_resources.definition import define_managed_resources

SECRETS: Final = 100_000
DELIVERED: Final = Landscape(count=2_000, namespaces=100, class_name="resources")
STRETCH: Final = 60
"""Seconds in which the process is at work after its start."""
CHANGES: Final = 50
"""Services and Secrets that are changed each second meanwhile."""
PATIENT: Final = {"leaseDuration": "120s", "renewDeadline": "100s", "retryPeriod": "2s"}
"""An API server with so many objects takes longer to come back than a lease usually lasts."""
QUIET: Final = 3.0
"""Seconds without a key to work on after which a start is over."""
MOST_AT_START: Final = 250
MOST_AFTERWARDS: Final = 100
MILLISECONDS: Final = 1000
CONTROLLERS: Final[Mapping[str, Any]] = {
    "garbageCollector": {"enabled": True, "syncPeriod": "15s"},
    "networkPolicy": {"enabled": True},
    "resourceClass": DELIVERED.class_name,
    "tokenRequestor": {"enabled": True, "sourceNamespaces": ["garden"]},
}
"""What reads Secrets and needs no webhook. Rounds of the garbage collector come every 15 s, and not every hour."""


@dataclass(frozen=True, slots=True)
class Block:
    """A time in which the loop served nobody."""

    at: float
    """When it ended, in seconds of Unix time."""
    seconds: float
    computed: float
    """Seconds of processor time of the loop's thread: the rest belongs to other threads, or to other processes."""
    where: str


def measure(command: Command, secrets: int = SECRETS, size: Size = LARGE) -> Iterator[Figure]:
    """The longest blocks of a start that has everything to write, of one that has nothing to, and afterwards."""
    with TemporaryDirectory(prefix="hedgerow-benchmark-") as folder, ControlPlane() as plane:
        _fill(plane, secrets, size)
        print(f"  {secrets:,} Secrets".replace(",", " "), f"{size}", f"{DELIVERED}", sep=", ")
        file = Path(folder, "first")
        with _at_work(command, plane, file) as process:
            wait_for_policies(plane, size.policies, still=process.require_running)
            _deliver(plane, process)
            _wait_until_idle(process)
        yield from _figures("first start, with everything to write", file, MOST_AT_START)
        file = Path(folder, "second")
        with _at_work(command, plane, file) as process:
            probes = _probing(process)
            process.time_of("Controller works", WORKING)
            _wait_until_idle(process)
            yield Figure("start with everything written: until all is looked at", time.time() - process.began, "s")
            yield Figure("peak memory", process.peak_memory(), "MiB")
            yield from _figures("start with everything written", file, MOST_AT_START)
            yield Figure("start with everything written: longest probe", _end(probes).longest, "ms")
            since, probes = time.time(), _probing(process)
            _work(plane, size)
            _wait_until_idle(process)
            name = f"{STRETCH} s with {CHANGES} changes a second"
            yield from _figures(name, file, MOST_AFTERWARDS, since)
            yield Figure(f"{name}: longest probe", _end(probes).longest, "ms")
            since, probes = time.time(), _probing(process)
            plane.expire_resource_versions()
            process.wait_for(process.is_ready, "is not ready again")
            time.sleep(STRETCH)
            _wait_until_idle(process)
            name = "everything listed anew, as the API server comes back without history"
            yield from _figures(name, file, MOST_AFTERWARDS, since)
            yield Figure(f"{name}: longest probe", _end(probes).longest, "ms")


@contextmanager
def _at_work(command: Command, plane: ControlPlane, blocks: Path) -> Iterator[ResourceManager]:
    with ResourceManager.at_work(
        command, "blocks", plane, controllers=CONTROLLERS, blocks=blocks, election=PATIENT
    ) as process:
        yield process


def _figures(what: str, file: Path, limit: float, since: float = 0) -> Iterator[Figure]:
    blocks = [block for block in _read(file) if block.at > since]
    longest = max(blocks, key=lambda block: block.seconds, default=Block(0, 0, 0, ""))
    yield Figure.at_most(f"{what}: longest block of the loop", longest.seconds * MILLISECONDS, "ms", limit)
    yield Figure(f"{what}: of which it computed", longest.computed * MILLISECONDS, f"ms, in {longest.where}")
    count = sum(block.seconds * MILLISECONDS > limit for block in blocks)
    yield Figure(f"{what}: blocks of more than {limit} ms", count)


def _read(file: Path) -> Iterator[Block]:
    for line in file.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        yield Block(found["at"], found["seconds"], found["computed"], found["in"])


def _probing(process: ResourceManager) -> RunningLoad:
    """A client that asks for a probe every 10 ms until it is ended."""
    process.wait_for(process.answers, "does not answer probes")
    url = f"http://127.0.0.1:{process.health_port}/healthz?exclude=apiserver-healthz"
    return RunningLoad("requests", "-url", url, "-connections", "10", "-interval", "100ms", "-seconds", "86400")


def _end(probes: RunningLoad) -> Load:
    return Load.of(probes.end())


def _wait_until_idle(process: ResourceManager) -> None:
    """Return once nothing has been worked on for some seconds."""
    idle_since = time.monotonic()
    while time.monotonic() - idle_since < QUIET:
        process.require_running()
        time.sleep(QUIET / 10)
        if not is_idle(process):
            idle_since = time.monotonic()


def _deliver(plane: ControlPlane, process: ResourceManager) -> None:
    deliveries = DELIVERED.deliveries()
    DELIVERED.prepare_cluster(plane, deliveries)
    process.time_of("Controller works", WORKING)
    watch = ObjectWatch.from_now_on(plane)
    send_all(plane, [made(each.managed_resource) for each in deliveries])
    watch.all_are_applied(DELIVERED.count, process.require_running)


def _work(plane: ControlPlane, size: Size) -> None:
    """Change a Service, or a Secret that nobody has to do with, so often."""
    until, number = time.monotonic() + STRETCH, 0
    while (began := time.monotonic()) < until:
        services = [size.service(each) for each in range(number, number + CHANGES // 2)]
        secrets = [_secret(each, size) for each in range(number, number + CHANGES // 2)]
        patch = {"metadata": {"annotations": {"changed": str(number)}}}
        send_all(plane, [change(each, patch) for each in (*services, *secrets)])
        number += CHANGES // 2
        time.sleep(max(0.0, began + 1 - time.monotonic()))


def _fill(plane: ControlPlane, secrets: int, size: Size) -> None:
    define_managed_resources(plane)
    send_all(plane, (creation_of_namespace(size.namespace(number)) for number in range(size.namespaces)))
    plane.store_all("secrets", (_secret(number, size) for number in range(secrets)))
    plane.store_all("services/specs", (size.service(number) for number in range(size.services)))


def _secret(number: int, size: Size) -> dict[str, Any]:
    metadata = {"name": f"secret-{number}", "namespace": size.namespace(number), "labels": {"app": f"app-{number}"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": {"key": "dmFsdWU="}}
