"""Deployments and what belongs to them, as the cases of the contract need them."""

from typing import Any, Final

from hedgerow.machinery.objects import Resource

DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment")
STATEFUL_SETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet")
DAEMON_SETS: Final = Resource("apps", "v1", "daemonsets", "DaemonSet")
SCALES: Final = Resource("autoscaling", "v1", "deployments", "Scale")
AUTOSCALERS: Final = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
AUTOSCALERS_V1: Final = Resource("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
ENDPOINT_SLICES: Final = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
PODS: Final = Resource("", "v1", "pods", "Pod")
CRDS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)


def workload(kind: str = "Deployment", **spec: Any) -> dict[str, Any]:
    """A Deployment, StatefulSet or DaemonSet with one container."""
    labels = {"app": "cart"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "example.com/cart:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "cart"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def pod(**spec: Any) -> dict[str, Any]:
    """A Pod with one container."""
    return {"metadata": {"name": "cart"}, "spec": {"containers": [{"name": "c", "image": "example.com/cart"}], **spec}}


def autoscaler(version: str = "v2", **spec: Any) -> dict[str, Any]:
    """A HorizontalPodAutoscaler of the Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "cart"}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "cart"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 3, **spec},
    }


def endpoint_slice(**fields: Any) -> dict[str, Any]:
    """An EndpointSlice with one endpoint."""
    endpoints = [{"addresses": ["192.0.2.1"], "zone": "a"}]
    return {
        "metadata": {"name": "cart"},
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [{"port": 80}],
        **fields,
    }
