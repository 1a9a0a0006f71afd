"""What a settled cluster costs: a resync looks at every Service again and finds nothing to do.

The shortest resync period that the configuration allows twice over leaves room for an idle stretch before each resync.
The processor time of a stretch with exactly one resync is reported less that of as long an idle stretch, which holds
lease renewals.
"""

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from benchmarks.audit_times import writes
from benchmarks.cluster import SMALL, Size, cluster, wait_for_calm, wait_for_policies
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.process import ResourceManager, total
from tests.control_plane import ControlPlane

PERIOD: Final = 24
"""Seconds between resyncs, counted from the start of the workers."""
STRETCH: Final = 9
"""Seconds that are looked at: one such stretch ends shortly before the resync, the next begins there."""
MARGIN: Final = 2
MILLISECONDS: Final = 1000


class Stretch(NamedTuple):
    """What happened in some seconds."""

    processor: float
    reconciliations: float
    writes: int


def measure(command: Command, size: Size = SMALL) -> Iterator[Figure]:
    """One resync and one idle stretch."""
    with (
        cluster(size) as plane,
        ResourceManager.at_work(command, "steady", plane, cacheResyncPeriod=f"{PERIOD}s") as process,
    ):
        wait_for_policies(plane, size.policies, still=process.require_running)
        wait_for_calm(plane)
        began = process.time_of("Starting workers")
        rounds = 1 + (time.time() - began + STRETCH + 2 * MARGIN) // PERIOD
        resync = began + rounds * PERIOD
        idle = _stretch(plane, process, resync - STRETCH - MARGIN)
        busy = _stretch(plane, process, resync - MARGIN + 0.5)
    # One Service more is the API server's own.
    if idle.reconciliations or busy.reconciliations < size.services:
        raise AssertionError(f"the resync of {size} was missed: {idle}, {busy}")
    yield Figure.at_most(f"{size}: writes of a resync", busy.writes, "", 0)
    yield Figure.at_most(f"{size}: processor time of a resync", busy.processor - idle.processor, "s", 0.2)
    yield Figure(f"{size}: processor time per second while idle", idle.processor / STRETCH * MILLISECONDS, "ms")


def _stretch(plane: ControlPlane, process: ResourceManager, begin: float) -> Stretch:
    """What happens from a moment on; the metrics are asked for outside of it, as they cost processor time too."""
    time.sleep(begin - time.time())
    reconciled = total(process.metrics(), "controller_runtime_reconcile_total")
    since, processor = plane.audit_position(), process.processor_seconds()
    time.sleep(STRETCH)
    processor = process.processor_seconds() - processor
    reconciled = total(process.metrics(), "controller_runtime_reconcile_total") - reconciled
    return Stretch(processor, reconciled, writes(plane, since=since))
