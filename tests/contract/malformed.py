"""Valid objects of every kind that a controller reads, and what becomes of them when one thing in them is wrong."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

LIKE: Final = {"matchLabels": {"app": "cart"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
ADDRESSES: Final = {
    "ingress": [{"ip": "192.0.2.1", "hostname": "a.example", "ports": [{"port": 1, "protocol": "TCP"}]}]
}
CONDITION: Final = {
    "type": "Ready",
    "status": "True",
    "reason": "Ready",
    "message": "is ready",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}

NAMESPACE: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["example.com/e"]},
    "spec": {"finalizers": ["kubernetes"]},
    "status": {"phase": "Active", "conditions": [CONDITION]},
}
SERVICE: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {
        "name": "cart",
        "namespace": "shop",
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}],
    },
    "spec": {
        "type": "ClusterIP",
        "clusterIP": "None",
        "selector": {"app": "cart"},
        "sessionAffinity": "None",
        "publishNotReadyAddresses": True,
        "ports": [
            {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080},
            {"name": "metrics", "port": 81, "targetPort": "metrics", "appProtocol": "http"},
        ],
    },
    "status": {
        "loadBalancer": {"ingress": [{**ADDRESSES["ingress"][0], "ipMode": "VIP"}]},
        "conditions": [{**CONDITION, "observedGeneration": 1}],
    },
}
INGRESS: Final[dict[str, Any]] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "b"}},
    "spec": {
        "ingressClassName": "nginx",
        "defaultBackend": {"service": {"name": "cart", "port": {"number": 80}}},
        "tls": [{"hosts": ["a.example"], "secretName": "tls"}],
        "rules": [
            {
                "host": "*.a.example",
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "cart", "port": {"name": "http"}}},
                        },
                        {
                            "pathType": "ImplementationSpecific",
                            "backend": {"service": {"name": "cart", "port": {"number": 81}}},
                        },
                        {
                            "path": "/static",
                            "pathType": "Exact",
                            "backend": {"resource": {"apiGroup": "example.com", "kind": "Bucket", "name": "static"}},
                        },
                    ]
                },
            }
        ],
    },
    "status": {"loadBalancer": ADDRESSES},
}
NETWORK_POLICY: Final[dict[str, Any]] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "allow", "namespace": "shop", "labels": {"a": "b"}},
    "spec": {
        "podSelector": LIKE,
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [
            {
                "from": [{"namespaceSelector": LIKE, "podSelector": {}}],
                "ports": [{"protocol": "TCP", "port": 80, "endPort": 90}],
            }
        ],
        "egress": [
            {"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}], "ports": [{"port": "http"}]}
        ],
    },
}
VALID: Final = {manifest["kind"]: manifest for manifest in (NAMESPACE, SERVICE, INGRESS, NETWORK_POLICY)}
REPLACEMENTS: Final[tuple[Any, ...]] = (None, 5, "x", [], {}, [None], True)


def variants(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The value with one part of it, small or large, replaced by something that may not belong there.

    Args:
        value: a JSON value; it is not changed.
        where: the path to it.

    Returns:
        What was replaced by what, and the value after that.
    """
    if where:
        yield from ((f"{where} = {replacement!r}", replacement) for replacement in REPLACEMENTS)
    for place, part in value.items() if isinstance(value, Mapping) else enumerate(value):
        path = f"{where}[{place}]" if isinstance(place, int) else f"{where}.{place}".removeprefix(".")
        if isinstance(part, Mapping | list):
            inner = variants(part, path)
        else:
            inner = ((f"{path} = {replacement!r}", replacement) for replacement in REPLACEMENTS)
        for what, changed in inner:
            if isinstance(value, Mapping):
                yield what, {**value, place: changed}
            else:
                yield what, [*value[:place], changed, *value[place + 1 :]]
