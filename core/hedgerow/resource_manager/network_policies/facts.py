"""Everything that the rules may look at when they decide about one Service."""

from collections.abc import Mapping
from dataclasses import dataclass

from hedgerow.resource_manager.network_policies.config import NetworkPolicyConfig
from hedgerow.resource_manager.network_policies.views import IngressView, NamespaceView, ServiceView


@dataclass(frozen=True, slots=True)
class Facts:
    """One Service and what the cluster and its operator say around it."""

    service: ServiceView
    namespaces: Mapping[str, NamespaceView]
    ingresses: tuple[IngressView, ...]
    config: NetworkPolicyConfig

    @property
    def own_namespace(self) -> NamespaceView:
        """The Service's namespace; one that is missing counts as one without labels."""
        name = self.service.key.namespace
        return self.namespaces.get(name) or NamespaceView(name, {})
