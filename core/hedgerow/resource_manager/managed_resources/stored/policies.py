"""How an API server stores who may do what, who extends the server, and how much there may be of something.

Source: Kubernetes API, groups rbac.authorization.k8s.io, admissionregistration.k8s.io, apiextensions.k8s.io,
apiregistration.k8s.io, autoscaling, scheduling.k8s.io and storage.k8s.io, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.managed_resources.stored.pods import CLAIM
from hedgerow.resource_manager.managed_resources.stored.rules import Stored

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

_CLIENT_CONFIG: Final = Stored(omitted=frozenset({"caBundle"}), members={"service": Stored({"port": 443})})

_WEBHOOK: Final = Stored(
    {
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "timeoutSeconds": 10,
    },
    members={"clientConfig": _CLIENT_CONFIG, "rules": Stored({"scope": "*"})},
)

VALIDATING_WEBHOOKS: Final = Stored(members={"webhooks": _WEBHOOK})

MUTATING_WEBHOOKS: Final = Stored(
    members={"webhooks": Stored({**_WEBHOOK.defaults, "reinvocationPolicy": "Never"}, members=_WEBHOOK.members)}
)

CUSTOM_RESOURCE_DEFINITION: Final = Stored(
    members={
        "spec": Stored(
            {"conversion": {"strategy": "None"}},
            omitted=frozenset({"preserveUnknownFields"}),
            members={
                "conversion": Stored(members={"webhook": Stored(members={"clientConfig": _CLIENT_CONFIG})}),
                "names": Stored(
                    {
                        "listKind": lambda names: f"{names.get('kind')}List",
                        "singular": lambda names: str(names.get("kind")).lower(),
                    }
                ),
                "versions": Stored(
                    omitted=frozenset({"deprecated"}),
                    members={
                        "additionalPrinterColumns": Stored(omitted=frozenset({"description", "format", "priority"}))
                    },
                ),
            },
        )
    }
)

API_SERVICE: Final = Stored(
    members={
        "spec": Stored(
            omitted=frozenset({"caBundle", "insecureSkipTLSVerify"}), members={"service": Stored({"port": 443})}
        )
    }
)

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

STORAGE_CLASS: Final = Stored({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})

PERSISTENT_VOLUME: Final = Stored(
    members={
        "spec": Stored(
            {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
            assigned=frozenset({"claimRef"}),
            quantities=frozenset({"capacity"}),
            members={"hostPath": Stored({"type": ""})},
        )
    }
)

PERSISTENT_VOLUME_CLAIM: Final = Stored(
    members={
        "spec": Stored(
            CLAIM.defaults,
            omitted=CLAIM.omitted,
            assigned=frozenset({"storageClassName", "volumeName"}),
            members=CLAIM.members,
        )
    }
)

NAMESPACE: Final = Stored(
    {"spec": {}},
    members={
        "metadata": Stored(members={"labels": Stored(assigned=frozenset({"kubernetes.io/metadata.name"}))}),
        "spec": Stored({"finalizers": ["kubernetes"]}),
    },
)

RESOURCE_QUOTA: Final = Stored(members={"spec": Stored(quantities=frozenset({"hard"}))})


def _largest(limit: Mapping[str, Any]) -> Any:
    """Containers that do not say how much they may use may use all that any may."""
    return limit.get("max") if limit.get("type") == "Container" else None


def _requested(limit: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Containers that do not ask for anything ask for what they may use."""
    if limit.get("type") != "Container":
        return None
    amounts = (limit.get("min"), limit.get("default"))
    return {name: amount for each in amounts if isinstance(each, dict) for name, amount in each.items()}


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

SECRET: Final = Stored({"type": "Opaque"})
