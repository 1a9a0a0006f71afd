"""The policies that close the namespaces of a cluster, and open them for pods that are labelled for it.

In every namespace that matters all traffic is denied, and six policies of fixed names open ways out: to DNS, to the
API server, to public, private, blocked and shoot networks. Start with `decide`, which decides about each of them;
`namespace_network_policy_controller` is the same as a controller. These names follow semantic versioning.
"""

from hedgerow.operator.namespace_network_policies.controller import namespace_network_policy_controller
from hedgerow.operator.namespace_network_policies.policies import Apply, Delete, Keep, PolicyDecision, decide
from hedgerow.operator.namespace_network_policies.views import NamespaceFacts, NamespacePolicyConfig, RuntimeNetworks

__all__ = [
    "Apply",
    "Delete",
    "Keep",
    "NamespaceFacts",
    "NamespacePolicyConfig",
    "PolicyDecision",
    "RuntimeNetworks",
    "decide",
    "namespace_network_policy_controller",
]
