"""The NetworkPolicies that Services ask for.

Platform teams label pods and annotate Services; this context decides which NetworkPolicies follow. Start with
`desired_network_policies`; `network_policy_controller` is the same rule as a controller. What stands here follows
semantic versioning.
"""

from hedgerow.resource_manager.network_policies.annotations import (
    ACCESS_TARGET_API_SERVER,
    ALL_ISTIO_INGRESSES,
    ALL_SCRAPE_TARGETS,
    ALL_SEED_SCRAPE_TARGETS,
    ALL_SHOOTS,
    ALL_WEBHOOK_TARGETS,
    EXTENSIONS,
)
from hedgerow.resource_manager.network_policies.changes import service_changed, service_of_policy
from hedgerow.resource_manager.network_policies.config import IngressController, NetworkPolicyConfig
from hedgerow.resource_manager.network_policies.controller import network_policy_controller
from hedgerow.resource_manager.network_policies.desired import DesiredPolicies, Refusal, desired_network_policies
from hedgerow.resource_manager.network_policies.embedding import (
    allowed_ports_annotation,
    namespace_selectors_annotation,
)
from hedgerow.resource_manager.network_policies.ingresses import ingress_backend_ports, services_of_ingress
from hedgerow.resource_manager.network_policies.naming import network_policy_label, pod_label, policy_id
from hedgerow.resource_manager.network_policies.openings import from_policy_aliases
from hedgerow.resource_manager.network_policies.peers import parse_namespace_selectors
from hedgerow.resource_manager.network_policies.policies import NetworkPolicy, selector_text
from hedgerow.resource_manager.network_policies.ports import PolicyPort, parse_ports_annotation
from hedgerow.resource_manager.network_policies.views import IngressView, NamespaceView, ServicePort, ServiceView

__all__ = [
    "ACCESS_TARGET_API_SERVER",
    "ALL_ISTIO_INGRESSES",
    "ALL_SCRAPE_TARGETS",
    "ALL_SEED_SCRAPE_TARGETS",
    "ALL_SHOOTS",
    "ALL_WEBHOOK_TARGETS",
    "EXTENSIONS",
    "DesiredPolicies",
    "IngressController",
    "IngressView",
    "NamespaceView",
    "NetworkPolicy",
    "NetworkPolicyConfig",
    "PolicyPort",
    "Refusal",
    "ServicePort",
    "ServiceView",
    "allowed_ports_annotation",
    "desired_network_policies",
    "from_policy_aliases",
    "ingress_backend_ports",
    "namespace_selectors_annotation",
    "network_policy_controller",
    "network_policy_label",
    "parse_namespace_selectors",
    "parse_ports_annotation",
    "pod_label",
    "policy_id",
    "selector_text",
    "service_changed",
    "service_of_policy",
    "services_of_ingress",
]
