"""From which Garden the controller gets its configuration, and when.

Source: network-and-nodes §3.3, §4.
"""

from dataclasses import dataclass

from returns.result import Failure, Result, Success

from hedgerow.api.gardener import GARDENS
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import UnreadableError, list_at, text_at
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.operator.namespace_network_policies.config import NamespacePolicyConfig, RuntimeNetworks
from hedgerow.operator.namespace_network_policies.controller import DEFAULT_CONCURRENCY

_NETWORKING = ("spec", "runtimeCluster", "networking")


@dataclass(frozen=True, slots=True)
class NamespacePolicySettings:
    """What the component configuration says about the controller."""

    concurrent_syncs: int = DEFAULT_CONCURRENCY
    additional_namespace_selectors: tuple[LabelSelector, ...] = ()


def register(
    *, already: bool, garden: Manifest | None, settings: NamespacePolicySettings
) -> Result[NamespacePolicyConfig | None, DomainFailure]:
    """The configuration to start the controller with; none if there is nothing to start, or what keeps it from that.

    Args:
        already: whether it was started in this process.
        garden: the Garden of which was heard; none if it is gone again. One that is being deleted still counts.
        settings: what the component configuration says.
    """
    if already or garden is None:
        return Success(None)
    return runtime_networks(garden).map(
        lambda networks: NamespacePolicyConfig(networks, settings.additional_namespace_selectors)
    )


def runtime_networks(garden: Manifest) -> Result[RuntimeNetworks, DomainFailure]:
    """The networks of its runtime cluster that a Garden names; or which of them is missing."""
    try:
        pods, services, nodes = (text_at(garden, *_NETWORKING, name) for name in ("pods", "services", "nodes"))
        blocked = list_at(garden, *_NETWORKING, "blockCIDRs")
    except UnreadableError as error:
        return Failure(DomainFailure(GARDENS, key_of(garden), "", str(error)))
    for name, text in (("pods", pods), ("services", services)):
        if not text:
            return Failure(DomainFailure(GARDENS, key_of(garden), ".".join((*_NETWORKING, name)), "is missing"))
    return Success(RuntimeNetworks(pods or "", services or "", nodes or None, tuple(map(str, blocked))))
