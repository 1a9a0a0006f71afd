"""Where objects are found by HTTP, and what tests ask of it; written without the product's own knowledge of kinds."""

from typing import Any, Final

Manifest = dict[str, Any]

_PLURALS: Final = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ConfigMap": "configmaps",
    "CustomResourceDefinition": "customresourcedefinitions",
    "Deployment": "deployments",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "Job": "jobs",
    "Lease": "leases",
    "ManagedResource": "managedresources",
    "Namespace": "namespaces",
    "NetworkPolicy": "networkpolicies",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Pod": "pods",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "ReplicaSet": "replicasets",
    "Secret": "secrets",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "StatefulSet": "statefulsets",
}


def collection_of(manifest: Manifest) -> str:
    """Where objects of its kind are, in its namespace if it has one."""
    return collection(manifest["apiVersion"], manifest["kind"], manifest["metadata"].get("namespace", ""))


def collection(api_version: str, kind: str, namespace: str = "") -> str:
    """Where the objects of a kind are; custom kinds have the plural that `custom_definition` gives them."""
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


def path_of(manifest: Manifest) -> str:
    """Where an object is."""
    return f"{collection_of(manifest)}/{manifest['metadata']['name']}"
