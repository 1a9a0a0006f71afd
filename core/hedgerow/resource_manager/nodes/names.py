"""The names that nodes and what is critical for them are recognised by.

Source: network-and-nodes §5.2.
"""

from typing import Final

from hedgerow.machinery.objects import Resource

NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
PODS: Final = Resource("", "v1", "pods", "Pod")
DAEMON_SETS: Final = Resource("apps", "v1", "daemonsets", "DaemonSet")
CSI_NODES: Final = Resource("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False)

NOT_READY: Final = "node.gardener.cloud/critical-components-not-ready"
"""Key of the taint of a node on which critical components are still missing, whatever its effect."""
CRITICAL: Final = "node.gardener.cloud/critical-component"
"""Label of DaemonSets, of their pod templates and of pods without which a node is not fit for others: `"true"`."""
WAIT_FOR_CSI_NODE: Final = "node.gardener.cloud/wait-for-csi-node-"
"""What the annotations of such pods begin with that name a CSI driver which has to be there; the rest is anything."""
REPORTER: Final = "gardener-node-controller"
"""Who events about nodes are said to come from."""
