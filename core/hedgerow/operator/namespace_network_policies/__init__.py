"""The policies by which the namespaces of a cluster are closed, and opened for pods that are labelled for it.

In every namespace that matters all traffic is denied, and six policies of fixed names open ways out: to DNS, to the
API server, to public, private, blocked and shoot networks. Start with `decide`, which says what is to become of each of
them; `namespace_network_policy_controller` is the same as a controller. What stands here follows semantic versioning.
"""

from hedgerow.operator.namespace_network_policies.controller import namespace_network_policy_controller
from hedgerow.operator.namespace_network_policies.policies import Apply, Decision, Delete, Failed, Keep, decide
from hedgerow.operator.namespace_network_policies.views import NamespaceFacts, NamespacePolicyConfig, RuntimeNetworks

__all__ = [
    "Apply",
    "Decision",
    "Delete",
    "Failed",
    "Keep",
    "NamespaceFacts",
    "NamespacePolicyConfig",
    "RuntimeNetworks",
    "decide",
    "namespace_network_policy_controller",
]
