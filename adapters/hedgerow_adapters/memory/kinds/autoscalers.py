"""HorizontalPodAutoscalers in both versions that are served: stored as autoscaling/v2, converted for autoscaling/v1.

Of metrics, v1 knows the utilization of the CPU alone; others are lost to who writes v1, as the annotations in which a
server keeps them are not made here.

Source: Kubernetes API, HorizontalPodAutoscaler of autoscaling/v1 and v2.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS as V2
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, at_least, forbidden, invalid, needed, required
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import anything, number, text

_V1: Final = V2._replace(version="v1")
_UTILIZATION: Final = 80
"""Percentage of the CPU aimed at where nothing is said."""
_SPEC: Final = {
    "scaleTargetRef": dict.fromkeys(("apiVersion", "kind", "name"), text),
    "minReplicas": number,
    "maxReplicas": number,
}
_DEFAULTS: Final = {"scaleTargetRef": {}, "minReplicas": 1, "maxReplicas": 0}
_RULES: Final = {
    "spec.scaleTargetRef.kind": needed,
    "spec.scaleTargetRef.name": needed,
    "spec.minReplicas": at_least(1),
}


def _errors(autoscaler: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    least, most = autoscaler["spec"]["minReplicas"], autoscaler["spec"]["maxReplicas"]
    if least == 0:
        problem = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden("spec.metrics", problem)
    if most < 1:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    if most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")


def _cpu_metric(utilization: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": utilization}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _complete(autoscaler: Fields, _old: Manifest | None) -> None:
    if not autoscaler["spec"].get("metrics"):
        autoscaler["spec"]["metrics"] = [_cpu_metric(_UTILIZATION)]


def _as_v1(autoscaler: Manifest) -> Manifest:
    spec = {name: value for name, value in autoscaler["spec"].items() if name not in ("metrics", "behavior")}
    for metric in autoscaler["spec"].get("metrics", ()):
        match metric:
            case {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": utilization}}}:
                spec["targetCPUUtilizationPercentage"] = utilization
    return {**autoscaler, "apiVersion": _V1.api_version, "spec": spec}


def _as_v2(autoscaler: Manifest) -> Manifest:
    spec = dict(autoscaler["spec"])
    utilization = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = {} if utilization is None else {"metrics": [_cpu_metric(utilization)]}
    return {**autoscaler, "apiVersion": V2.api_version, "spec": {**spec, **metrics}}


AUTOSCALERS: Final = Kind(
    V2,
    fields={"spec": {**_SPEC, "metrics": anything, "behavior": anything}, "status": anything},
    defaults={"spec": _DEFAULTS},
    completion=_complete,
    field_rules=_RULES,
    rules=_errors,
    has_status=True,
    initial_status={"currentMetrics": None, "desiredReplicas": 0},
)
AUTOSCALERS_V1: Final = Kind(
    _V1,
    fields={"spec": {**_SPEC, "targetCPUUtilizationPercentage": number}, "status": anything},
    defaults={"spec": {**_DEFAULTS, "targetCPUUtilizationPercentage": _UTILIZATION}},
    field_rules=_RULES,
    rules=_errors,
    has_status=True,
    initial_status={"currentReplicas": 0, "desiredReplicas": 0},
    storage=V2,
    to_stored=_as_v2,
    from_stored=_as_v1,
)
