"""Pods, Deployments, StatefulSets and DaemonSets, and HorizontalPodAutoscalers in both versions that are served.

A new Pod also gets what the admission plugins of a real server add to it. Autoscalers are stored as autoscaling/v2, and
converted for autoscaling/v1. Of metrics, v1 knows the utilization of the CPU alone. Others are lost to who writes v1:
the annotations in which a server keeps them are not made here.

Source: Kubernetes API, Pod of v1; Deployment, StatefulSet and DaemonSet of apps/v1; HorizontalPodAutoscaler.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS as V2
from hedgerow.api.kubernetes import NOT_READY, UNREACHABLE
from hedgerow.machinery.objects import Manifest, Resource, annotations_of, labels_of
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector
from hedgerow_adapters.memory.field_errors import FieldError, forbidden, invalid, required
from hedgerow_adapters.memory.field_rules import at_least, needed
from hedgerow_adapters.memory.kinds.fields import LABEL_SELECTOR, label_selector_errors
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, differs, fill
from hedgerow_adapters.memory.shapes import OTHERS, anything, number, text, text_map

_ANY: Final = {OTHERS: anything}
_OPEN_LIST: Final = [_ANY]
_CONTAINERS: Final = [{**dict.fromkeys(("name", "image"), text), "ports": [_ANY], "env": [_ANY], **_ANY}]
_POD: Final = {
    **dict.fromkeys(("containers", "initContainers"), _CONTAINERS),
    **dict.fromkeys(("tolerations", "topologySpreadConstraints", "volumes"), _OPEN_LIST),
    **dict.fromkeys(("restartPolicy", "dnsPolicy", "schedulerName", "serviceAccountName"), text),
    "nodeSelector": text_map,
    "securityContext": _ANY,
    **_ANY,
}
_TEMPLATE: Final = {
    "metadata": {**dict.fromkeys(("labels", "annotations"), text_map), **_ANY},
    "spec": _POD,
    **_ANY,
}
_WORKLOAD: Final = {
    "replicas": number,
    "selector": LABEL_SELECTOR,
    "template": _TEMPLATE,
    "strategy": {"rollingUpdate": _ANY, **_ANY},
    "updateStrategy": {"rollingUpdate": _ANY, **_ANY},
    **_ANY,
}
_SECONDS_ON_A_FAILING_NODE: Final = 300
_CONTAINER: Final = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "ports[]": {"protocol": "TCP"},
}
_POD_DEFAULTS: Final = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "initContainers[]": _CONTAINER,
    "containers[]": _CONTAINER,
}


def _complete_spec(spec: Fields) -> None:
    """What in a pod spec follows from other fields."""
    if "serviceAccountName" in spec:
        spec["serviceAccount"] = spec["serviceAccountName"]
    for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
        container.setdefault("resources", {})


def _pull_policy(image: str) -> str:
    """An image whose tag may mean another one tomorrow is always pulled."""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    return "Always" if tag in ("", "latest") and "@" not in image else "IfNotPresent"


def _complete_pod(pod: Fields, old: Manifest | None) -> None:
    """A new Pod also tolerates failing nodes for a while, and has the priority 0."""
    spec = pod.get("spec", {})
    _complete_spec(spec)
    if old is not None or not spec:
        return
    fill(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    tolerations = spec.get("tolerations", [])
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS_ON_A_FAILING_NODE}
        for key in (NOT_READY, UNREACHABLE)
        if not any(
            toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")
            for toleration in tolerations
        )
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]


PODS: Final = Kind(
    kubernetes.PODS,
    fields={"spec": _POD, "status": anything},
    selectable=(
        *(f"spec.{field}" for field in ("nodeName", "restartPolicy", "schedulerName", "serviceAccountName")),
        *(f"status.{field}" for field in ("phase", "podIP", "nominatedNodeName")),
    ),
    defaults={"spec?": {**_POD_DEFAULTS, "enableServiceLinks": True}},
    completion=_complete_pod,
    has_status=True,
    initial_status={"phase": "Pending"},
    has_generation=True,
    answers_deleted_object=True,
)


def _workload_errors(workload: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    spec = workload["spec"]
    selector, labels = spec.get("selector"), labels_of(spec["template"])
    yield from label_selector_errors(selector or {}, "spec.selector")
    if selector is None:
        yield required("spec.selector")
    elif not selector:
        yield invalid("spec.selector", selector, f"empty selector is invalid for {workload['kind'].lower()}")
    elif not parse_label_selector(selector).value_or(LabelSelector()).matches(labels):
        problem = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", dict(labels), problem)
    if old is not None and selector != old["spec"].get("selector"):
        yield invalid("spec.selector", selector, "field is immutable")


def _deployment_differs(given: Any, new: Manifest, old: Manifest) -> bool:
    """Annotations of a Deployment count as part of its spec."""
    return differs(given, new, old) or annotations_of(new) != annotations_of(old)


def _workloads(
    resource: Resource, strategy: str, rolling: Mapping[str, Any], defaults: Mapping[str, Any], **habits: Any
) -> Kind:
    """A kind of workloads.

    Args:
        resource: of the kind.
        strategy: the name of the field that says how pods are replaced.
        rolling: how they are if they are replaced step by step.
        defaults: of further fields of the spec.
        habits: the rest of the declaration.
    """

    def complete(workload: Fields, _old: Manifest | None) -> None:
        _complete_spec(workload["spec"]["template"]["spec"])
        if workload["spec"][strategy]["type"] == "RollingUpdate":
            fill(workload["spec"][strategy], {"rollingUpdate": rolling})

    template = {"metadata": {}, "spec": _POD_DEFAULTS}
    spec = {**defaults, "revisionHistoryLimit": 10, "template": template, strategy: {"type": "RollingUpdate"}}
    return Kind(
        resource,
        fields={"spec": _WORKLOAD, "status": anything},
        defaults={"spec": spec},
        completion=complete,
        field_rules={"spec.replicas": at_least(0), "spec.template.spec.containers": needed},
        rules=_workload_errors,
        has_status=True,
        has_generation=True,
        **habits,
    )


DEPLOYMENTS: Final = _workloads(
    kubernetes.DEPLOYMENTS,
    "strategy",
    {"maxUnavailable": "25%", "maxSurge": "25%"},
    {"replicas": 1, "progressDeadlineSeconds": 600},
    has_scale=True,
    initial_status={},
    spec_differs=_deployment_differs,
)
STATEFUL_SETS: Final = _workloads(
    kubernetes.STATEFUL_SETS,
    "updateStrategy",
    {"partition": 0},
    {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    },
    has_scale=True,
    initial_status={"replicas": 0, "availableReplicas": 0},
)
DAEMON_SETS: Final = _workloads(
    kubernetes.DAEMON_SETS,
    "updateStrategy",
    {"maxUnavailable": 1, "maxSurge": 0},
    {},
    initial_status=dict.fromkeys(
        ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"), 0
    ),
)


_V1: Final = V2._replace(version="v1")
_UTILIZATION: Final = 80
"""Percentage of the CPU aimed at where nothing is said."""
_SCALING: Final = {
    "scaleTargetRef": dict.fromkeys(("apiVersion", "kind", "name"), text),
    "minReplicas": number,
    "maxReplicas": number,
}
_SCALING_DEFAULTS: Final = {"scaleTargetRef": {}, "minReplicas": 1, "maxReplicas": 0}
_SCALING_RULES: Final = {
    "spec.scaleTargetRef.kind": needed,
    "spec.scaleTargetRef.name": needed,
    "spec.minReplicas": at_least(1),
}


def _scaling_errors(autoscaler: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
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


def _complete_scaling(autoscaler: Fields, _old: Manifest | None) -> None:
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
    fields={"spec": {**_SCALING, "metrics": anything, "behavior": anything}, "status": anything},
    defaults={"spec": _SCALING_DEFAULTS},
    completion=_complete_scaling,
    field_rules=_SCALING_RULES,
    rules=_scaling_errors,
    has_status=True,
    initial_status={"currentMetrics": None, "desiredReplicas": 0},
)
AUTOSCALERS_V1: Final = Kind(
    _V1,
    fields={"spec": {**_SCALING, "targetCPUUtilizationPercentage": number}, "status": anything},
    defaults={"spec": {**_SCALING_DEFAULTS, "targetCPUUtilizationPercentage": _UTILIZATION}},
    field_rules=_SCALING_RULES,
    rules=_scaling_errors,
    has_status=True,
    initial_status={"currentReplicas": 0, "desiredReplicas": 0},
    storage=V2,
    to_stored=_as_v2,
    from_stored=_as_v1,
)
KINDS: Final = (PODS, DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, AUTOSCALERS, AUTOSCALERS_V1)
