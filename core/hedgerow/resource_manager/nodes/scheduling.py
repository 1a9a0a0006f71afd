"""Whether a DaemonSet should have a pod on a node.

Decides as the DaemonSet controller does, from the DaemonSet's template and the node alone.

Source: network-and-nodes §5.6.
"""

from typing import Final

from hedgerow.resource_manager.nodes.affinity import any_matches
from hedgerow.resource_manager.nodes.taints import NO_EXECUTE, NO_SCHEDULE, Toleration
from hedgerow.resource_manager.nodes.views import NodeView, Placement

ALWAYS_TOLERATED: Final = (
    Toleration("node.kubernetes.io/not-ready", effect=NO_EXECUTE),
    Toleration("node.kubernetes.io/unreachable", effect=NO_EXECUTE),
    Toleration("node.kubernetes.io/disk-pressure", effect=NO_SCHEDULE),
    Toleration("node.kubernetes.io/memory-pressure", effect=NO_SCHEDULE),
    Toleration("node.kubernetes.io/pid-pressure", effect=NO_SCHEDULE),
    Toleration("node.kubernetes.io/unschedulable", effect=NO_SCHEDULE),
)
"""What every pod of a DaemonSet is made to tolerate."""
TOLERATED_ON_HOST_NETWORK: Final = Toleration("node.kubernetes.io/network-unavailable", effect=NO_SCHEDULE)


def is_not_bound_to_another_node(placement: Placement, node: NodeView) -> bool:
    """The template names no node, or this one."""
    return placement.node_name in {"", node.name}


def selects_the_labels(placement: Placement, node: NodeView) -> bool:
    """The node has every label of the node selector."""
    return (placement.node_selector or {}).items() <= node.labels.items()


def has_affinity(placement: Placement, node: NodeView) -> bool:
    """A term of the required affinity matches the node, if one is required."""
    return placement.affinity is None or any_matches(placement.affinity, node.name, node.labels)


def tolerates_the_taints(placement: Placement, node: NodeView) -> bool:
    """Every taint that keeps pods away is tolerated, the one that this is all about among them."""
    tolerations = (*placement.tolerations, *ALWAYS_TOLERATED)
    if placement.host_network:
        tolerations = (*tolerations, TOLERATED_ON_HOST_NETWORK)
    return all(any(each.tolerates(taint) for each in tolerations) for taint in node.taints if taint.keeps_away)


RULES: Final = (
    is_not_bound_to_another_node,
    selects_the_labels,
    has_affinity,
    tolerates_the_taints,
)


def should_run_on(placement: Placement, node: NodeView) -> bool:
    """Whether pods of a template are for a node: all rules hold."""
    return all(rule(placement, node) for rule in RULES)
