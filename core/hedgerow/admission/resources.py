"""The resources that webhooks are asked about, and those that they look up."""

from typing import Final

from hedgerow.machinery.objects import Resource

NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
PODS: Final = Resource("", "v1", "pods", "Pod")
SECRETS: Final = Resource("", "v1", "secrets", "Secret")
SERVICE_ACCOUNTS: Final = Resource("", "v1", "serviceaccounts", "ServiceAccount")
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment")
STATEFUL_SETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet")
HORIZONTAL_POD_AUTOSCALERS: Final = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
HVPAS: Final = Resource("autoscaling.k8s.io", "v1alpha1", "hvpas", "Hvpa")
ENDPOINT_SLICES: Final = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
CUSTOM_RESOURCE_DEFINITIONS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
