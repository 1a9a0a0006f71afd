"""How an API server stores Services and what concerns the network.

Source: Kubernetes API, Service, NetworkPolicy, Ingress, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.managed_resources.stored.rules import Stored

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
                    "healthCheckNodePort",
                    "loadBalancerIP",
                    "publishNotReadyAddresses",
                    "selector",
                }
            ),
            assigned=frozenset({"clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy"}),
            members={
                "ports": Stored(
                    {"protocol": "TCP", "targetPort": lambda port: port.get("port")},
                    omitted=frozenset({"name", "nodePort", "targetPort"}),
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

INGRESS: Final = Stored(
    members={
        "spec": Stored(
            members={"rules": Stored(omitted=frozenset({"host"})), "tls": Stored(omitted=frozenset({"secretName"}))}
        )
    }
)

INGRESS_CLASS: Final = Stored(
    members={"spec": Stored(members={"parameters": Stored({"scope": "Cluster"})})},
)
