"""In which order objects are applied, so that what others build on comes first.

Source: managed-resources §7.9.
"""

from collections.abc import Iterable
from typing import Final

from hedgerow.machinery.objects import Manifest, key_of

INSTALL_ORDER: Final = (
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
)
"""Kinds that come first, in this order; all others follow, by name of kind."""

_RANK: Final = {kind: rank for rank, kind in enumerate(INSTALL_ORDER)}


def in_install_order(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The objects as they are applied one after the other; those of one kind by name, then by namespace."""
    return sorted(manifests, key=_place)


def _place(manifest: Manifest) -> tuple[int, str, str, str]:
    kind = str(manifest.get("kind") or "")
    key = key_of(manifest)
    return (_RANK.get(kind, len(_RANK)), kind, str(key.name), str(key.namespace))
