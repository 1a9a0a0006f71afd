"""Whether nodes are kept free until their critical components are ready: the section `controllers.node`.

Source: managed-resources §3.1, network-and-nodes §5.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from hedgerow.api.shape import Int64
from hedgerow.machinery.durations import format_duration
from hedgerow.machinery.fields import FieldError, invalid
from hedgerow.resource_manager.configuration.pace import CONCURRENT_SYNCS, concurrency_problems
from hedgerow.resource_manager.configuration.shape import Duration, Purpose, Section

BACKOFF: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """Whether and how the controller runs."""

    enabled: bool
    concurrent_syncs: int | None
    """How many Nodes are looked at at once; none only where the controller is not enabled."""
    backoff: timedelta | None
    """After this time a Node that is not ready is looked at again; none only where the controller is not enabled."""


class NodeSection(Section):
    """The section as written."""

    enabled: bool = False
    """Whether the controller runs."""
    concurrent_syncs: Int64 | None = None
    """How many Nodes are looked at at once. At least 1."""
    backoff: Duration | None = None
    """After this time a Node on which something is missing is looked at again. Longer than 0."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """No worker at all, or no time between two looks; nothing where nobody runs by them."""
        if self.enabled:
            yield from concurrency_problems(path, self.concurrent_syncs)
        runs = self.enabled or purpose is Purpose.OFFLINE
        if runs and self.backoff is not None and self.backoff <= timedelta(0):
            yield invalid(f"{path}.backoff", self.backoff, "must be greater than zero")

    def settings(self) -> NodeSettings:
        """The section with its defaults, which a section that is not enabled does not get."""
        concurrent_syncs, backoff = (CONCURRENT_SYNCS, BACKOFF) if self.enabled else (None, None)
        return NodeSettings(
            enabled=self.enabled,
            concurrent_syncs=concurrent_syncs if self.concurrent_syncs is None else self.concurrent_syncs,
            backoff=backoff if self.backoff is None else self.backoff,
        )


def manifest(settings: NodeSettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    section: dict[str, Any] = {"enabled": settings.enabled}
    if settings.concurrent_syncs is not None:
        section["concurrentSyncs"] = settings.concurrent_syncs
    if settings.backoff is not None:
        section["backoff"] = format_duration(settings.backoff)
    return section
