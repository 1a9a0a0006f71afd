"""The NetworkPolicies that Services ask for.

Platform teams label pods and annotate Services; this context decides which NetworkPolicies follow. Start with
`desired_network_policies`; `network_policy_controller` is the same rule as a controller. What stands here follows
semantic versioning.

Each name is imported when it is first asked for: a process in which the controller is switched off loads its
configuration alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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

_NAMES_OF: Final = {
    "changes": (
        "service_changed",
        "service_of_policy",
    ),
    "config": (
        "IngressController",
        "NetworkPolicyConfig",
    ),
    "controller": ("network_policy_controller",),
    "desired": (
        "DesiredPolicies",
        "Refusal",
        "desired_network_policies",
    ),
    "embedding": (
        "allowed_ports_annotation",
        "namespace_selectors_annotation",
    ),
    "ingresses": (
        "ingress_backend_ports",
        "services_of_ingress",
    ),
    "naming": (
        "network_policy_label",
        "pod_label",
        "policy_id",
    ),
    "openings": ("from_policy_aliases",),
    "peers": ("parse_namespace_selectors",),
    "policies": (
        "NetworkPolicy",
        "selector_text",
    ),
    "ports": (
        "PolicyPort",
        "parse_ports_annotation",
    ),
    "views": (
        "IngressView",
        "NamespaceView",
        "ServicePort",
        "ServiceView",
    ),
}
_MODULE_OF: Final = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    """What a module below exports under a name."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
