"""Which kinds live in namespaces, into which namespace an object goes that names none, and what a server would serve.

An API server knows the scope of every kind that it serves; files do not say it. Kinds of Kubernetes' own groups are
known here by name. Those of other groups, written `Kind.group` as kubectl writes them, are known only where a caller
adds them. Any kind of which a file holds an object was served where it came from: it lives in namespaces if one of its
objects does.

Source: k8s.io/api v0.36.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from hedgerow.machinery.objects import Kind, Manifest, Resource, key_of

DEFAULT_NAMESPACE: Final = "default"

_CLUSTER_SCOPED: Final = """
APIService CSIDriver CSINode CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle ComponentStatus
CustomResourceDefinition DeviceClass DeviceTaintRule FlowSchema IPAddress IngressClass MutatingAdmissionPolicy
MutatingAdmissionPolicyBinding MutatingWebhookConfiguration Namespace Node PersistentVolume PriorityClass
PriorityLevelConfiguration ResourceSlice RuntimeClass SelfSubjectAccessReview SelfSubjectReview SelfSubjectRulesReview
ServiceCIDR StorageClass StorageVersion StorageVersionMigration SubjectAccessReview TokenReview
ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VolumeAttachment
VolumeAttributesClass
"""
CLUSTER_SCOPED_KINDS: Final = frozenset(_CLUSTER_SCOPED.split())
_NAMESPACED: Final = """
CSIStorageCapacity ConfigMap ControllerRevision CronJob DaemonSet Deployment EndpointSlice Endpoints Event
HorizontalPodAutoscaler Ingress Job Lease LeaseCandidate LimitRange LocalSubjectAccessReview NetworkPolicy
PersistentVolumeClaim Pod PodCertificateRequest PodDisruptionBudget PodTemplate ReplicaSet ReplicationController
ResourceClaim ResourceClaimTemplate ResourceQuota Role RoleBinding Secret Service ServiceAccount StatefulSet Workload
"""
NAMESPACED_KINDS: Final = frozenset(_NAMESPACED.split())


def group_of(manifest: Manifest) -> str:
    """The API group of an object; that of the core is empty."""
    return str(manifest["apiVersion"]).rpartition("/")[0]


def in_its_namespace(manifest: Manifest, namespaced_kinds: frozenset[str], namespace: str) -> Manifest:
    """The object as kubectl and an API server place it; the same object where that is as it is.

    One of a namespaced kind without a namespace goes to `namespace`; one of a cluster-scoped kind loses the namespace
    that it names; one of any other kind stays as it is.
    """
    metadata: dict[str, Any] = manifest.get("metadata") or {}
    kind, group = str(manifest["kind"]), group_of(manifest)
    if "." in group and not group.endswith(".k8s.io"):
        kind = f"{kind}.{group}"  # other groups reuse names of Kubernetes' own kinds with another scope
    if kind in CLUSTER_SCOPED_KINDS and "namespace" in metadata:
        return {**manifest, "metadata": {name: value for name, value in metadata.items() if name != "namespace"}}
    if kind in namespaced_kinds and not metadata.get("namespace"):
        return {**manifest, "metadata": {**metadata, "namespace": namespace}}
    return manifest


_KUBERNETES: Final[Mapping[str, str]] = {
    "v1": (
        "ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim "
        "Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount"
    ),
    "admissionregistration.k8s.io/v1": (
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy "
        "ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"
    ),
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apiregistration.k8s.io/v1": "APIService",
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "autoscaling/v1": "HorizontalPodAutoscaler",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "batch/v1": "CronJob Job",
    "certificates.k8s.io/v1": "CertificateSigningRequest",
    "coordination.k8s.io/v1": "Lease",
    "discovery.k8s.io/v1": "EndpointSlice",
    "events.k8s.io/v1": "Event",
    "flowcontrol.apiserver.k8s.io/v1": "FlowSchema PriorityLevelConfiguration",
    "networking.k8s.io/v1": "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
    "node.k8s.io/v1": "RuntimeClass",
    "policy/v1": "PodDisruptionBudget",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "resource.k8s.io/v1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "scheduling.k8s.io/v1": "PriorityClass",
    "storage.k8s.io/v1": ("CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"),
}
_KUBERNETES_KINDS: Final = frozenset(
    Kind(version, kind) for version, kinds in _KUBERNETES.items() for kind in kinds.split()
)


def served_resources(objects: Iterable[Manifest]) -> Iterator[Resource]:
    """Kubernetes' own resources, and those of the other kinds that files hold."""
    yield from _kubernetes_resources()
    others: dict[Kind, bool] = {}
    for each in objects:
        kind = Kind.of(each)
        others[kind] = others.get(kind, False) or bool(key_of(each).namespace)
    for kind, namespaced in others.items():
        if kind not in _KUBERNETES_KINDS:
            yield _resource(kind, namespaced=namespaced)


@cache
def _kubernetes_resources() -> tuple[Resource, ...]:
    return tuple(_resource(kind, namespaced=kind.kind in NAMESPACED_KINDS) for kind in sorted(_KUBERNETES_KINDS))


def _resource(kind: Kind, *, namespaced: bool) -> Resource:
    version = kind.api_version.rpartition("/")[2]
    return Resource(kind.group, version, _plural(kind.kind), kind.kind, namespaced=namespaced)


def _plural(kind: str) -> str:
    """How Kubernetes' own kinds are called in paths, and by far most others."""
    name = kind.lower()
    if kind == "Endpoints":
        return name
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"
