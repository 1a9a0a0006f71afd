"""The resources of Kubernetes that are read or written, by API group, and the labels that Kubernetes itself uses."""

from typing import Final

from hedgerow.machinery.objects import ObjectKey, Resource

CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap")
CORE_EVENTS: Final = Resource("", "v1", "events", "Event")
ENDPOINTS: Final = Resource("", "v1", "endpoints", "Endpoints")
LIMIT_RANGES: Final = Resource("", "v1", "limitranges", "LimitRange")
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
PERSISTENT_VOLUME_CLAIMS: Final = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
PODS: Final = Resource("", "v1", "pods", "Pod")
SECRETS: Final = Resource("", "v1", "secrets", "Secret")
SERVICES: Final = Resource("", "v1", "services", "Service")
SERVICE_ACCOUNTS: Final = Resource("", "v1", "serviceaccounts", "ServiceAccount")

MUTATING_WEBHOOKS: Final = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
VALIDATING_WEBHOOKS: Final = MUTATING_WEBHOOKS._replace(
    plural="validatingwebhookconfigurations", kind="ValidatingWebhookConfiguration"
)
CERTIFICATES: Final = Resource("cert-manager.io", "v1", "certificates", "Certificate")
ISSUERS: Final = Resource("cert-manager.io", "v1", "issuers", "Issuer")
"""Both of cert-manager."""
CUSTOM_RESOURCE_DEFINITIONS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)

DAEMON_SETS: Final = Resource("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment")
REPLICA_SETS: Final = Resource("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet")

HORIZONTAL_POD_AUTOSCALERS: Final = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
CRON_JOBS: Final = Resource("batch", "v1", "cronjobs", "CronJob")
OLD_CRON_JOBS: Final = CRON_JOBS._replace(version="v1beta1")
"""What CronJobs were until Kubernetes 1.25."""
JOBS: Final = Resource("batch", "v1", "jobs", "Job")
CERTIFICATE_SIGNING_REQUESTS: Final = Resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False
)
LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease")
ENDPOINT_SLICES: Final = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
EVENTS: Final = Resource("events.k8s.io", "v1", "events", "Event")
INGRESSES: Final = Resource("networking.k8s.io", "v1", "ingresses", "Ingress")
NETWORK_POLICIES: Final = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
POD_DISRUPTION_BUDGETS: Final = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")

RBAC: Final = "rbac.authorization.k8s.io"
CLUSTER_ROLES: Final = Resource(RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False)
CLUSTER_ROLE_BINDINGS: Final = Resource(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False)
ROLES: Final = Resource(RBAC, "v1", "roles", "Role")
ROLE_BINDINGS: Final = Resource(RBAC, "v1", "rolebindings", "RoleBinding")

CSI_NODES: Final = Resource("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False)

METADATA_NAME: Final = "kubernetes.io/metadata.name"
"""Label of every Namespace: its name."""
ENDPOINT_SLICE_SERVICE: Final = "kubernetes.io/service-name"
"""Label of an EndpointSlice: its Service."""
ENDPOINT_SLICE_MANAGER: Final = "endpointslice.kubernetes.io/managed-by"
"""Label of an EndpointSlice: who keeps it."""
SERVICE_ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"
"""Annotation of a Secret that holds a token: whose token it is."""
HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
"""Labels of Nodes by which pods are spread."""
NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
"""Taints of Nodes."""
KUBELET_SERVING: Final = "kubernetes.io/kubelet-serving"
"""The signer of the certificates that kubelets serve with."""
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation in which kubectl keeps a copy of what it applied, a Secret's values included."""


def namespace_key(name: str) -> ObjectKey:
    """Key of a Namespace."""
    return ObjectKey("", name)
