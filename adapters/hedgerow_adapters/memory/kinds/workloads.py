"""Pods, Deployments, StatefulSets and DaemonSets: what is read and written of them is completed and checked.

A new Pod also gets what the admission plugins of a real server add to it.
Source: Kubernetes API, Pod of v1; Deployment, StatefulSet and DaemonSet of apps/v1.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.api.kubernetes import NOT_READY, UNREACHABLE
from hedgerow.machinery.objects import Manifest, annotations_of, labels_of
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector
from hedgerow_adapters.memory.field_errors import FieldError, invalid, missing, required
from hedgerow_adapters.memory.kinds.fields import LABEL_SELECTOR, label_selector_errors
from hedgerow_adapters.memory.kinds.kind import Defaulting, Fields, Kind, differs, fill
from hedgerow_adapters.memory.shapes import anything, list_of, number, open_structure, text, text_map

_CONTAINERS: Final = list_of(
    open_structure(
        {**dict.fromkeys(("name", "image"), text), **dict.fromkeys(("ports", "env"), list_of(open_structure({})))}
    )
)
POD_SPEC: Final = open_structure(
    {
        **dict.fromkeys(("containers", "initContainers"), _CONTAINERS),
        **dict.fromkeys(("tolerations", "topologySpreadConstraints", "volumes"), list_of(open_structure({}))),
        **dict.fromkeys(("restartPolicy", "dnsPolicy", "schedulerName", "serviceAccountName"), text),
        "nodeSelector": text_map,
        "securityContext": open_structure({}),
    }
)
POD_TEMPLATE: Final = open_structure(
    {"metadata": open_structure(dict.fromkeys(("labels", "annotations"), text_map)), "spec": POD_SPEC}
)
_SECONDS_ON_A_FAILING_NODE: Final = 300
_FAILURES: Final = (NOT_READY, UNREACHABLE)
_CONTAINER: Final = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "ports[]": {"protocol": "TCP"},
}


_POD_SPEC: Final = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "initContainers[]": _CONTAINER,
    "containers[]": _CONTAINER,
}
_TEMPLATE: Final = {"metadata": {}, "spec": _POD_SPEC}


def complete_pod(pod: Fields, old: Manifest | None) -> None:
    """What every pod spec gets; a new Pod also tolerates failing nodes for a while, and has the priority 0."""
    fill(pod, {"spec?": {**_POD_SPEC, "enableServiceLinks": True}})
    _complete_spec(pod.get("spec", {}))
    if old is None and "spec" in pod:
        _complete_new(pod["spec"])


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


def _complete_new(spec: Fields) -> None:
    fill(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    tolerations = spec.get("tolerations", [])
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS_ON_A_FAILING_NODE}
        for key in _FAILURES
        if not any(_tolerates(toleration, key) for toleration in tolerations)
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _tolerates(toleration: Manifest, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")


PODS: Final = Kind(
    kubernetes.PODS,
    fields={"spec": POD_SPEC, "status": anything},
    selectable=(
        *(f"spec.{field}" for field in ("nodeName", "restartPolicy", "schedulerName", "serviceAccountName")),
        *(f"status.{field}" for field in ("phase", "podIP", "nominatedNodeName")),
    ),
    defaults=complete_pod,
    has_status=True,
    initial_status={"phase": "Pending"},
    has_generation=True,
    answers_deleted_object=True,
)


_WORKLOAD: Final = {
    "spec": open_structure(
        {
            "replicas": number,
            "selector": LABEL_SELECTOR,
            "template": POD_TEMPLATE,
            **dict.fromkeys(("strategy", "updateStrategy"), open_structure({"rollingUpdate": open_structure({})})),
        }
    ),
    "status": anything,
}


def _workload_defaults(strategy: str, rolling: Mapping[str, Any], **others: Any) -> Defaulting:
    """The defaulting of a kind of workloads.

    Args:
        strategy: the name of the field that says how pods are replaced.
        rolling: how they are if they are replaced step by step.
        others: further values of the spec.
    """
    spec = {**others, "revisionHistoryLimit": 10, "template": _TEMPLATE, strategy: {"type": "RollingUpdate"}}

    def complete(workload: Fields, _old: Manifest | None) -> None:
        fill(workload, {"spec": spec})
        _complete_spec(workload["spec"]["template"]["spec"])
        if workload["spec"][strategy]["type"] == "RollingUpdate":
            fill(workload["spec"][strategy], {"rollingUpdate": rolling})

    return complete


def workload_errors(workload: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """Replicas are counted, and the selector, which never changes, selects the pods of the template."""
    spec = workload["spec"]
    if spec.get("replicas", 0) < 0:
        yield invalid("spec.replicas", spec["replicas"], "must be greater than or equal to 0")
    yield from _selector_errors(spec, workload["kind"])
    yield from missing(spec["template"]["spec"], "spec.template.spec", "containers")
    if old is not None and spec.get("selector") != old["spec"].get("selector"):
        yield invalid("spec.selector", spec.get("selector"), "field is immutable")


def _selector_errors(spec: Manifest, kind: str) -> Iterator[FieldError]:
    selector, labels = spec.get("selector"), labels_of(spec["template"])
    if selector is None:
        yield required("spec.selector")
        return
    yield from label_selector_errors(selector, "spec.selector")
    if not selector:
        yield invalid("spec.selector", selector, f"empty selector is invalid for {kind.lower()}")
    elif not parse_label_selector(selector).value_or(LabelSelector()).matches(labels):
        problem = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", dict(labels), problem)


def _deployment_differs(given: Any, new: Manifest, old: Manifest) -> bool:
    """Annotations of a Deployment count as part of its spec."""
    return differs(given, new, old) or annotations_of(new) != annotations_of(old)


DEPLOYMENTS: Final = Kind(
    kubernetes.DEPLOYMENTS,
    fields=_WORKLOAD,
    defaults=_workload_defaults(
        "strategy", {"maxUnavailable": "25%", "maxSurge": "25%"}, replicas=1, progressDeadlineSeconds=600
    ),
    rules=workload_errors,
    has_status=True,
    has_scale=True,
    initial_status={},
    has_generation=True,
    spec_differs=_deployment_differs,
)
STATEFUL_SETS: Final = Kind(
    kubernetes.STATEFUL_SETS,
    fields=_WORKLOAD,
    defaults=_workload_defaults(
        "updateStrategy",
        {"partition": 0},
        replicas=1,
        podManagementPolicy="OrderedReady",
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"},
    ),
    rules=workload_errors,
    has_status=True,
    has_scale=True,
    initial_status={"replicas": 0, "availableReplicas": 0},
    has_generation=True,
)
DAEMON_SETS: Final = Kind(
    kubernetes.DAEMON_SETS,
    fields=_WORKLOAD,
    defaults=_workload_defaults("updateStrategy", {"maxUnavailable": 1, "maxSurge": 0}),
    rules=workload_errors,
    has_status=True,
    initial_status={
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    has_generation=True,
)
