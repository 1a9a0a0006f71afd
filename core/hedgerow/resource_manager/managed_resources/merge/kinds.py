"""The rules of the merge by kind.

The merge keeps live values that autoscalers or controllers have set, or that the API server has allocated.

It refuses label selectors with unknown fields, in the kinds that every API server has. An API server drops these
fields, and a selector that lost a letter is empty: a NetworkPolicy selects all pods, a webhook all objects.

Source: managed-resources §8.3, §8.4; decision "unknown field in an annotation's JSON", for manifests.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import RBAC
from hedgerow.api.references import group_kind_of
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import (
    UnreadableError,
    object_at,
    objects_at,
    text_at,
    texts_at,
    with_each,
    with_value,
    without,
)
from hedgerow.machinery.selectors import unknown_field_problems
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling

KindRule: TypeAlias = Callable[[Manifest, Manifest, Scaling], Manifest]
"""Merges an object of one kind with the live one; raises UnreadableError."""

_POD_TEMPLATE: Final = ("spec", "template")
_LOAD_BALANCER_ANNOTATIONS: Final = "loadbalancer.openstack.org"
"""Prefix of annotations in which a cloud controller records the load balancer of a Service."""


def kind_rule(desired: Manifest) -> KindRule | None:
    """The rule of an object's kind; raises UnreadableError for a version that cannot be merged."""
    kind, version = group_kind_of(desired), str(desired.get("apiVersion") or "").rpartition("/")[2]
    if kind == ("batch", "CronJob") and version not in {"v1", "v1beta1"}:
        raise UnreadableError(Problem("", f"cannot merge objects with gvk: batch/{version}, Kind=CronJob"))
    return _RULES.get(kind)


def _deployment(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """Replicas stay if the manifest omits them or they are scaled."""
    if scaling.replicas or object_at(desired, "spec").get("replicas") is None:
        desired = _with_live_value(desired, live, "spec", "replicas")
    return _with_live_resources(desired, live, scaling)


def _stateful_set(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """Like a Deployment; claim templates are immutable once it exists."""
    merged = _deployment(desired, live, scaling)
    if object_at(live, "metadata").get("creationTimestamp"):
        return _with_live_value(merged, live, "spec", "volumeClaimTemplates")
    return merged


def _job(desired: Manifest, live: Manifest, scaling: Scaling) -> Manifest:
    """The selector and the template labels that the API server generated are immutable."""
    merged = _with_live_value(desired, live, "spec", "selector")
    path = (*_POD_TEMPLATE, "metadata", "labels")
    if labels := {**texts_at(live, *path), **texts_at(desired, *path)}:
        merged = with_value(merged, path, labels)
    return _with_live_resources(merged, live, scaling)


def _service_account(desired: Manifest, live: Manifest, _: Scaling) -> Manifest:
    """Controllers add the Secrets of a ServiceAccount."""
    return _with_live_value(_with_live_value(desired, live, "secrets"), live, "imagePullSecrets")


def _with_live_value(desired: Manifest, live: Manifest, *path: str) -> Manifest:
    """The desired object with the live value at a path, which may be none."""
    value = object_at(live, *path[:-1]).get(path[-1])
    present = path[-1] in object_at(desired, *path[:-1])  # which also checks that with_value may descend
    if value is not None:
        return with_value(desired, path, value)
    return without(desired, path) if present else desired


def _with_live_resources(
    desired: Manifest, live: Manifest, scaling: Scaling, template: Sequence[str] = _POD_TEMPLATE
) -> Manifest:
    """The desired object with the processor and memory of the live containers, if these are scaled."""
    if not scaling.resources:
        return desired
    path = (*template, "spec", "containers")
    containers = {str(container.get("name") or ""): container for container in objects_at(live, *path)}
    return with_each(desired, path, lambda each: _resized(each, containers.get(text_at(each, "name") or "", {})))


def _resized(container: Manifest, live: Manifest) -> Manifest:
    for amounts in ("requests", "limits"):
        path = ("resources", amounts)
        wanted, found = object_at(container, *path), object_at(live, *path)
        if scaled := {name: found[name] for name in ("cpu", "memory") if found.get(name) is not None}:
            container = with_value(container, path, {**wanted, **scaled})
    return container


def _service(desired: Manifest, live: Manifest, _: Scaling) -> Manifest:
    """Allocated addresses and ports stay as far as the type of the Service still uses them."""
    desired_type, live_type = (text_at(service, "spec", "type") or "ClusterIP" for service in (desired, live))
    merged: Manifest = with_value(_with_cloud_annotations(desired, live), ("spec", "type"), desired_type)
    if desired_type in {"LoadBalancer", "NodePort"}:
        allocated = objects_at(live, "spec", "ports")
        merged = with_each(merged, ("spec", "ports"), lambda port: _with_node_port(port, allocated))
        if not object_at(merged, "spec").get("loadBalancerIP"):
            merged = _with_live_value(merged, live, "spec", "loadBalancerIP")
    if desired_type == "ExternalName":
        return merged
    if live_type != "ExternalName" and object_at(merged, "spec").get("clusterIP") != "None":
        merged = _with_live_value(merged, live, "spec", "clusterIP")
    if desired_type == live_type == "LoadBalancer" and _has_allocated_health_check(merged, live):
        merged = _with_live_value(merged, live, "spec", "healthCheckNodePort")
    return merged


def _with_cloud_annotations(desired: Manifest, live: Manifest) -> Manifest:
    path = ("metadata", "annotations")
    found = texts_at(live, *path).items()
    recorded = {key: value for key, value in found if key.startswith(_LOAD_BALANCER_ANNOTATIONS)}
    return with_value(desired, path, {**recorded, **texts_at(desired, *path)}) if recorded else desired


def _with_node_port(port: Manifest, allocated: Sequence[Mapping[str, Any]]) -> Manifest:
    """A port without node port gets that of the last live port of the same number or name."""
    if port.get("nodePort"):
        return port
    name = port.get("name") or ""
    same = [each for each in allocated if each.get("port") == port.get("port") or (each.get("name") or "") == name]
    node_port = same[-1].get("nodePort") if same else None
    return {**port, "nodePort": node_port} if node_port else port


def _has_allocated_health_check(desired: Manifest, live: Manifest) -> bool:
    """True if both send traffic to local endpoints only, and the manifest names no port for the health check."""
    are_local = all(object_at(each, "spec").get("externalTrafficPolicy") == "Local" for each in (desired, live))
    return are_local and not object_at(desired, "spec").get("healthCheckNodePort")


_RULES: Final[Mapping[tuple[str, str], KindRule]] = {
    ("", "Service"): _service,
    ("", "ServiceAccount"): _service_account,
    ("apps", "DaemonSet"): _with_live_resources,
    ("apps", "Deployment"): _deployment,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "CronJob"): partial(_with_live_resources, template=("spec", "jobTemplate", "spec", "template")),
    ("batch", "Job"): _job,
    ("extensions", "Deployment"): _deployment,
    ("extensions", "StatefulSet"): _stateful_set,
}

_LIST: Final = "[]"
_ADMISSION: Final = "admissionregistration.k8s.io"
_PEERS: Final = ("podSelector", "namespaceSelector")
_MATCHES: Final = ("objectSelector", "namespaceSelector")
_WEBHOOKS: Final = tuple(f"webhooks[].{name}" for name in _MATCHES)
_CONSTRAINTS: Final = tuple(f"spec.matchConstraints.{name}" for name in _MATCHES)
_BINDINGS: Final = (*(f"spec.matchResources.{name}" for name in _MATCHES), "spec.paramRef.selector")

_SELECTORS: Final[Mapping[tuple[str, str], Sequence[str]]] = {
    ("networking.k8s.io", "NetworkPolicy"): (
        "spec.podSelector",
        *(f"spec.ingress[].from[].{name}" for name in _PEERS),
        *(f"spec.egress[].to[].{name}" for name in _PEERS),
    ),
    ("policy", "PodDisruptionBudget"): ("spec.selector",),
    (_ADMISSION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "MutatingAdmissionPolicy"): _CONSTRAINTS,
    (_ADMISSION, "ValidatingAdmissionPolicy"): _CONSTRAINTS,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): _BINDINGS,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): _BINDINGS,
    (RBAC, "ClusterRole"): ("aggregationRule.clusterRoleSelectors[]",),
    **{("apps", kind): ("spec.selector",) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")},
}
"""Where each kind has label selectors; that of a Job stays as the API server generated it."""


def selector_problem(manifest: Manifest) -> Problem | None:
    """The first unknown field in a label selector; the API server refuses selectors of another shape."""
    for path in _SELECTORS.get(group_kind_of(manifest), ()):
        for field, selector in _values_at(manifest, path.split("."), ""):
            for problem in unknown_field_problems(selector, field):
                return problem
    return None


def _values_at(value: Any, path: Sequence[str], field: str) -> Iterator[tuple[str, Any]]:
    """The values at a path, each with the path that has the indexes of the items on the way."""
    if not path:
        yield field, value
        return
    name = path[0].removesuffix(_LIST)
    member = value.get(name) if isinstance(value, Mapping) else None
    at = f"{field}.{name}" if field else name
    if not path[0].endswith(_LIST):
        yield from _values_at(member, path[1:], at)
    elif isinstance(member, list):
        for index, item in enumerate(member):
            yield from _values_at(item, path[1:], f"{at}[{index}]")
