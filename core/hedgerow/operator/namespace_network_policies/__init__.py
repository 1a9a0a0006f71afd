"""The policies by which the namespaces of a cluster are closed, and opened for pods that are labelled for it.

In every namespace that matters all traffic is denied, and seven policies of fixed names open ways out: to DNS, to the
API server, to public, private, blocked and shoot networks. Start with `decide`, which says what is to become of each of
them; `namespace_network_policy_controller` is the same as a controller. What stands here follows semantic versioning.
"""

from hedgerow.operator.namespace_network_policies.blocks import Block, except_blocks, offset_ip, parse_block
from hedgerow.operator.namespace_network_policies.changes import cluster_networks_changed
from hedgerow.operator.namespace_network_policies.config import NamespacePolicyConfig, Resolved, RuntimeNetworks
from hedgerow.operator.namespace_network_policies.controller import namespace_network_policy_controller
from hedgerow.operator.namespace_network_policies.decision import Apply, Decision, Delete, Failed, Keep, decide
from hedgerow.operator.namespace_network_policies.egress import Problem
from hedgerow.operator.namespace_network_policies.facts import Facts
from hedgerow.operator.namespace_network_policies.policies import NamespacePolicy
from hedgerow.operator.namespace_network_policies.registration import (
    NamespacePolicySettings,
    register,
    runtime_networks,
)
from hedgerow.operator.namespace_network_policies.selection import policies_for_labels, relevant_namespaces
from hedgerow.operator.namespace_network_policies.views import (
    EndpointSubset,
    NamespaceView,
    ShootNetworks,
    ShootView,
)

__all__ = [
    "Apply",
    "Block",
    "Decision",
    "Delete",
    "EndpointSubset",
    "Facts",
    "Failed",
    "Keep",
    "NamespacePolicy",
    "NamespacePolicyConfig",
    "NamespacePolicySettings",
    "NamespaceView",
    "Problem",
    "Resolved",
    "RuntimeNetworks",
    "ShootNetworks",
    "ShootView",
    "cluster_networks_changed",
    "decide",
    "except_blocks",
    "namespace_network_policy_controller",
    "offset_ip",
    "parse_block",
    "policies_for_labels",
    "register",
    "relevant_namespaces",
    "runtime_networks",
]
