"""What has to be known of a cluster to open its namespaces' traffic.

Source: network-and-nodes §3.3, §3.7, §3.10.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from returns.result import Result

from hedgerow.machinery.selectors import LabelSelector
from hedgerow.operator.namespace_network_policies.blocks import Block, parse_blocks


@dataclass(frozen=True, slots=True)
class RuntimeNetworks:
    """The networks of the cluster in which the controller runs, as CIDRs that nobody has checked."""

    pods: str
    services: str
    nodes: str | None = None
    block_cidrs: tuple[str, ...] = ()
    """What pods must not reach, unless they are labelled for just that."""

    def blocked(self) -> Result[tuple[Block, ...], str]:
        """The blocked ranges; or what is wrong with some of them."""
        return parse_blocks(self._blocked())

    def closed(self) -> Result[tuple[Block, ...], str]:
        """All that is no private network of somebody else: pods, services, what is blocked, nodes; in this order."""
        return parse_blocks(self._closed())

    def service_block(self) -> Result[Block, str]:
        """The range of the Services; or what is wrong with it."""
        return parse_blocks([("runtime network services", self.services)]).map(lambda blocks: blocks[0])

    def _blocked(self) -> Iterator[tuple[str, str]]:
        for position, text in enumerate(self.block_cidrs):
            yield f"runtime network blockCIDRs[{position}]", text

    def _closed(self) -> Iterator[tuple[str, str]]:
        yield "runtime network pods", self.pods
        yield "runtime network services", self.services
        yield from self._blocked()
        if self.nodes is not None:
            yield "runtime network nodes", self.nodes


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the name of the API server was resolved to."""

    addresses: tuple[str, ...]
    """Sorted; none as long as it has not been resolved."""
    port: int

    @property
    def is_in_sync(self) -> bool:
        """Whether it is known where the API server is."""
        return bool(self.addresses)


@dataclass(frozen=True, slots=True)
class NamespacePolicyConfig:
    """Everything beside the objects of the cluster that decides about the policies of namespaces."""

    networks: RuntimeNetworks
    additional_selectors: tuple[LabelSelector, ...] = ()
    """Of further namespaces that get all policies but the one for shoots."""
    resolved: Resolved | None = None
    """None: the API server is reached by address, so that there is nothing to resolve."""
