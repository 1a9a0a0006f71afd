"""All that a decision about one namespace may look at."""

from dataclasses import dataclass

from hedgerow.operator.namespace_network_policies.config import NamespacePolicyConfig
from hedgerow.operator.namespace_network_policies.names import SHOOT_NAMESPACE_PREFIX
from hedgerow.operator.namespace_network_policies.views import EndpointSubset, NamespaceView, ShootView


@dataclass(frozen=True, slots=True)
class Facts:
    """A namespace beside what is known of its cluster."""

    namespace: NamespaceView
    config: NamespacePolicyConfig
    api_endpoints: tuple[EndpointSubset, ...] | None = None
    """Where the API server is; none if its Endpoints do not exist or cannot be read."""
    shoot: ShootView | None = None
    """The shoot whose namespace this is; none if it cannot be known."""

    @property
    def is_of_a_shoot(self) -> bool:
        """Whether its name is that of a shoot's namespace."""
        return self.namespace.name.startswith(SHOOT_NAMESPACE_PREFIX)
