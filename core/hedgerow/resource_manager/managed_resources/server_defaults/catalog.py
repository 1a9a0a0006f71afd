"""Which rule of storage holds for an object, and what the object looks like once it is stored.

Source: managed-resources §8.6; decision "steady state".
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.api.references import group_of
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.server_defaults import (
    extensions,
    pods,
    policies,
    services,
    volumes,
    workloads,
)
from hedgerow.resource_manager.managed_resources.server_defaults.differences import differences
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, COMPACT, Stored

_RBAC: Final = "rbac.authorization.k8s.io"
_WEBHOOKS: Final = "admissionregistration.k8s.io"

_FLOWS: Final = "flowcontrol.apiserver.k8s.io"

_RULES: Final[Mapping[tuple[str, str], Stored]] = {
    ("", "ConfigMap"): COMPACT,
    ("", "Endpoints"): services.ENDPOINTS,
    ("", "LimitRange"): policies.LIMIT_RANGE,
    ("", "Namespace"): policies.NAMESPACE,
    ("", "Node"): policies.NODE,
    ("", "PersistentVolume"): volumes.PERSISTENT_VOLUME,
    ("", "PersistentVolumeClaim"): volumes.PERSISTENT_VOLUME_CLAIM,
    ("", "Pod"): pods.POD,
    ("", "PodTemplate"): pods.POD_TEMPLATES,
    ("", "ReplicationController"): workloads.REPLICATION_CONTROLLER,
    ("", "ResourceQuota"): policies.RESOURCE_QUOTA,
    ("", "Secret"): policies.SECRET,
    ("", "ServiceAccount"): COMPACT,
    ("", "Service"): services.SERVICE,
    (_WEBHOOKS, "MutatingAdmissionPolicy"): extensions.ADMISSION_POLICY,
    (_WEBHOOKS, "MutatingAdmissionPolicyBinding"): extensions.ADMISSION_POLICY_BINDING,
    (_WEBHOOKS, "MutatingWebhookConfiguration"): extensions.MUTATING_WEBHOOKS,
    (_WEBHOOKS, "ValidatingAdmissionPolicy"): extensions.ADMISSION_POLICY,
    (_WEBHOOKS, "ValidatingAdmissionPolicyBinding"): extensions.ADMISSION_POLICY_BINDING,
    (_WEBHOOKS, "ValidatingWebhookConfiguration"): extensions.VALIDATING_WEBHOOKS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): extensions.CUSTOM_RESOURCE_DEFINITION,
    ("apiregistration.k8s.io", "APIService"): extensions.API_SERVICE,
    ("apps", "ControllerRevision"): COMPACT,
    ("apps", "DaemonSet"): workloads.DAEMON_SET,
    ("apps", "Deployment"): workloads.DEPLOYMENT,
    ("apps", "ReplicaSet"): workloads.REPLICA_SET,
    ("apps", "StatefulSet"): workloads.STATEFUL_SET,
    ("autoscaling", "HorizontalPodAutoscaler"): policies.HORIZONTAL_POD_AUTOSCALER,
    ("batch", "CronJob"): workloads.CRON_JOB,
    ("batch", "Job"): workloads.JOB,
    ("coordination.k8s.io", "Lease"): COMPACT,
    ("discovery.k8s.io", "EndpointSlice"): services.ENDPOINT_SLICE,
    (_FLOWS, "FlowSchema"): policies.FLOW_SCHEMA,
    (_FLOWS, "PriorityLevelConfiguration"): policies.PRIORITY_LEVEL,
    ("networking.k8s.io", "Ingress"): services.INGRESS,
    ("networking.k8s.io", "IngressClass"): services.INGRESS_CLASS,
    ("networking.k8s.io", "NetworkPolicy"): services.NETWORK_POLICY,
    ("node.k8s.io", "RuntimeClass"): pods.RUNTIME_CLASS,
    ("policy", "PodDisruptionBudget"): COMPACT,
    (_RBAC, "ClusterRole"): COMPACT,
    (_RBAC, "ClusterRoleBinding"): policies.ROLE_BINDING,
    (_RBAC, "Role"): COMPACT,
    (_RBAC, "RoleBinding"): policies.ROLE_BINDING,
    ("scheduling.k8s.io", "PriorityClass"): policies.PRIORITY_CLASS,
    ("storage.k8s.io", "CSIDriver"): volumes.CSI_DRIVER,
    ("storage.k8s.io", "CSINode"): COMPACT,
    ("storage.k8s.io", "CSIStorageCapacity"): volumes.CSI_STORAGE_CAPACITY,
    ("storage.k8s.io", "StorageClass"): volumes.STORAGE_CLASS,
    ("storage.k8s.io", "VolumeAttributesClass"): COMPACT,
}


def stored_rule(manifest: Manifest) -> Stored:
    """How an object is stored; that of an unknown kind as it is sent."""
    kind = (group_of(str(manifest.get("apiVersion") or "")), str(manifest.get("kind") or ""))
    if kind == (_RBAC, "ClusterRole") and manifest.get("aggregationRule"):
        return policies.AGGREGATED_ROLE
    return _RULES.get(kind, AS_SENT)


def completed(wanted: Manifest, live: Manifest, rule: Stored = AS_SENT) -> Manifest:
    """The object with everything that another write would not remove, its members in the order of the live ones.

    Args:
        wanted: the object to be written.
        live: the object as it is stored.
        rule: how the server stores objects of this kind.
    """
    result: dict[str, Any] = {}
    for name, found in live.items():
        if wanted.get(name) is not None:
            result[name] = _completed(wanted[name], found, rule.of(name))
        elif not differences(_without(live, name), live, rule):
            result[name] = found
    return {**result, **{name: value for name, value in wanted.items() if name not in live}}


def _completed(wanted: Any, found: Any, rule: Stored) -> Any:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return completed(wanted, found, rule)
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [_completed(one, other, rule) for one, other in zip(wanted, found, strict=True)]
    return wanted


def _without(live: Manifest, name: str) -> Manifest:
    return {other: value for other, value in live.items() if other != name}
