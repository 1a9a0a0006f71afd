"""The NetworkPolicies that Services ask for.

Platform teams label pods and annotate Services; this context decides which NetworkPolicies follow. Start with
`desired_network_policies`; `network_policy_controller` is the same rule as a controller. What stands here follows
semantic versioning.
"""

from hedgerow.resource_manager.network_policies.controller import network_policy_controller
from hedgerow.resource_manager.network_policies.desired import DesiredPolicies, RefusedPolicy, desired_network_policies
from hedgerow.resource_manager.network_policies.policies import NetworkPolicy, network_policy_label
from hedgerow.resource_manager.network_policies.ports import PolicyPort, allowed_ports_annotation
from hedgerow.resource_manager.network_policies.views import IngressController, NetworkPolicyConfig

__all__ = [
    "DesiredPolicies",
    "IngressController",
    "NetworkPolicy",
    "NetworkPolicyConfig",
    "PolicyPort",
    "RefusedPolicy",
    "allowed_ports_annotation",
    "desired_network_policies",
    "network_policy_controller",
    "network_policy_label",
]
