"""How ManagedResources are applied, how fast, and how often again: the section `controllers.managedResource`.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from hedgerow.api.shape import Int64
from hedgerow.machinery.durations import format_duration
from hedgerow.machinery.fields import FieldError, invalid, required
from hedgerow.machinery.names import label_value_problem
from hedgerow.resource_manager.configuration.pace import (
    CONCURRENT_SYNCS,
    SYNC_PERIOD,
    concurrency_problems,
    period_problems,
)
from hedgerow.resource_manager.configuration.shape import Duration, Purpose, Section

MANAGED_BY: Final = "gardener"


@dataclass(frozen=True, slots=True)
class ManagedResourceSettings:
    """How the controller runs."""

    concurrent_syncs: int
    """How many ManagedResources are looked at at once."""
    sync_period: timedelta
    """After this time a ManagedResource is looked at again although nothing has changed."""
    always_update: bool
    """Whether objects are written even where they are as they should be."""
    managed_by_label_value: str
    """What the label `resources.gardener.cloud/managed-by` of every object says."""


class ManagedResourceSection(Section):
    """The section as written, under either of its names."""

    concurrent_syncs: Int64 = CONCURRENT_SYNCS
    """How many ManagedResources are looked at at once. At least 1."""
    sync_period: Duration = SYNC_PERIOD
    """After this time a ManagedResource is looked at again although nothing has changed. At least 15s."""
    always_update: bool = False
    """Whether objects are written even where they are as they should be."""
    managed_by_label_value: str = MANAGED_BY
    """What the label `resources.gardener.cloud/managed-by` of every delivered object says. Not empty."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """No worker at all, too short a period, no label or an impossible one; told under the name in the plural."""
        path = f"{path.removesuffix('s')}s"
        yield from concurrency_problems(path, self.concurrent_syncs)
        yield from period_problems(path, self.sync_period)
        label = f"{path}.managedByLabelValue"
        if not self.managed_by_label_value:
            yield required(label, "must specify value of managed-by label")
        elif problem := label_value_problem(self.managed_by_label_value):
            yield invalid(label, self.managed_by_label_value, problem)

    def settings(self) -> ManagedResourceSettings:
        """The section with its defaults."""
        return ManagedResourceSettings(
            self.concurrent_syncs, self.sync_period, self.always_update, self.managed_by_label_value
        )


def manifest(settings: ManagedResourceSettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    return {
        "concurrentSyncs": settings.concurrent_syncs,
        "syncPeriod": format_duration(settings.sync_period),
        "alwaysUpdate": settings.always_update,
        "managedByLabelValue": settings.managed_by_label_value,
    }
