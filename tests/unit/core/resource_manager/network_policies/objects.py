"""The objects that the tests of this package talk about, as parsed manifests."""

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies import IngressController, NetworkPolicyConfig

DOMAIN = "networking.resources.gardener.cloud"
HTTP: Mapping[str, Any] = {"port": 80, "protocol": "TCP", "targetPort": 8080}
BEHIND_INGRESS = NetworkPolicyConfig(ingress_controller=IngressController("garden", LabelSelector((("app", "nginx"),))))


def ours(annotations: Mapping[str, str]) -> dict[str, str]:
    """Annotations with the prefix that they have in a cluster."""
    return {f"{DOMAIN}/{name}": value for name, value in annotations.items()}


def service(
    annotations: Mapping[str, str] | None = None,
    ports: Sequence[Mapping[str, Any]] = (HTTP,),
    selector: Mapping[str, str] | None = None,
    *,
    name: str = "cart",
    namespace: str = "shop",
    **metadata: Any,
) -> dict[str, Any]:
    """The Service shop/cart, with the given annotations of ours."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "annotations": ours(annotations or {}), **metadata},
        "spec": {"selector": {"app": name} if selector is None else selector, "ports": list(ports)},
    }


def namespace(name: str, labels: Mapping[str, str] | None = None, *, terminating: bool = False) -> dict[str, Any]:
    """A Namespace."""
    metadata: dict[str, Any] = {"name": name, "labels": dict(labels or {})}
    if terminating:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def ingress(*backends: Mapping[str, Any], name: str = "web", namespace: str = "shop") -> dict[str, Any]:
    """An Ingress with one path for each backend."""
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend} for backend in backends]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"rules": [{"host": "example.com", "http": {"paths": paths}}]},
    }


def backend(port: int | str, service: str = "cart") -> dict[str, Any]:
    """The backend of a path: a port of a Service by number or by name."""
    return {"service": {"name": service, "port": {"name" if isinstance(port, str) else "number": port}}}


def policy(
    name: str, owner: str | None = "shop/cart", *, namespace: str = "shop", spec: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A NetworkPolicy that carries the labels of its owner, or none."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if owner:
        owner_namespace, _, owner_name = owner.partition("/")
        metadata["labels"] = ours({"service-name": owner_name, "service-namespace": owner_namespace})
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata,
        "spec": spec or {"podSelector": {}},
    }
