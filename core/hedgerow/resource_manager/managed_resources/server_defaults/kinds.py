"""The storage rules of the built-in kinds.

Source: managed-resources §8.6; decision "steady state"; Kubernetes API, version 1.36.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from hedgerow.api.references import group_kind_of
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.server_defaults import pods
from hedgerow.resource_manager.managed_resources.server_defaults.rules import (
    AS_SENT,
    COMPACT,
    StorageRule,
    rule,
    spec_rule,
)

_RBAC: Final = "rbac.authorization.k8s.io"
_WEBHOOKS: Final = "admissionregistration.k8s.io"
_FLOWS: Final = "flowcontrol.apiserver.k8s.io"

_ALLOWED: Final = rule(ports=rule({"protocol": "TCP"}))
_BACKEND: Final = rule(service=rule(port=rule(omitted="name number")))
_ADDRESS: Final = rule(omitted="hostname")
_ROLE_BINDING: Final = rule(
    roleRef=rule({"apiGroup": _RBAC}),
    subjects=rule(
        {"apiGroup": lambda subject: _RBAC if subject.get("kind") in {"User", "Group"} else None},
        omitted="apiGroup namespace",
    ),
)
_AGGREGATED_ROLE: Final = rule(assigned="rules")
"""A ClusterRole whose rules a controller collects from other ClusterRoles."""

_ALL_PODS: Final = {"type": "Percent", "value": 100, "periodSeconds": 15}
_FOUR_PODS: Final = {"type": "Pods", "value": 4, "periodSeconds": 15}
_METRIC: Final = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
_METRIC_SOURCES: Final = ("containerResource", "external", "object", "pods", "resource")

_SELECTED: Final = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_SERVER: Final = rule({"port": 443})
_CLIENT_CONFIG: Final = rule(omitted="caBundle", service=_SERVER)
_ANY_SCOPE: Final = rule({"scope": "*"})


def _webhooks(**defaults: str) -> StorageRule:
    usual = {**_SELECTED, "failurePolicy": "Fail", "timeoutSeconds": 10}
    return rule(webhooks=rule({**usual, **defaults}, clientConfig=_CLIENT_CONFIG, rules=_ANY_SCOPE))


_MATCHING: Final = rule(_SELECTED, excludeResourceRules=_ANY_SCOPE, resourceRules=_ANY_SCOPE)
_ADMISSION_POLICY: Final = spec_rule({"failurePolicy": "Fail"}, matchConstraints=_MATCHING)
_ADMISSION_POLICY_BINDING: Final = spec_rule(matchResources=_MATCHING)

_NESTED_SCHEMAS: Final[dict[str, StorageRule]] = {}
_SCHEMA: Final = replace(
    rule(
        omitted="allOf anyOf definitions dependencies description enum exclusiveMaximum exclusiveMinimum format id "
        "nullable oneOf pattern patternProperties properties required title type uniqueItems "
        "x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-validations",
        verbatim=True,
    ),
    members=_NESTED_SCHEMAS,
)
_SCHEMAS_BY_NAME: Final = StorageRule(others=_SCHEMA, verbatim=True)
_NESTED_SCHEMAS.update(  # schemas consist of schemas
    dict.fromkeys(("additionalItems", "additionalProperties", "allOf", "anyOf", "items", "not", "oneOf"), _SCHEMA),
    **dict.fromkeys(("definitions", "patternProperties", "properties"), _SCHEMAS_BY_NAME),
)

_RULES: Final[Mapping[tuple[str, str], StorageRule]] = {
    **pods.RULES,
    **{("", kind): COMPACT for kind in ("ConfigMap", "ServiceAccount")},
    ("", "Endpoints"): rule(
        subsets=rule(
            addresses=_ADDRESS, notReadyAddresses=_ADDRESS, ports=rule({"protocol": "TCP"}, omitted="name protocol")
        )
    ),
    ("", "LimitRange"): spec_rule(limits=rule(quantities="default defaultRequest max maxLimitRequestRatio min")),
    ("", "Namespace"): rule(
        {"spec": {}},
        metadata=rule(labels=rule(assigned="kubernetes.io/metadata.name")),
        spec=rule({"finalizers": ["kubernetes"]}, omitted="finalizers"),
    ),
    ("", "Node"): spec_rule(assigned="podCIDR podCIDRs providerID taints unschedulable"),
    ("", "ResourceQuota"): spec_rule(quantities="hard"),
    ("", "Secret"): rule({"type": "Opaque"}, omitted="type"),
    ("", "Service"): spec_rule(
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
        ports=rule(
            {"protocol": "TCP", "targetPort": lambda port: port.get("port")},
            omitted="name nodePort protocol targetPort",
            assigned="nodePort",
        ),
        sessionAffinityConfig=rule({"clientIP": {}}, clientIP=rule({"timeoutSeconds": 10800})),
    ),
    **{(_WEBHOOKS, f"{kind}AdmissionPolicy"): _ADMISSION_POLICY for kind in ("Mutating", "Validating")},
    **{(_WEBHOOKS, f"{kind}AdmissionPolicyBinding"): _ADMISSION_POLICY_BINDING for kind in ("Mutating", "Validating")},
    (_WEBHOOKS, "MutatingWebhookConfiguration"): _webhooks(reinvocationPolicy="Never"),
    (_WEBHOOKS, "ValidatingWebhookConfiguration"): _webhooks(),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): spec_rule(
        {"conversion": {"strategy": "None"}},
        omitted="preserveUnknownFields",
        conversion=rule(webhook=rule(clientConfig=_CLIENT_CONFIG)),
        names=rule(
            {
                "listKind": lambda names: f"{names.get('kind')}List",
                "singular": lambda names: str(names.get("kind")).lower(),
            },
            omitted="listKind singular",
        ),
        versions=rule(
            omitted="additionalPrinterColumns deprecated selectableFields",
            additionalPrinterColumns=rule(omitted="description format priority"),
            schema=rule(openAPIV3Schema=_SCHEMA),
            subresources=rule(verbatim=True),
            verbatim=True,
        ),
    ),
    ("apiregistration.k8s.io", "APIService"): spec_rule(omitted="caBundle insecureSkipTLSVerify", service=_SERVER),
    ("apps", "ControllerRevision"): COMPACT,
    ("autoscaling", "HorizontalPodAutoscaler"): spec_rule(
        {"metrics": [_METRIC], "minReplicas": 1, "targetCPUUtilizationPercentage": 80},
        behavior=rule(
            {"scaleDown": {}, "scaleUp": {}},
            scaleDown=rule({"selectPolicy": "Max", "policies": [_ALL_PODS]}),
            scaleUp=rule({"selectPolicy": "Max", "policies": [_FOUR_PODS, _ALL_PODS], "stabilizationWindowSeconds": 0}),
        ),
        metrics=rule({}, dict.fromkeys(_METRIC_SOURCES, rule(target=rule(quantities="averageValue value")))),
    ),
    ("coordination.k8s.io", "Lease"): COMPACT,
    ("discovery.k8s.io", "EndpointSlice"): rule(ports=rule({"name": "", "protocol": "TCP"})),
    (_FLOWS, "FlowSchema"): spec_rule({"matchingPrecedence": 1000}, omitted="matchingPrecedence"),
    (_FLOWS, "PriorityLevelConfiguration"): spec_rule(
        exempt=rule({"lendablePercent": 0, "nominalConcurrencyShares": 0}),
        limited=rule(
            {"lendablePercent": 0, "limitResponse": {"type": "Reject"}, "nominalConcurrencyShares": 30},
            limitResponse=rule({"type": "Reject"}, queuing=rule({"handSize": 8, "queueLengthLimit": 50, "queues": 64})),
        ),
    ),
    ("networking.k8s.io", "Ingress"): spec_rule(
        defaultBackend=_BACKEND,
        rules=rule(omitted="host", http=rule(paths=rule(omitted="path", backend=_BACKEND))),
        tls=rule(omitted="secretName"),
    ),
    ("networking.k8s.io", "IngressClass"): spec_rule(parameters=rule({"scope": "Cluster"})),
    ("networking.k8s.io", "NetworkPolicy"): spec_rule(
        {
            "podSelector": {},
            "policyTypes": lambda policy: ["Ingress", "Egress"] if policy.get("egress") else ["Ingress"],
        },
        ingress=_ALLOWED,
        egress=_ALLOWED,
    ),
    ("node.k8s.io", "RuntimeClass"): rule(overhead=rule(quantities="podFixed")),
    ("policy", "PodDisruptionBudget"): COMPACT,
    **{(_RBAC, kind): COMPACT for kind in ("ClusterRole", "Role")},
    **{(_RBAC, kind): _ROLE_BINDING for kind in ("ClusterRoleBinding", "RoleBinding")},
    ("scheduling.k8s.io", "PriorityClass"): rule(
        {"preemptionPolicy": "PreemptLowerPriority"}, omitted="description globalDefault"
    ),
    **{("storage.k8s.io", kind): COMPACT for kind in ("CSINode", "VolumeAttributesClass")},
    ("storage.k8s.io", "CSIDriver"): spec_rule(
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
    ),
    ("storage.k8s.io", "CSIStorageCapacity"): rule(quantities="capacity maximumVolumeSize"),
    ("storage.k8s.io", "StorageClass"): rule({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}),
}


def storage_rule(manifest: Manifest) -> StorageRule:
    """The rule of an object's kind; unknown kinds are stored as sent."""
    kind = group_kind_of(manifest)
    if kind == (_RBAC, "ClusterRole") and manifest.get("aggregationRule"):
        return _AGGREGATED_ROLE
    return _RULES.get(kind, AS_SENT)
