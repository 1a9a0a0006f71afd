"""How an API server stores the objects of each kind of Kubernetes.

Source: managed-resources §8.6; decision "steady state"; Kubernetes API, version 1.36.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from hedgerow.api.references import GroupKind, group_kind_of
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.server_defaults import pods
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, COMPACT, Stored, stored

_RBAC: Final = "rbac.authorization.k8s.io"
_WEBHOOKS: Final = "admissionregistration.k8s.io"
_FLOWS: Final = "flowcontrol.apiserver.k8s.io"

_SERVICE: Final = stored(
    spec=stored(
        {
            "allocateLoadBalancerNodePorts": True,
            "externalTrafficPolicy": "Cluster",
            "internalTrafficPolicy": "Cluster",
            "sessionAffinity": "None",
            "sessionAffinityConfig": {},
            "type": "ClusterIP",
        },
        omitted="clusterIP externalName externalTrafficPolicy healthCheckNodePort loadBalancerIP "
        "publishNotReadyAddresses selector sessionAffinity type",
        assigned="clusterIP clusterIPs healthCheckNodePort ipFamilies ipFamilyPolicy",
        ports=stored(
            {"protocol": "TCP", "targetPort": lambda port: port.get("port")},
            omitted="name nodePort protocol targetPort",
            assigned="nodePort",
        ),
        sessionAffinityConfig=stored({"clientIP": {}}, clientIP=stored({"timeoutSeconds": 10800})),
    )
)


def _policy_types(policy: Mapping[str, Any]) -> list[str]:
    """Egress is isolated only where the policy says something about it."""
    return ["Ingress", "Egress"] if policy.get("egress") else ["Ingress"]


_ALLOWED: Final = stored(ports=stored({"protocol": "TCP"}))
_NETWORK_POLICY: Final = stored(
    spec=stored({"podSelector": {}, "policyTypes": _policy_types}, ingress=_ALLOWED, egress=_ALLOWED)
)
_BACKEND: Final = stored(service=stored(port=stored(omitted="name number")))
_INGRESS: Final = stored(
    spec=stored(
        defaultBackend=_BACKEND,
        rules=stored(omitted="host", http=stored(paths=stored(omitted="path", backend=_BACKEND))),
        tls=stored(omitted="secretName"),
    )
)
_ADDRESS: Final = stored(omitted="hostname")
_ENDPOINTS: Final = stored(
    subsets=stored(
        addresses=_ADDRESS,
        notReadyAddresses=_ADDRESS,
        ports=stored({"protocol": "TCP"}, omitted="name protocol"),
    )
)


def _group_of_subject(subject: Mapping[str, Any]) -> str | None:
    return _RBAC if subject.get("kind") in {"User", "Group"} else None


_ROLE_BINDING: Final = stored(
    roleRef=stored({"apiGroup": _RBAC}),
    subjects=stored({"apiGroup": _group_of_subject}, omitted="apiGroup namespace"),
)
_AGGREGATED_ROLE: Final = stored(assigned="rules")
"""A ClusterRole whose rules a controller gathers from others."""

_ALL_PODS: Final = {"type": "Percent", "value": 100, "periodSeconds": 15}
_FOUR_PODS: Final = {"type": "Pods", "value": 4, "periodSeconds": 15}
_LOAD: Final = 80
_METRIC: Final = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": _LOAD}},
}
_METRIC_SOURCES: Final = ("containerResource", "external", "object", "pods", "resource")
_HORIZONTAL_POD_AUTOSCALER: Final = stored(
    spec=stored(
        {"metrics": [_METRIC], "minReplicas": 1, "targetCPUUtilizationPercentage": _LOAD},
        behavior=stored(
            {"scaleDown": {}, "scaleUp": {}},
            scaleDown=stored({"selectPolicy": "Max", "policies": [_ALL_PODS]}),
            scaleUp=stored(
                {"selectPolicy": "Max", "policies": [_FOUR_PODS, _ALL_PODS], "stabilizationWindowSeconds": 0}
            ),
        ),
        metrics=stored({}, dict.fromkeys(_METRIC_SOURCES, stored(target=stored(quantities="averageValue value")))),
    )
)

_NAMESPACE: Final = stored(
    {"spec": {}},
    metadata=stored(labels=stored(assigned="kubernetes.io/metadata.name")),
    spec=stored({"finalizers": ["kubernetes"]}, omitted="finalizers"),
)


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


_LIMIT_RANGE: Final = stored(
    spec=stored(
        limits=stored(
            {"default": _largest, "defaultRequest": _requested},
            quantities="default defaultRequest max maxLimitRequestRatio min",
        )
    )
)
_PRIORITY_LEVEL: Final = stored(
    spec=stored(
        exempt=stored({"lendablePercent": 0, "nominalConcurrencyShares": 0}),
        limited=stored(
            {"lendablePercent": 0, "limitResponse": {"type": "Reject"}, "nominalConcurrencyShares": 30},
            limitResponse=stored(
                {"type": "Reject"}, queuing=stored({"handSize": 8, "queueLengthLimit": 50, "queues": 64})
            ),
        ),
    )
)
_CSI_DRIVER: Final = stored(
    spec=stored(
        {
            "attachRequired": True,
            "fsGroupPolicy": "ReadWriteOnceWithFSType",
            "podInfoOnMount": False,
            "requiresRepublish": False,
            "seLinuxMount": False,
            "storageCapacity": False,
            "volumeLifecycleModes": ["Persistent"],
        },
        omitted="volumeLifecycleModes",
    )
)

_SELECTED: Final = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_SERVER: Final = stored({"port": 443})
_CLIENT_CONFIG: Final = stored(omitted="caBundle", service=_SERVER)
_ANY_SCOPE: Final = stored({"scope": "*"})


def _webhooks(**defaults: str) -> Stored:
    usual = {**_SELECTED, "failurePolicy": "Fail", "timeoutSeconds": 10}
    return stored(webhooks=stored({**usual, **defaults}, clientConfig=_CLIENT_CONFIG, rules=_ANY_SCOPE))


_MATCHING: Final = stored(_SELECTED, excludeResourceRules=_ANY_SCOPE, resourceRules=_ANY_SCOPE)
_ADMISSION_POLICY: Final = stored(spec=stored({"failurePolicy": "Fail"}, matchConstraints=_MATCHING))
_ADMISSION_POLICY_BINDING: Final = stored(spec=stored(matchResources=_MATCHING))

_NESTED_SCHEMAS: Final[dict[str, Stored]] = {}
_SCHEMA: Final = replace(
    stored(
        omitted="allOf anyOf definitions dependencies description enum exclusiveMaximum exclusiveMinimum format id "
        "nullable oneOf pattern patternProperties properties required title type uniqueItems "
        "x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-validations",
        verbatim=True,
    ),
    members=_NESTED_SCHEMAS,
)
_SCHEMAS_BY_NAME: Final = Stored(others=_SCHEMA, verbatim=True)
_NESTED_SCHEMAS.update(  # schemas consist of schemas
    dict.fromkeys(("additionalItems", "additionalProperties", "allOf", "anyOf", "items", "not", "oneOf"), _SCHEMA),
    **dict.fromkeys(("definitions", "patternProperties", "properties"), _SCHEMAS_BY_NAME),
)
_CUSTOM_RESOURCE_DEFINITION: Final = stored(
    spec=stored(
        {"conversion": {"strategy": "None"}},
        omitted="preserveUnknownFields",
        conversion=stored(webhook=stored(clientConfig=_CLIENT_CONFIG)),
        names=stored(
            {
                "listKind": lambda names: f"{names.get('kind')}List",
                "singular": lambda names: str(names.get("kind")).lower(),
            },
            omitted="listKind singular",
        ),
        versions=stored(
            omitted="additionalPrinterColumns deprecated selectableFields",
            additionalPrinterColumns=stored(omitted="description format priority"),
            schema=stored(openAPIV3Schema=_SCHEMA),
            subresources=stored(verbatim=True),
            verbatim=True,
        ),
    )
)

_RULES: Final[Mapping[tuple[str, str], Stored]] = {
    ("", "ConfigMap"): COMPACT,
    ("", "Endpoints"): _ENDPOINTS,
    ("", "LimitRange"): _LIMIT_RANGE,
    ("", "Namespace"): _NAMESPACE,
    ("", "Node"): stored(spec=stored(assigned="podCIDR podCIDRs providerID taints unschedulable")),
    ("", "PersistentVolume"): pods.PERSISTENT_VOLUME,
    ("", "PersistentVolumeClaim"): pods.PERSISTENT_VOLUME_CLAIM,
    ("", "Pod"): pods.POD,
    ("", "PodTemplate"): stored(template=pods.POD),
    ("", "ReplicationController"): pods.REPLICATION_CONTROLLER,
    ("", "ResourceQuota"): stored(spec=stored(quantities="hard")),
    ("", "Secret"): stored({"type": "Opaque"}, omitted="type"),
    ("", "ServiceAccount"): COMPACT,
    ("", "Service"): _SERVICE,
    (_WEBHOOKS, "MutatingAdmissionPolicy"): _ADMISSION_POLICY,
    (_WEBHOOKS, "MutatingAdmissionPolicyBinding"): _ADMISSION_POLICY_BINDING,
    (_WEBHOOKS, "MutatingWebhookConfiguration"): _webhooks(reinvocationPolicy="Never"),
    (_WEBHOOKS, "ValidatingAdmissionPolicy"): _ADMISSION_POLICY,
    (_WEBHOOKS, "ValidatingAdmissionPolicyBinding"): _ADMISSION_POLICY_BINDING,
    (_WEBHOOKS, "ValidatingWebhookConfiguration"): _webhooks(),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _CUSTOM_RESOURCE_DEFINITION,
    ("apiregistration.k8s.io", "APIService"): stored(
        spec=stored(omitted="caBundle insecureSkipTLSVerify", service=_SERVER)
    ),
    ("apps", "ControllerRevision"): COMPACT,
    ("apps", "DaemonSet"): pods.DAEMON_SET,
    ("apps", "Deployment"): pods.DEPLOYMENT,
    ("apps", "ReplicaSet"): pods.REPLICA_SET,
    ("apps", "StatefulSet"): pods.STATEFUL_SET,
    ("autoscaling", "HorizontalPodAutoscaler"): _HORIZONTAL_POD_AUTOSCALER,
    ("batch", "CronJob"): pods.CRON_JOB,
    ("batch", "Job"): pods.JOB,
    ("coordination.k8s.io", "Lease"): COMPACT,
    ("discovery.k8s.io", "EndpointSlice"): stored(ports=stored({"name": "", "protocol": "TCP"})),
    (_FLOWS, "FlowSchema"): stored(spec=stored({"matchingPrecedence": 1000}, omitted="matchingPrecedence")),
    (_FLOWS, "PriorityLevelConfiguration"): _PRIORITY_LEVEL,
    ("networking.k8s.io", "Ingress"): _INGRESS,
    ("networking.k8s.io", "IngressClass"): stored(spec=stored(parameters=stored({"scope": "Cluster"}))),
    ("networking.k8s.io", "NetworkPolicy"): _NETWORK_POLICY,
    ("node.k8s.io", "RuntimeClass"): stored(overhead=stored(quantities="podFixed")),
    ("policy", "PodDisruptionBudget"): COMPACT,
    (_RBAC, "ClusterRole"): COMPACT,
    (_RBAC, "ClusterRoleBinding"): _ROLE_BINDING,
    (_RBAC, "Role"): COMPACT,
    (_RBAC, "RoleBinding"): _ROLE_BINDING,
    ("scheduling.k8s.io", "PriorityClass"): stored(
        {"preemptionPolicy": "PreemptLowerPriority"}, omitted="description globalDefault"
    ),
    ("storage.k8s.io", "CSIDriver"): _CSI_DRIVER,
    ("storage.k8s.io", "CSINode"): COMPACT,
    ("storage.k8s.io", "CSIStorageCapacity"): stored(quantities="capacity maximumVolumeSize"),
    ("storage.k8s.io", "StorageClass"): stored({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}),
    ("storage.k8s.io", "VolumeAttributesClass"): COMPACT,
}


def stored_rule(manifest: Manifest) -> Stored:
    """How an object is stored; that of an unknown kind as it is sent."""
    kind = group_kind_of(manifest)
    if kind == GroupKind(_RBAC, "ClusterRole") and manifest.get("aggregationRule"):
        return _AGGREGATED_ROLE
    return _RULES.get(kind, AS_SENT)
