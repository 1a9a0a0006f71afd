"""How fast the Secrets of ManagedResources are protected and released: the section `controllers.secret`.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hedgerow.api.shape import Int64
from hedgerow.machinery.fields import FieldError
from hedgerow.resource_manager.configuration.pace import CONCURRENT_SYNCS, concurrency_problems
from hedgerow.resource_manager.configuration.shape import Purpose, Section


@dataclass(frozen=True, slots=True)
class SecretSettings:
    """How the controller runs."""

    concurrent_syncs: int
    """How many Secrets are looked at at once."""


class SecretSection(Section):
    """The section as written."""

    concurrent_syncs: Int64 = CONCURRENT_SYNCS
    """How many Secrets are looked at at once. At least 1."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """No worker at all."""
        return concurrency_problems(path, self.concurrent_syncs)

    def settings(self) -> SecretSettings:
        """The section with its default."""
        return SecretSettings(self.concurrent_syncs)


def manifest(settings: SecretSettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    return {"concurrentSyncs": settings.concurrent_syncs}
