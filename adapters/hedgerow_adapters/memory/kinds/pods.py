"""Pods, and the templates of pods, as the API server completes them; it adds what its own admission adds to a Pod."""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, required
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import anything, list_of, open_structure, text, text_map

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
_FAILURES: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_DEFAULTS: Final = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
}
_CONTAINER: Final = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}


def complete(pod: Fields, old: Manifest | None) -> None:
    """What every pod spec gets; a new Pod also tolerates failing nodes for a while, and has the priority 0."""
    if "spec" not in pod:
        return
    spec = pod["spec"]
    complete_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    if old is None:
        _complete_new(spec)


def complete_spec(spec: Fields) -> None:
    """The defaults of a pod spec, in place."""
    for name, value in _DEFAULTS.items():
        spec.setdefault(name, value)
    spec.setdefault("securityContext", {})
    if "serviceAccountName" in spec:
        spec["serviceAccount"] = spec["serviceAccountName"]
    for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        for name, value in _CONTAINER.items():
            container.setdefault(name, value)
        container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
        container.setdefault("resources", {})
        for port in container.get("ports", ()):
            port.setdefault("protocol", "TCP")


def _pull_policy(image: str) -> str:
    """An image whose tag may mean another one tomorrow is always pulled."""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    return "Always" if tag in ("", "latest") and "@" not in image else "IfNotPresent"


def _complete_new(spec: Fields) -> None:
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    tolerations = spec.get("tolerations", [])
    added = [_toleration(key) for key in _FAILURES if not any(_tolerates(each, key) for each in tolerations)]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _toleration(key: str) -> dict[str, Any]:
    return {
        "key": key,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": _SECONDS_ON_A_FAILING_NODE,
    }


def _tolerates(toleration: Manifest, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")


def spec_errors(spec: Manifest, path: str) -> Iterator[FieldError]:
    """A pod has containers; more is not looked at."""
    if not spec.get("containers"):
        yield required(f"{path}.containers")


PODS: Final = Kind(
    kubernetes.PODS,
    fields={"spec": POD_SPEC, "status": anything},
    selectable=(
        *(f"spec.{field}" for field in ("nodeName", "restartPolicy", "schedulerName", "serviceAccountName")),
        *(f"status.{field}" for field in ("phase", "podIP", "nominatedNodeName")),
    ),
    defaults=complete,
    has_status=True,
    initial_status={"phase": "Pending"},
    has_generation=True,
    answers_deleted_object=True,
)
