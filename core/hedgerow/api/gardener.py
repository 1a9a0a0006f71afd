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
EXTENSIONS: Final = extension_resource("extensions", "Extension")
GARDENS: Final = Resource("operator.gardener.cloud", "v1alpha1", "gardens", "Garden", namespaced=False)
HVPAS: Final = Resource("autoscaling.k8s.io", "v1alpha1", "hvpas", "Hvpa")
MACHINES: Final = Resource("machine.sapcloud.io", "v1alpha1", "machines", "Machine")
OPERATING_SYSTEM_CONFIGS: Final = extension_resource("operatingsystemconfigs", "OperatingSystemConfig")
SHOOTS: Final = Resource("core.gardener.cloud", "v1beta1", "shoots", "Shoot")

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

NO_CLEANUP: Final = ("shoot.gardener.cloud/no-cleanup", "true")
"""Label of objects that the deletion of a shoot leaves to their ManagedResource."""
SEED_SYSTEM_COMPONENT: Final = (ROLE, "seed-system-component")
"""Label of ManagedResources without which a seed does not work."""

DELETION_PROTECTED: Final = "gardener.cloud/deletion-protected"
"""Label of CustomResourceDefinitions that are protected: `"true"`."""
DELETION_CONFIRMATION: Final = "confirmation.gardener.cloud/deletion"
"""Annotation that confirms a deletion: a boolean."""
FORCE_DELETION: Final = "confirmation.gardener.cloud/force-deletion"
"""Annotation of a Shoot: its deletion waits for nothing. A boolean."""
DELETION_TIMESTAMP: Final = "gardener.cloud/timestamp"
"""Annotation beside it: when the deletion was confirmed."""

HIGH_AVAILABILITY: Final = "high-availability-config.resources.gardener.cloud"
FAILURE_TOLERANCE_TYPE: Final = f"{HIGH_AVAILABILITY}/failure-tolerance-type"
"""On a Namespace: whether its workloads survive the loss of a `node` or of a `zone`; empty: of neither."""
ZONES: Final = f"{HIGH_AVAILABILITY}/zones"
"""On a Namespace: comma-separated names of the zones that its workloads run in."""
ZONE_PINNING: Final = f"{HIGH_AVAILABILITY}/zone-pinning"
"""On a Namespace: whether its workloads are kept to its zones whatever their failure tolerance."""
HIGH_AVAILABILITY_CONSIDERED: Final = f"{HIGH_AVAILABILITY}/consider"
"""Label of a Namespace: whether its workloads are made highly available."""
HIGH_AVAILABILITY_TYPE: Final = f"{HIGH_AVAILABILITY}/type"
"""On a workload or autoscaler: `controller` or `server`, the type of the component; without it nothing is decided."""
HIGH_AVAILABILITY_REPLICAS: Final = f"{HIGH_AVAILABILITY}/replicas"
"""On a workload or autoscaler: the number of replicas, where its type alone would not do."""
