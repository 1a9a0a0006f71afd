"""HorizontalPodAutoscalers in both versions that are served: stored as autoscaling/v2, converted for autoscaling/v1.

Of metrics, v1 knows the utilization of the CPU alone; others are lost to who writes v1, as the annotations in which a
server keeps them are not made here.

Source: Kubernetes API, HorizontalPodAutoscaler of autoscaling/v1 and v2.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, forbidden, invalid, missing, required
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, fill, filled
from hedgerow_adapters.memory.shapes import anything, number, structure, text

V1: Final = Resource("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
V2: Final = HORIZONTAL_POD_AUTOSCALERS
UTILIZATION: Final = 80
"""Percentage of the CPU aimed at where nothing is said."""

_SPEC: Final = {
    "scaleTargetRef": structure(dict.fromkeys(("apiVersion", "kind", "name"), text)),
    "minReplicas": number,
    "maxReplicas": number,
}
_SPEC_V1: Final = structure({**_SPEC, "targetCPUUtilizationPercentage": number})
_SPEC_V2: Final = structure({**_SPEC, "metrics": anything, "behavior": anything})


def _cpu_metric(utilization: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": utilization}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


_DEFAULTS: Final = {"scaleTargetRef": {}, "minReplicas": 1, "maxReplicas": 0}


def complete_v2(autoscaler: Fields, _old: Manifest | None) -> None:
    """At least one replica, scaled by the CPU."""
    fill(autoscaler, {"spec": _DEFAULTS})
    if not autoscaler["spec"].get("metrics"):
        autoscaler["spec"]["metrics"] = [_cpu_metric(UTILIZATION)]


def as_v1(autoscaler: Manifest) -> Manifest:
    """A v2 autoscaler as v1 shows it."""
    spec = {name: value for name, value in autoscaler["spec"].items() if name not in ("metrics", "behavior")}
    for metric in autoscaler["spec"].get("metrics", ()):
        match metric:
            case {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": utilization}}}:
                spec["targetCPUUtilizationPercentage"] = utilization
    return {**autoscaler, "apiVersion": V1.api_version, "spec": spec}


def as_v2(autoscaler: Manifest) -> Manifest:
    """A v1 autoscaler as v2 shows it."""
    spec = dict(autoscaler["spec"])
    utilization = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = {} if utilization is None else {"metrics": [_cpu_metric(utilization)]}
    return {**autoscaler, "apiVersion": V2.api_version, "spec": {**spec, **metrics}}


def errors(autoscaler: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Something is scaled, between two bounds."""
    spec = autoscaler["spec"]
    least, most = spec["minReplicas"], spec["maxReplicas"]
    yield from missing(spec["scaleTargetRef"], "spec.scaleTargetRef", "kind", "name")
    if least < 1:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if least == 0:
        problem = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden("spec.metrics", problem)
    if most < 1:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    if most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")


AUTOSCALERS: Final = Kind(
    V2,
    fields={"spec": _SPEC_V2, "status": anything},
    defaults=complete_v2,
    rules=errors,
    has_status=True,
    initial_status={"currentMetrics": None, "desiredReplicas": 0},
)
AUTOSCALERS_V1: Final = Kind(
    V1,
    fields={"spec": _SPEC_V1, "status": anything},
    defaults=filled({"spec": {**_DEFAULTS, "targetCPUUtilizationPercentage": UTILIZATION}}),
    rules=errors,
    has_status=True,
    initial_status={"currentReplicas": 0, "desiredReplicas": 0},
    storage=V2,
    to_stored=as_v2,
    from_stored=as_v1,
)
