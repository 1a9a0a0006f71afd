"""How fast a controller that is always on may work, and how often it may look again.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from hedgerow.machinery.fields import FieldError, invalid

CONCURRENT_SYNCS: Final = 5
SYNC_PERIOD: Final = timedelta(minutes=1)
SHORTEST_SYNC_PERIOD: Final = timedelta(seconds=15)


def concurrency_problems(path: str, concurrent_syncs: int | None) -> Iterator[FieldError]:
    """No worker at all; none where a section leaves their number to its default."""
    if concurrent_syncs is not None and concurrent_syncs < 1:
        yield invalid(f"{path}.concurrentSyncs", concurrent_syncs, "must be at least 1")


def period_problems(path: str, sync_period: timedelta | None) -> Iterator[FieldError]:
    """Too short a period; none where a section leaves it to its default."""
    if sync_period is not None and sync_period < SHORTEST_SYNC_PERIOD:
        yield invalid(f"{path}.syncPeriod", sync_period, "must be at least 15s")
