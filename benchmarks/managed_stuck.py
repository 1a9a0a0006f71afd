"""ManagedResources that are deleted while something keeps their objects: what the process writes while nothing changes.

Every object carries a finalizer of somebody who does nothing. The process looks again every five seconds.
"""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from benchmarks.bare_client import send_all
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.managed_cold import IDLE
from benchmarks.managed_landscape import cluster, made, removed
from benchmarks.managed_watch import WORKING, ObjectWatch
from benchmarks.prepared import creation_of_namespace
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane
from tests.e2e.managed_resources.landscape import Delivery, delivery
from tests.e2e.managed_resources.manifests import config_map

COUNT: Final = 20
STRETCH: Final = 60
CLASS: Final = "stuck"
BEGINNING: Final = 3.0
"""Seconds within which every ManagedResource has told that its deletion is pending."""
WRITES: Final = ("create", "update", "patch", "delete", "deletecollection")


def measure(command: Command, count: int = COUNT, seconds: int = STRETCH) -> Iterator[Figure]:
    """Writes until the deletions are told to be pending, and in the minute after."""
    deliveries = [_held(number) for number in range(count)]
    controllers = {"resourceClass": CLASS}
    with (
        cluster() as plane,
        ResourceManager.at_work(command, "managed-stuck", plane, controllers=controllers) as process,
    ):
        send_all(plane, [creation_of_namespace(CLASS)])
        send_all(plane, [made(each.secret) for each in deliveries])
        process.time_of("Controller works", WORKING)
        watch = ObjectWatch.from_now_on(plane)
        send_all(plane, [made(each.managed_resource) for each in deliveries])
        watch.all_are_applied(count, process.require_running)
        wait_for_calm(plane, IDLE)
        since = plane.audit_position()
        send_all(plane, [removed(each.managed_resource) for each in deliveries])
        time.sleep(BEGINNING)
        beginning, since = _writes(plane, since), plane.audit_position()
        processor = process.processor_seconds()
        time.sleep(seconds)
        processor = process.processor_seconds() - processor
        later = _writes(plane, since)
    each = f"{count} stuck deletions"
    yield Figure(f"{each}: status writes for each in the first {BEGINNING:.0f} s", _of_status(beginning) / count)
    yield Figure.at_most(f"{each}: status writes in the next {seconds} s", _of_status(later), "", 0)
    yield Figure(f"{each}: other writes in these {seconds} s", later.total() - _of_status(later))
    yield Figure(f"{each}: share of a processor in these {seconds} s", 100 * processor / seconds, "%")


def _held(number: int) -> Delivery:
    kept: dict[str, Any] = config_map(CLASS, f"kept-{number}")
    kept["metadata"]["finalizers"] = ["benchmarks.hedgerow.dev/stays"]
    return delivery(CLASS, f"stuck-{number}", kept, class_name=CLASS)


def _of_status(writes: Counter[tuple[str, str]]) -> int:
    return sum(times for (_, subresource), times in writes.items() if subresource == "status")


def _writes(plane: ControlPlane, since: int) -> Counter[tuple[str, str]]:
    """How often each resource, and which part of it, was written; the requests of the measurement are among them."""
    places = [event["objectRef"] for event in plane.audit_events(verbs=WRITES, since=since)]
    return Counter(
        (place["resource"], place.get("subresource", "")) for place in places if place["resource"] != "leases"
    )
