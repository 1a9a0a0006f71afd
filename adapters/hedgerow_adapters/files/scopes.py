"""Which kinds live in namespaces, and into which namespace an object goes that names none.

An API server knows the scope of every kind that it serves; files do not say it. Kinds of Kubernetes' own groups are
known here by name. Those of other groups, written `Kind.group` as kubectl writes them, are known only where a caller
adds them.

Source: k8s.io/api v0.36.
"""

from typing import Any, Final

from hedgerow.machinery.objects import Manifest

DEFAULT_NAMESPACE: Final = "default"

CLUSTER_SCOPED_KINDS: Final = frozenset(
    {
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterTrustBundle",
        "ComponentStatus",
        "CustomResourceDefinition",
        "DeviceClass",
        "DeviceTaintRule",
        "FlowSchema",
        "IPAddress",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "SelfSubjectAccessReview",
        "SelfSubjectReview",
        "SelfSubjectRulesReview",
        "ServiceCIDR",
        "StorageClass",
        "StorageVersion",
        "StorageVersionMigration",
        "SubjectAccessReview",
        "TokenReview",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    }
)
NAMESPACED_KINDS: Final = frozenset(
    {
        "CSIStorageCapacity",
        "ConfigMap",
        "ControllerRevision",
        "CronJob",
        "DaemonSet",
        "Deployment",
        "EndpointSlice",
        "Endpoints",
        "Event",
        "HorizontalPodAutoscaler",
        "Ingress",
        "Job",
        "Lease",
        "LeaseCandidate",
        "LimitRange",
        "LocalSubjectAccessReview",
        "NetworkPolicy",
        "PersistentVolumeClaim",
        "Pod",
        "PodCertificateRequest",
        "PodDisruptionBudget",
        "PodTemplate",
        "ReplicaSet",
        "ReplicationController",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceQuota",
        "Role",
        "RoleBinding",
        "Secret",
        "Service",
        "ServiceAccount",
        "StatefulSet",
        "Workload",
    }
)


def group_of(manifest: Manifest) -> str:
    """The API group of an object; that of the core is empty."""
    return str(manifest["apiVersion"]).rpartition("/")[0]


def in_its_namespace(
    manifest: Manifest,
    *,
    cluster_scoped_kinds: frozenset[str],
    namespaced_kinds: frozenset[str],
    namespace: str = DEFAULT_NAMESPACE,
) -> Manifest:
    """The object as kubectl and an API server place it.

    One of a namespaced kind without a namespace goes to `namespace`; one of a cluster-scoped kind loses the namespace
    that it names; one of a kind that is in neither set stays as it is. The object that is passed in does not change.
    """
    metadata: dict[str, Any] = manifest.get("metadata") or {}
    kind = _scope_name(manifest)
    if kind in cluster_scoped_kinds:
        if "namespace" not in metadata:
            return manifest
        return {**manifest, "metadata": {name: value for name, value in metadata.items() if name != "namespace"}}
    if kind in namespaced_kinds and not metadata.get("namespace"):
        return {**manifest, "metadata": {**metadata, "namespace": namespace}}
    return manifest


def _scope_name(manifest: Manifest) -> str:
    """The kind as the sets name it: other groups reuse names of Kubernetes' own kinds with another scope."""
    kind, group = str(manifest["kind"]), group_of(manifest)
    is_own = "." not in group or group.endswith(".k8s.io")
    return kind if is_own else f"{kind}.{group}"
