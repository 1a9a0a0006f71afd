"""How an API server stores Services and what concerns the network.

Source: Kubernetes API, Service, NetworkPolicy, Ingress, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored

SERVICE: Final = Stored(
    members={
        "spec": Stored(
            {
                "allocateLoadBalancerNodePorts": True,
                "externalTrafficPolicy": "Cluster",
                "internalTrafficPolicy": "Cluster",
                "sessionAffinity": "None",
                "sessionAffinityConfig": {},
                "type": "ClusterIP",
            },
            omitted=frozenset(
                {
                    "clusterIP",
                    "externalName",
                    "externalTrafficPolicy",
                    "healthCheckNodePort",
                    "loadBalancerIP",
                    "publishNotReadyAddresses",
                    "selector",
                    "sessionAffinity",
                    "type",
                }
            ),
            assigned=frozenset({"clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy"}),
            members={
                "ports": Stored(
                    {"protocol": "TCP", "targetPort": lambda port: port.get("port")},
                    omitted=frozenset({"name", "nodePort", "protocol", "targetPort"}),
                    assigned=frozenset({"nodePort"}),
                ),
                "sessionAffinityConfig": Stored(
                    {"clientIP": {}}, members={"clientIP": Stored({"timeoutSeconds": 10800})}
                ),
            },
        )
    }
)


def _policy_types(policy: Mapping[str, Any]) -> list[str]:
    """Egress is isolated only where the policy says something about it."""
    return ["Ingress", "Egress"] if policy.get("egress") else ["Ingress"]


_OPENING: Final = Stored(members={"ports": Stored({"protocol": "TCP"})})

NETWORK_POLICY: Final = Stored(
    members={
        "spec": Stored(
            {"podSelector": {}, "policyTypes": _policy_types}, members={"ingress": _OPENING, "egress": _OPENING}
        )
    }
)

_BACKEND: Final = Stored(members={"service": Stored(members={"port": Stored(omitted=frozenset({"name", "number"}))})})
_PATHS: Final = Stored(members={"paths": Stored(omitted=frozenset({"path"}), members={"backend": _BACKEND})})

INGRESS: Final = Stored(
    members={
        "spec": Stored(
            members={
                "defaultBackend": _BACKEND,
                "rules": Stored(omitted=frozenset({"host"}), members={"http": _PATHS}),
                "tls": Stored(omitted=frozenset({"secretName"})),
            }
        )
    }
)

INGRESS_CLASS: Final = Stored(
    members={"spec": Stored(members={"parameters": Stored({"scope": "Cluster"})})},
)

_PROTOCOL: Final = Stored({"protocol": "TCP"}, omitted=frozenset({"name", "protocol"}))
_ADDRESS: Final = Stored(omitted=frozenset({"hostname"}))

ENDPOINTS: Final = Stored(
    members={
        "subsets": Stored(members={"addresses": _ADDRESS, "notReadyAddresses": _ADDRESS, "ports": _PROTOCOL}),
    }
)

ENDPOINT_SLICE: Final = Stored(members={"ports": Stored({"name": "", "protocol": "TCP"})})
