"""How fast ManagedResources are judged, and how often again: the section `controllers.health`.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hedgerow.api.shape import Int64
from hedgerow.machinery.durations import format_duration
from hedgerow.machinery.fields import FieldError
from hedgerow.resource_manager.configuration.pace import (
    CONCURRENT_SYNCS,
    SYNC_PERIOD,
    concurrency_problems,
    period_problems,
)
from hedgerow.resource_manager.configuration.shape import Duration, Purpose, Section


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """How the controllers for health and for progress run."""

    concurrent_syncs: int
    """How many ManagedResources each of them looks at at once."""
    sync_period: timedelta
    """After this time a ManagedResource is judged again although nothing has changed."""


class HealthSection(Section):
    """The section as written."""

    concurrent_syncs: Int64 = CONCURRENT_SYNCS
    """How many ManagedResources are looked at at once. At least 1."""
    sync_period: Duration = SYNC_PERIOD
    """After this time a ManagedResource is judged again although nothing has changed. At least 15s."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """No worker at all, too short a period."""
        yield from concurrency_problems(path, self.concurrent_syncs)
        yield from period_problems(path, self.sync_period)

    def settings(self) -> HealthSettings:
        """The section with its defaults."""
        return HealthSettings(self.concurrent_syncs, self.sync_period)


def manifest(settings: HealthSettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    return {"concurrentSyncs": settings.concurrent_syncs, "syncPeriod": format_duration(settings.sync_period)}
