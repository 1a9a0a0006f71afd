"""The replicas of a workload as a subresource of their own: a Scale of autoscaling/v1, made from it and put back."""

from typing import Any, Final

from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.selectors import parse_label_selector, selector_query
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.shapes import nonzero, structure

_SCALED: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_kind(workload: Kind) -> Kind:
    """The type of the Scale of a workload: another object in the place of the workload."""
    resource = workload.resource
    return Kind(
        Resource("autoscaling", "v1", resource.plural, "Scale", namespaced=resource.namespaced),
        fields={"spec": structure({"replicas": nonzero}), "status": structure({})},
    )


def scale_of(workload: Manifest) -> dict[str, Any]:
    """The Scale of a workload."""
    replicas, observed = workload["spec"]["replicas"], workload.get("status", {}).get("replicas", 0)
    selector = parse_label_selector(workload["spec"]["selector"]).map(selector_query).value_or("")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: value for name, value in workload["metadata"].items() if name in _SCALED},
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": observed, "selector": selector},
    }


def with_scale(workload: Manifest, scale: Manifest) -> dict[str, Any]:
    """The workload with the replicas of a Scale, which may say for which version it was made."""
    metadata = {**workload["metadata"], **_given_version(scale)}
    replicas = scale.get("spec", {}).get("replicas", 0)
    return {**workload, "metadata": metadata, "spec": {**workload["spec"], "replicas": replicas}}


def scale_errors(scale: Manifest) -> tuple[FieldError, ...]:
    """What is wrong with a Scale."""
    replicas = scale.get("spec", {}).get("replicas", 0)
    if replicas >= 0:
        return ()
    return (invalid("spec.replicas", replicas, "must be greater than or equal to 0"),)


def _given_version(scale: Manifest) -> dict[str, str]:
    version = scale["metadata"].get("resourceVersion")
    return {"resourceVersion": version} if version else {}
