"""Gardener's own resources, and its labels and annotations that no other module of the catalogue is about.

Source: managed-resources §1; network-and-nodes §1.1, §5.2; webhooks-and-tokens §8.
"""

from typing import Final

from hedgerow.machinery.objects import Resource


def extension_resource(plural: str, kind: str, *, namespaced: bool = True) -> Resource:
    """A resource of the API group in which extensions are asked for something."""
    return Resource("extensions.gardener.cloud", "v1alpha1", plural, kind, namespaced)


CLUSTERS: Final = extension_resource("clusters", "Cluster", namespaced=False)
ETCDS: Final = Resource("druid.gardener.cloud", "v1alpha1", "etcds", "Etcd")
GARDENS: Final = Resource("operator.gardener.cloud", "v1alpha1", "gardens", "Garden", namespaced=False)
HVPAS: Final = Resource("autoscaling.k8s.io", "v1alpha1", "hvpas", "Hvpa")
MACHINES: Final = Resource("machine.sapcloud.io", "v1alpha1", "machines", "Machine")

ROLE: Final = "gardener.cloud/role"
"""Label of a Namespace: what it is for."""
EXPOSURE_CLASS_HANDLER: Final = "handler.exposureclass.gardener.cloud/name"
"""Label of a Namespace: the exposure class whose ingress gateway it holds."""

CRITICAL_COMPONENTS_NOT_READY: Final = "node.gardener.cloud/critical-components-not-ready"
"""Key of the taint of a Node on which critical components are still missing, whatever its effect."""
CRITICAL_COMPONENT: Final = "node.gardener.cloud/critical-component"
"""Label of DaemonSets, of their pod templates and of pods without which a Node is not fit for others: `"true"`."""
WAIT_FOR_CSI_NODE: Final = "node.gardener.cloud/wait-for-csi-node-"
"""Prefix of annotations of such pods: the value names a CSI driver that has to be there; the rest is anything."""
