"""What differs between the clusters in which webhooks are registered.

Source: webhooks-and-tokens §4, modes.
"""

from enum import StrEnum
from typing import Final

from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement

PURPOSE: Final = "gardener.cloud/purpose"
SYSTEM_PURPOSES: Final = ("kube-system", "kubernetes-dashboard")
MANAGED_BY: Final = "resources.gardener.cloud/managed-by"


class Mode(StrEnum):
    """Which cluster sends its requests."""

    RUNTIME = "runtime"
    """The one that the resource manager runs in."""
    TARGET = "target"
    """Another one, of which only what Gardener manages is anybody's business."""

    @property
    def namespaces(self) -> LabelSelector:
        """The namespaces whose objects count: all but the system's here, the system's alone there."""
        operator = Operator.NOT_IN if self is Mode.RUNTIME else Operator.IN
        return LabelSelector(match_expressions=(Requirement(PURPOSE, operator, SYSTEM_PURPOSES),))

    def objects(self, *requirements: Requirement) -> LabelSelector:
        """The objects that count and meet requirements."""
        managed = () if self is Mode.RUNTIME else ((MANAGED_BY, "gardener"),)
        return LabelSelector(managed, requirements)
