"""Which rule of storage holds for an object.

Source: managed-resources §8.6; decision "steady state".
"""

import base64
from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.equivalences import group_of
from hedgerow.resource_manager.managed_resources.stored import policies, services, workloads
from hedgerow.resource_manager.managed_resources.stored.rules import AS_SENT, Stored

_RBAC: Final = "rbac.authorization.k8s.io"
_WEBHOOKS: Final = "admissionregistration.k8s.io"

_RULES: Final[Mapping[tuple[str, str], Stored]] = {
    ("", "LimitRange"): policies.LIMIT_RANGE,
    ("", "Namespace"): policies.NAMESPACE,
    ("", "PersistentVolume"): policies.PERSISTENT_VOLUME,
    ("", "PersistentVolumeClaim"): policies.PERSISTENT_VOLUME_CLAIM,
    ("", "ResourceQuota"): policies.RESOURCE_QUOTA,
    ("", "Secret"): policies.SECRET,
    ("", "Service"): services.SERVICE,
    (_WEBHOOKS, "MutatingWebhookConfiguration"): policies.MUTATING_WEBHOOKS,
    (_WEBHOOKS, "ValidatingWebhookConfiguration"): policies.VALIDATING_WEBHOOKS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): policies.CUSTOM_RESOURCE_DEFINITION,
    ("apiregistration.k8s.io", "APIService"): policies.API_SERVICE,
    ("apps", "DaemonSet"): workloads.DAEMON_SET,
    ("apps", "Deployment"): workloads.DEPLOYMENT,
    ("apps", "ReplicaSet"): workloads.REPLICA_SET,
    ("apps", "StatefulSet"): workloads.STATEFUL_SET,
    ("autoscaling", "HorizontalPodAutoscaler"): policies.HORIZONTAL_POD_AUTOSCALER,
    ("batch", "CronJob"): workloads.CRON_JOB,
    ("batch", "Job"): workloads.JOB,
    ("networking.k8s.io", "Ingress"): services.INGRESS,
    ("networking.k8s.io", "IngressClass"): services.INGRESS_CLASS,
    ("networking.k8s.io", "NetworkPolicy"): services.NETWORK_POLICY,
    (_RBAC, "ClusterRoleBinding"): policies.ROLE_BINDING,
    (_RBAC, "RoleBinding"): policies.ROLE_BINDING,
    ("scheduling.k8s.io", "PriorityClass"): policies.PRIORITY_CLASS,
    ("storage.k8s.io", "StorageClass"): policies.STORAGE_CLASS,
}

_PAYLOADS: Final = {"ConfigMap": frozenset({"binaryData", "data"}), "Secret": frozenset({"data"})}
"""Members that are maps of texts, for which no null is ever stored."""


def stored_rule(manifest: Manifest) -> Stored:
    """How an object is stored; that of an unknown kind as it is sent."""
    kind = (group_of(str(manifest.get("apiVersion") or "")), str(manifest.get("kind") or ""))
    if kind == (_RBAC, "ClusterRole") and manifest.get("aggregationRule"):
        return policies.AGGREGATED_ROLE
    return _RULES.get(kind, AS_SENT)


def as_readable(manifest: Manifest) -> Manifest:
    """The object as the server hands it back where it is not as it was sent.

    In maps of texts null is the empty text, and a Secret's texts become data.
    """
    payload = _PAYLOADS.get(str(manifest.get("kind"))) if manifest.get("apiVersion") == "v1" else None
    if payload is None:
        return manifest
    readable: dict[str, Any] = {**manifest, **{name: _without_nulls(manifest[name]) for name in payload & {*manifest}}}
    texts = _without_nulls(manifest.get("stringData"))
    if manifest["kind"] == "Secret" and isinstance(texts, (dict, Mapping)):
        data = readable.get("data")
        encoded = {name: _encoded(text) for name, text in texts.items()}
        readable["data"] = {**data, **encoded} if isinstance(data, (dict, Mapping)) else encoded
        del readable["stringData"]
    return readable


def _without_nulls(texts: Any) -> Any:
    if not isinstance(texts, (dict, Mapping)) or None not in texts.values():
        return texts
    return {name: "" if text is None else text for name, text in texts.items()}


def _encoded(text: Any) -> Any:
    return base64.b64encode(text.encode(errors="surrogatepass")).decode() if isinstance(text, str) else text
