"""Which policies belong to which namespaces.

Source: network-and-nodes §3.4.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from hedgerow.api.gardener import EXPOSURE_CLASS_HANDLER, ROLE
from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.selectors import Labels, LabelSelector, Operator, Requirement, matches_any
from hedgerow.operator.namespace_network_policies.names import (
    ALLOW_TO_BLOCKED_CIDRS,
    ALLOW_TO_DNS,
    ALLOW_TO_PRIVATE_NETWORKS,
    ALLOW_TO_PUBLIC_NETWORKS,
    ALLOW_TO_RUNTIME_API_SERVER,
    ALLOW_TO_SHOOT_NETWORKS,
    DENY_ALL,
    GARDEN_NAMESPACE,
)
from hedgerow.operator.namespace_network_policies.views import NamespaceView


def _role(value: str) -> LabelSelector:
    return LabelSelector(((ROLE, value),))


GARDEN: Final = LabelSelector(((METADATA_NAME, GARDEN_NAMESPACE),))
ISTIO_SYSTEM: Final = _role("istio-system")
ISTIO_INGRESS: Final = _role("istio-ingress")
EXPOSURE_CLASS: Final = LabelSelector((), (Requirement(EXPOSURE_CLASS_HANDLER, Operator.EXISTS),))
SHOOT: Final = _role("shoot")
EXTENSION: Final = _role("extension")


class Reach(NamedTuple):
    """The namespaces that one policy belongs to."""

    selectors: tuple[LabelSelector, ...]
    """One of them is enough."""
    additional: bool = True
    """Whether the additional selectors of the configuration count as well."""

    def includes(self, labels: Labels, additional: Iterable[LabelSelector]) -> bool:
        """Whether a namespace with these labels is among them."""
        return matches_any(self.selectors, labels) or (self.additional and matches_any(additional, labels))


_EVERYWHERE: Final = Reach((GARDEN, ISTIO_SYSTEM, ISTIO_INGRESS, EXPOSURE_CLASS, SHOOT, EXTENSION))
_WORKLOADS: Final = Reach((GARDEN, SHOOT, EXTENSION))

REACHES: Final = {
    DENY_ALL: _EVERYWHERE,
    ALLOW_TO_RUNTIME_API_SERVER: Reach((GARDEN, ISTIO_SYSTEM, SHOOT, EXTENSION)),
    ALLOW_TO_PUBLIC_NETWORKS: _WORKLOADS,
    ALLOW_TO_PRIVATE_NETWORKS: _WORKLOADS,
    ALLOW_TO_BLOCKED_CIDRS: _WORKLOADS,
    ALLOW_TO_DNS: _EVERYWHERE,
    ALLOW_TO_SHOOT_NETWORKS: Reach((SHOOT,), additional=False),
}
"""By the name of the policy, in the order in which policies are looked at."""


def policies_for_labels(labels: Labels, additional: tuple[LabelSelector, ...] = ()) -> tuple[str, ...]:
    """The names of the policies that a namespace gets, in their order.

    Args:
        labels: of the Namespace.
        additional: selectors of further namespaces.
    """
    return tuple(name for name, reach in REACHES.items() if reach.includes(labels, additional))


def relevant_namespaces(
    namespaces: Iterable[NamespaceView], additional: tuple[LabelSelector, ...] = ()
) -> tuple[str, ...]:
    """The names of the namespaces that get any policy at all, each once and sorted.

    Args:
        namespaces: among which to look.
        additional: selectors of further namespaces.
    """
    return tuple(sorted({each.name for each in namespaces if policies_for_labels(each.labels, additional)}))
