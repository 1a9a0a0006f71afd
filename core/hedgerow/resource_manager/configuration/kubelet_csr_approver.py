"""Whether kubelets get serving certificates, and where their Machines are: `controllers.kubeletCSRApprover`.

Source: managed-resources §3.1, network-and-nodes §6.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.shape import Int64
from hedgerow.machinery.fields import FieldError
from hedgerow.resource_manager.configuration.pace import concurrency_problems
from hedgerow.resource_manager.configuration.shape import Purpose, Section

CONCURRENT_SYNCS: Final = 1


@dataclass(frozen=True, slots=True)
class KubeletCSRApproverSettings:
    """Whether and how the controller runs."""

    enabled: bool
    concurrent_syncs: int | None
    """How many requests are looked at at once; none only where the controller is not enabled."""
    machine_namespace: str
    """Where in the source cluster the Machines of the nodes are; empty: in any namespace that is looked at."""


class KubeletCSRApproverSection(Section):
    """The section as written."""

    enabled: bool = False
    """Whether the controller runs."""
    concurrent_syncs: Int64 | None = None
    """How many requests are looked at at once. At least 1."""
    machine_namespace: str = ""
    """Where in the source cluster the Machines of Nodes are; empty: in any namespace."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """No worker at all; nothing where the controller is not enabled."""
        if self.enabled:
            yield from concurrency_problems(path, self.concurrent_syncs)

    def settings(self) -> KubeletCSRApproverSettings:
        """The section with its default, which a section that is not enabled does not get."""
        default = CONCURRENT_SYNCS if self.enabled else None
        concurrent_syncs = default if self.concurrent_syncs is None else self.concurrent_syncs
        return KubeletCSRApproverSettings(self.enabled, concurrent_syncs, self.machine_namespace)


def manifest(settings: KubeletCSRApproverSettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    section: dict[str, Any] = {"enabled": settings.enabled}
    if settings.concurrent_syncs is not None:
        section["concurrentSyncs"] = settings.concurrent_syncs
    return {**section, "machineNamespace": settings.machine_namespace}
