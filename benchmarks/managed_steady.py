"""What settled ManagedResources cost: five minutes in which nobody changes anything."""

import time
from collections.abc import Iterator
from typing import Final

from benchmarks.audit_times import writes
from benchmarks.bare_client import send_all
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.managed_cold import IDLE, PER_NAMESPACE, SMALL
from benchmarks.managed_landscape import Landscape, cluster, made
from benchmarks.managed_watch import WORKING, ObjectWatch
from benchmarks.process import ResourceManager, total
from tests.control_plane import ControlPlane

STRETCH: Final = 300
"""Seconds that are looked at; with the default configuration five periods of every controller."""
REQUESTS: Final = "rest_client_requests_total"


def measure(command: Command, count: int = SMALL, seconds: int = STRETCH) -> Iterator[Figure]:
    """Writes, other requests and processor time."""
    landscape = Landscape(count, count // PER_NAMESPACE, "steady")
    with (
        cluster() as plane,
        ResourceManager.at_work(command, "managed-steady", plane, controllers=landscape.controllers) as process,
    ):
        settle(plane, process, landscape)
        asked, since, processor = (
            total(process.metrics(), REQUESTS),
            plane.audit_position(),
            process.processor_seconds(),
        )
        time.sleep(seconds)
        processor = process.processor_seconds() - processor
        asked = total(process.metrics(), REQUESTS) - asked
        written = writes(plane, since=since)
    yield Figure.at_most(f"{landscape}: writes in {seconds} s", written, "", 0)
    yield Figure.at_most(f"{landscape}: share of a processor", 100 * processor / seconds, "%", 1)
    yield Figure(f"{landscape}: requests a minute, lease renewals included", asked * 60 / seconds)


def settle(plane: ControlPlane, process: ResourceManager, landscape: Landscape) -> None:
    """Create a landscape, and return once the process has nothing left to do."""
    deliveries = landscape.deliveries()
    landscape.prepare_cluster(plane, deliveries)
    process.time_of("Controller works", WORKING)
    watch = ObjectWatch.from_now_on(plane)
    send_all(plane, [made(each.managed_resource) for each in deliveries])
    watch.all_are_applied(landscape.count, process.require_running)
    wait_for_calm(plane, IDLE)
