"""How an API server stores who may do what, how much there may be of something, and who comes first.

Source: Kubernetes API, groups rbac.authorization.k8s.io, autoscaling, scheduling.k8s.io and
flowcontrol.apiserver.k8s.io, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored

_RBAC: Final = "rbac.authorization.k8s.io"


def _group_of_subject(subject: Mapping[str, Any]) -> str | None:
    return _RBAC if subject.get("kind") in {"User", "Group"} else None


ROLE_BINDING: Final = Stored(
    members={
        "roleRef": Stored({"apiGroup": _RBAC}),
        "subjects": Stored({"apiGroup": _group_of_subject}, omitted=frozenset({"apiGroup", "namespace"})),
    }
)

AGGREGATED_ROLE: Final = Stored(assigned=frozenset({"rules"}))
"""A ClusterRole whose rules a controller gathers from others."""

_ALL_PODS: Final = {"type": "Percent", "value": 100, "periodSeconds": 15}
_FOUR_PODS: Final = {"type": "Pods", "value": 4, "periodSeconds": 15}
_SCALING_RULES: Final = {
    "scaleDown": Stored({"selectPolicy": "Max", "policies": [_ALL_PODS]}),
    "scaleUp": Stored({"selectPolicy": "Max", "policies": [_FOUR_PODS, _ALL_PODS], "stabilizationWindowSeconds": 0}),
}
_USUAL_LOAD: Final = 80
_USUAL_METRIC: Final = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": _USUAL_LOAD}},
}
_METRIC: Final = Stored(
    members={
        source: Stored(members={"target": Stored(quantities=frozenset({"averageValue", "value"}))})
        for source in ("containerResource", "external", "object", "pods", "resource")
    }
)

HORIZONTAL_POD_AUTOSCALER: Final = Stored(
    members={
        "spec": Stored(
            {
                "metrics": [_USUAL_METRIC],
                "minReplicas": 1,
                "targetCPUUtilizationPercentage": _USUAL_LOAD,
            },
            members={
                "behavior": Stored({"scaleDown": {}, "scaleUp": {}}, members=_SCALING_RULES),
                "metrics": _METRIC,
            },
        )
    }
)

PRIORITY_CLASS: Final = Stored(
    {"preemptionPolicy": "PreemptLowerPriority"}, omitted=frozenset({"description", "globalDefault"})
)

NAMESPACE: Final = Stored(
    {"spec": {}},
    members={
        "metadata": Stored(members={"labels": Stored(assigned=frozenset({"kubernetes.io/metadata.name"}))}),
        "spec": Stored({"finalizers": ["kubernetes"]}, omitted=frozenset({"finalizers"})),
    },
)

RESOURCE_QUOTA: Final = Stored(members={"spec": Stored(quantities=frozenset({"hard"}))})


def _largest(limit: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Containers that do not say how much they may use may use all that any may."""
    return _amounts(limit, "max") if limit.get("type") == "Container" else None


def _requested(limit: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Containers that do not ask for anything ask for what they may use."""
    return {**_amounts(limit, "min"), **_amounts(limit, "default")} if limit.get("type") == "Container" else None


def _amounts(limit: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    amounts = limit.get(name)
    return amounts if isinstance(amounts, (dict, Mapping)) else {}


def with_all_amounts(limit: Manifest) -> Manifest:
    """An item of a LimitRange as the server completes it, amount by amount."""
    usable = {**(_largest(limit) or {}), **_amounts(limit, "default")}
    requested = {**(_requested({**limit, "default": usable}) or {}), **_amounts(limit, "defaultRequest")}
    return {**limit, **({"default": usable} if usable else {}), **({"defaultRequest": requested} if requested else {})}


LIMIT_RANGE: Final = Stored(
    members={
        "spec": Stored(
            members={
                "limits": Stored(
                    {"default": _largest, "defaultRequest": _requested},
                    quantities=frozenset({"default", "defaultRequest", "max", "maxLimitRequestRatio", "min"}),
                )
            }
        )
    }
)

SECRET: Final = Stored({"type": "Opaque"}, omitted=frozenset({"type"}))

_QUEUING: Final = Stored({"handSize": 8, "queueLengthLimit": 50, "queues": 64})

PRIORITY_LEVEL: Final = Stored(
    members={
        "spec": Stored(
            members={
                "exempt": Stored({"lendablePercent": 0, "nominalConcurrencyShares": 0}),
                "limited": Stored(
                    {"lendablePercent": 0, "limitResponse": {"type": "Reject"}, "nominalConcurrencyShares": 30},
                    members={"limitResponse": Stored({"type": "Reject"}, members={"queuing": _QUEUING})},
                ),
            }
        )
    }
)

FLOW_SCHEMA: Final = Stored(
    members={"spec": Stored({"matchingPrecedence": 1000}, omitted=frozenset({"matchingPrecedence"}))}
)

NODE: Final = Stored(
    members={"spec": Stored(assigned=frozenset({"podCIDR", "podCIDRs", "providerID", "taints", "unschedulable"}))}
)
