"""What differs between the clusters in which webhooks are registered.

Source: webhooks-and-tokens §4, modes.
"""

from enum import StrEnum
from typing import Final

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement

PURPOSE: Final = "gardener.cloud/purpose"
SYSTEM_PURPOSES: Final = ("kube-system", "kubernetes-dashboard")
MANAGED_BY: Final = "resources.gardener.cloud/managed-by"
KUBE_SYSTEM: Final = "kube-system"


class Mode(StrEnum):
    """Which cluster sends its requests."""

    RUNTIME = "runtime"
    """The one that the resource manager runs in: a seed, or the runtime cluster of a garden."""
    STANDALONE = "standalone"
    """The cluster that the resource manager runs in, without Gardener: its namespaces carry no purpose labels."""
    TARGET = "target"
    """Another one, of which only what Gardener manages is anybody's business."""

    @property
    def namespaces(self) -> LabelSelector:
        """The namespaces whose objects count: all but the system's here, the system's alone there."""
        operator = Operator.IN if self is Mode.TARGET else Operator.NOT_IN
        return LabelSelector(match_expressions=(Requirement(PURPOSE, operator, SYSTEM_PURPOSES),))

    def namespaces_of_pods(self, home: str) -> LabelSelector:
        """The namespaces whose pods need an answer to start.

        The cluster of the process must be able to start without it: its network and DNS are in kube-system, and outside
        Gardener the process depends on what is beside it. In Gardener, webhooks serve the namespace `garden` too.

        Args:
            home: the namespace of the process.
        """
        if self is Mode.TARGET:
            return self.namespaces
        names = (KUBE_SYSTEM,) if self is Mode.RUNTIME else (KUBE_SYSTEM, home)
        left_out = Requirement(METADATA_NAME, Operator.NOT_IN, names)
        return LabelSelector(match_expressions=(*self.namespaces.match_expressions, left_out))

    def objects(self, *requirements: Requirement) -> LabelSelector:
        """The objects that count and meet requirements."""
        managed = ((MANAGED_BY, "gardener"),) if self is Mode.TARGET else ()
        return LabelSelector(managed, requirements)
