"""The webhooks that change an object by what it says itself: each is a list of rules, and looks nothing up.

Which objects they are called for is decided by the registration, by labels for the most part.

Source: webhooks-and-tokens §6.1, §6.3, §6.5, §6.6, §7, §11.2.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Decision, MutationRule, Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import ENDPOINT_SLICES, PODS, SECRETS
from hedgerow.api.tokens import CONSIDER, INVALIDATED, TOKEN_INVALIDATOR
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.reading import list_at, object_at, objects_at, text_at, with_each, with_value, without
from hedgerow.machinery.snapshot import Snapshot

DEFAULT_SCHEDULER: Final = "default-scheduler"
"""The API server writes this where a pod names no scheduler, so naming it means nothing."""
SECCOMP_PROFILE: Final = ("spec", "securityContext", "seccompProfile")
SERVICE_HOST: Final = "KUBERNETES_SERVICE_HOST"
POD_TEMPLATE_HASH: Final = "pod-template-hash"


def _defaulter(name: str, path: str, resource: Resource, *rules: MutationRule) -> Webhook:
    def review(request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
        return apply_rules(request.object, rules)

    return Webhook(name, f"/webhooks/{path}", mutating(resource, review))


def kubernetes_service_host(host: str) -> Webhook:
    """Containers reach the API server by a host name, unless they set the variable themselves (§6.1)."""
    variable = {"name": SERVICE_HOST, "value": host}

    def with_host(container: Mapping[str, Any]) -> Mapping[str, Any]:
        if SERVICE_HOST in [each.get("name") for each in objects_at(container, "env")]:
            return container
        return with_value(container, ("env",), [*list_at(container, "env"), variable])

    def with_hosts(pod: Manifest) -> Manifest:
        return with_each(with_each(pod, ("spec", "initContainers"), with_host), ("spec", "containers"), with_host)

    return _defaulter("kubernetes-service-host", "kubernetes-service-host", PODS, ("service-host", with_hosts))


def pod_scheduler_name(scheduler_name: str) -> Webhook:
    """The configured scheduler places pods that ask for none (§6.5)."""

    def with_scheduler(pod: Manifest) -> Manifest:
        named = text_at(pod, "spec", "schedulerName") or DEFAULT_SCHEDULER
        if named != DEFAULT_SCHEDULER or scheduler_name == DEFAULT_SCHEDULER:
            return pod
        return with_value(pod, ("spec", "schedulerName"), scheduler_name)

    return _defaulter("pod-scheduler-name", "default-pod-scheduler-name", PODS, ("scheduler-name", with_scheduler))


def seccomp_profile() -> Webhook:
    """Pods without a seccomp profile run with the container runtime's; profiles of containers do not count (§6.6)."""
    return _defaulter("seccomp-profile", "seccomp-profile", PODS, ("runtime-default", _with_runtime_default))


def _with_runtime_default(pod: Manifest) -> Manifest:
    return (
        pod if text_at(pod, *SECCOMP_PROFILE, "type") else with_value(pod, SECCOMP_PROFILE, {"type": "RuntimeDefault"})
    )


def pod_topology_spread_constraints() -> Webhook:
    """Spread constraints count the pods of the same ReplicaSet, and not those that a rollout leaves behind (§6.3)."""
    name = "pod-topology-spread-constraints"
    return _defaulter(name, name, PODS, (POD_TEMPLATE_HASH, _counting_its_own_replica_set))


def _counting_its_own_replica_set(pod: Manifest) -> Manifest:
    """The pod whose constraints select its own template hash; an empty hash is one."""
    template_hash = text_at(pod, "metadata", "labels", POD_TEMPLATE_HASH)
    if template_hash is None:
        return pod

    def with_hash(constraint: Mapping[str, Any]) -> Mapping[str, Any]:
        if _selects_a_hash(constraint):
            return constraint
        return with_value(constraint, ("labelSelector", "matchLabels", POD_TEMPLATE_HASH), template_hash)

    return with_each(pod, ("spec", "topologySpreadConstraints"), with_hash)


def _selects_a_hash(constraint: Mapping[str, Any]) -> bool:
    """True if a constraint names the template hashes that it counts; to ask for any hash is not enough."""
    return POD_TEMPLATE_HASH in object_at(constraint, "labelSelector", "matchLabels") or any(
        expression.get("key") == POD_TEMPLATE_HASH and expression.get("operator") == "In"
        for expression in objects_at(constraint, "labelSelector", "matchExpressions")
    )


def endpoint_slice_hints() -> Webhook:
    """Every endpoint with a zone gets that zone as its only hint, so that topology-aware routing never changes (§7)."""
    name = "endpoint-slice-hints"
    return _defaulter(
        name, name, ENDPOINT_SLICES, ("own-zone", lambda each: with_each(each, ("endpoints",), _own_zone))
    )


def _own_zone(endpoint: Mapping[str, Any]) -> Mapping[str, Any]:
    zone = text_at(endpoint, "zone")
    hints = {"forZones": [{"name": zone}]}
    return with_value(endpoint, ("hints",), hints) if zone and endpoint.get("hints") != hints else endpoint


def token_invalidator() -> Webhook:
    """The token in a labelled Secret is overwritten; an overwritten one is removed once the label is gone (§11.2)."""
    rules = (("invalidate-token", _invalidated), ("revoke-invalidation", _revoked))
    return _defaulter(TOKEN_INVALIDATOR, "invalidate-service-account-token-secret", SECRETS, *rules)


def _invalidated(secret: Manifest) -> Manifest:
    """The labelled Secret with an invalid token, unless it has no data at all."""
    if secret.get("data") is None or not _is_labelled(secret) or _token(secret) == INVALIDATED:
        return secret
    return with_value(secret, ("data", "token"), INVALIDATED)


def _revoked(secret: Manifest) -> Manifest:
    """The unlabelled Secret without an invalid token, so that Kubernetes issues a new one."""
    return secret if _token(secret) != INVALIDATED or _is_labelled(secret) else without(secret, ("data", "token"))


def _is_labelled(secret: Manifest) -> bool:
    return CONSIDER in object_at(secret, "metadata", "labels")


def _token(secret: Manifest) -> object:
    return object_at(secret, "data").get("token")
