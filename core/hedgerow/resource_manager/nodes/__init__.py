"""Which nodes are fit for pods: those on which everything runs that the others rely on.

Kubelets register new nodes with a taint that keeps pods away. `decide` says from the node-critical DaemonSets, pods and
CSI drivers whether it may go, `should_run_on` whether a DaemonSet wants a pod on a node, and `node_controller` does it.
What stands here follows semantic versioning.
"""

from hedgerow.resource_manager.nodes.controller import NodeConfig, node_controller
from hedgerow.resource_manager.nodes.readiness import (
    CriticalComponents,
    DaemonSetView,
    Decision,
    Done,
    PodView,
    RemoveTaint,
    Wait,
    decide,
)

__all__ = [
    "CriticalComponents",
    "DaemonSetView",
    "Decision",
    "Done",
    "NodeConfig",
    "PodView",
    "RemoveTaint",
    "Wait",
    "decide",
    "node_controller",
]
