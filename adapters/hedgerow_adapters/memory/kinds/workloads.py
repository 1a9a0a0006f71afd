"""Deployments, StatefulSets and DaemonSets: what is read and written of them is completed and checked.

Source: Kubernetes API, Deployment, StatefulSet and DaemonSet of apps/v1.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest, annotations_of, labels_of
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector
from hedgerow_adapters.memory.field_errors import FieldError, invalid, required
from hedgerow_adapters.memory.kinds import pods
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, differs
from hedgerow_adapters.memory.kinds.label_selectors import LABEL_SELECTOR, label_selector_errors
from hedgerow_adapters.memory.shapes import anything, number, open_structure

_FIELDS: Final = {
    "spec": open_structure(
        {
            "replicas": number,
            "selector": LABEL_SELECTOR,
            "template": pods.POD_TEMPLATE,
            **dict.fromkeys(("strategy", "updateStrategy"), open_structure({"rollingUpdate": open_structure({})})),
        }
    ),
    "status": anything,
}
_QUARTER: Final = "25%"


def complete_deployment(deployment: Fields, _old: Manifest | None) -> None:
    """One replica, replaced step by step."""
    spec = _completed_spec(deployment)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", _QUARTER)
        rolling.setdefault("maxSurge", _QUARTER)


def complete_stateful_set(stateful_set: Fields, _old: Manifest | None) -> None:
    """One replica, replaced one after the other; its volumes outlive it."""
    spec = _completed_spec(stateful_set)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Retain", "whenScaled": "Retain"})
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)


def complete_daemon_set(daemon_set: Fields, _old: Manifest | None) -> None:
    """A pod on every node, replaced one node after the other."""
    spec = _completed_template(daemon_set)
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)


def _completed_spec(workload: Fields) -> Fields:
    spec = _completed_template(workload)
    spec.setdefault("replicas", 1)
    return spec


def _completed_template(workload: Fields) -> Fields:
    spec: Fields = workload.setdefault("spec", {})
    spec.setdefault("revisionHistoryLimit", 10)
    template = spec.setdefault("template", {})
    template.setdefault("metadata", {})
    pods.complete_spec(template.setdefault("spec", {}))
    return spec


def errors(workload: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """Replicas are counted, and the selector, which never changes, selects the pods of the template."""
    spec = workload["spec"]
    if spec.get("replicas", 0) < 0:
        yield invalid("spec.replicas", spec["replicas"], "must be greater than or equal to 0")
    yield from _selector_errors(spec, workload["kind"])
    yield from pods.spec_errors(spec["template"]["spec"], "spec.template.spec")
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
    fields=_FIELDS,
    defaults=complete_deployment,
    rules=errors,
    has_status=True,
    has_scale=True,
    initial_status={},
    has_generation=True,
    spec_differs=_deployment_differs,
)
STATEFUL_SETS: Final = Kind(
    kubernetes.STATEFUL_SETS,
    fields=_FIELDS,
    defaults=complete_stateful_set,
    rules=errors,
    has_status=True,
    has_scale=True,
    initial_status={"replicas": 0, "availableReplicas": 0},
    has_generation=True,
)
DAEMON_SETS: Final = Kind(
    kubernetes.DAEMON_SETS,
    fields=_FIELDS,
    defaults=complete_daemon_set,
    rules=errors,
    has_status=True,
    initial_status={
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    has_generation=True,
)
