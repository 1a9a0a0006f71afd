"""How a process reaches the clusters that it works with, and how much of each it looks at."""

from dataclasses import dataclass
from typing import Final, Self

from hedgerow.machinery.clusters import Cluster
from hedgerow_adapters.protocol.transport import Transport

RESYNC_PERIOD: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Access:
    """The way to one cluster."""

    transport: Transport
    namespaces: tuple[str, ...] = ()
    """What it is restricted to; none: to nothing."""
    resync_period: float = RESYNC_PERIOD
    """Seconds after which every object is looked at again although nothing changed."""
    unthrottled: Transport | None = None
    """A way on which nobody waits behind others; none: there is only the one."""
    for_webhooks: Transport | None = None
    """A way for what webhooks read live, as many as there are reviews; none: there is only the one."""
    is_lossless: bool = False
    """True if no event is ever lost on the way, as in memory. Then watches neither end nor are compared."""

    @property
    def urgent(self) -> Transport:
        """The way for few requests that must not wait behind many: whether the server is well, events of the lease."""
        return self.unthrottled or self.transport

    @property
    def live_reads(self) -> Transport:
        """The way for what webhooks read while an API server waits; nothing else waits behind it."""
        return self.for_webhooks or self.transport


@dataclass(frozen=True, slots=True)
class Clusters:
    """The ways to both clusters, which are equal where both are one."""

    target: Access
    source: Access

    @classmethod
    def single(cls, access: Access) -> Self:
        """One cluster in both roles."""
        return cls(access, access)

    @property
    def are_one(self) -> bool:
        """Whether one cluster plays both roles."""
        return self.source is self.target

    def access(self, cluster: Cluster) -> Access:
        """The way to the cluster of a role."""
        return self.target if cluster is Cluster.TARGET else self.source
