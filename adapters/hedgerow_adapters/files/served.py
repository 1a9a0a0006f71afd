"""Which kinds a server serves on which files would be stored, as far as Kubernetes and the files themselves tell.

Kubernetes' own kinds are known by version; what CustomResourceDefinitions among the files define is left to whoever
stores these. Any other kind of which a file holds an object was served where it came from: it lives in namespaces if
one of its objects does.

Source: k8s.io/api v0.36.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from hedgerow.machinery.objects import Kind, Manifest, Resource, key_of
from hedgerow_adapters.files.scopes import CLUSTER_SCOPED_KINDS

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
_PLURAL_ALREADY: Final = frozenset({"Endpoints"})
_ES: Final = ("s", "x", "ch", "sh")


def served_resources(objects: Iterable[Manifest]) -> Iterator[Resource]:
    """Kubernetes' own resources, and those of the other kinds that files hold.

    Args:
        objects: what the files hold.
    """
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
    return tuple(
        _resource(kind, namespaced=kind.kind not in CLUSTER_SCOPED_KINDS) for kind in sorted(_KUBERNETES_KINDS)
    )


def _resource(kind: Kind, *, namespaced: bool) -> Resource:
    version = kind.api_version.rpartition("/")[2]
    return Resource(kind.group, version, _plural(kind.kind), kind.kind, namespaced=namespaced)


def _plural(kind: str) -> str:
    """How Kubernetes' own kinds are called in paths, and by far most others."""
    name = kind.lower()
    if kind in _PLURAL_ALREADY:
        return name
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(_ES) else f"{name}s"
