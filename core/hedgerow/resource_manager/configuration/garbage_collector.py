"""Whether unused ConfigMaps and Secrets are deleted, and how often it is looked: `controllers.garbageCollector`.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from hedgerow.machinery.durations import format_duration
from hedgerow.machinery.fields import FieldError
from hedgerow.resource_manager.configuration.pace import period_problems
from hedgerow.resource_manager.configuration.shape import Duration, Purpose, Section

SYNC_PERIOD: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class GarbageCollectorSettings:
    """Whether and when the controller runs."""

    enabled: bool
    sync_period: timedelta | None
    """Between two rounds; none only where the controller is not enabled."""


class GarbageCollectorSection(Section):
    """The section as written."""

    enabled: bool = False
    """Whether the controller runs."""
    sync_period: Duration | None = None
    """Between two rounds. At least 15s."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """Rounds that follow each other too fast; nothing where there are none."""
        if self.enabled:
            yield from period_problems(path, self.sync_period)

    def settings(self) -> GarbageCollectorSettings:
        """The section with its default, which a section that is not enabled does not get."""
        default = SYNC_PERIOD if self.enabled else None
        return GarbageCollectorSettings(self.enabled, default if self.sync_period is None else self.sync_period)


def manifest(settings: GarbageCollectorSettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    section: dict[str, Any] = {"enabled": settings.enabled}
    if settings.sync_period is not None:
        section["syncPeriod"] = format_duration(settings.sync_period)
    return section
