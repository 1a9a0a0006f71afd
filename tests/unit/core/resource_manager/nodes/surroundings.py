"""A new node and what is critical for it, as an API server stores it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hedgerow.api.kubernetes import CSI_NODES, DAEMON_SETS, NODES, PODS
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.resource_manager.nodes import NodeConfig, node_controller
from tests.unit.core.resource_manager.turns import Clusters, Course, take_turn

NODE: Final = ObjectKey("", "node-1")
TAINT: Final = "node.gardener.cloud/critical-components-not-ready"
LABEL: Final = "node.gardener.cloud/critical-component"
CRITICAL: Final = {LABEL: "true"}
CSI: Final = "node.gardener.cloud/wait-for-csi-node-"
EVERYTHING: Final = ({"operator": "Exists"},)
ONLY_THE_TAINT: Final = ({"key": TAINT, "operator": "Exists"},)


def taint(key: str = TAINT, effect: str = "NoSchedule", **more: str) -> dict[str, str]:
    return {"key": key, "effect": effect, **more}


def node(*taints: Mapping[str, str], labels: Mapping[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    """The node, which has the taint unless others are given."""
    all_labels = {"kubernetes.io/os": "linux", **(labels or {})}
    identity = {"name": "node-1", "uid": "node-uid", "resourceVersion": "7", "labels": all_labels}
    return {"metadata": {**identity, **metadata}, "spec": {"taints": list(taints) or [taint()]}}


def daemon_set(
    name: str,
    namespace: str = "kube-system",
    *,
    labels: Mapping[str, str] = CRITICAL,
    template_labels: Mapping[str, str] = CRITICAL,
    tolerations: Sequence[Manifest] = EVERYTHING,
    **pod_spec: Any,
) -> dict[str, Any]:
    spec = {"tolerations": list(tolerations), **pod_spec}
    return {
        "metadata": {"namespace": namespace, "name": name, "uid": f"{namespace}/{name}", "labels": dict(labels)},
        "spec": {"template": {"metadata": {"labels": dict(template_labels)}, "spec": spec}},
    }


DS1: Final = daemon_set("critical1")
DS2: Final = daemon_set("critical2", "default")


def affinity(*terms: Manifest) -> dict[str, Any]:
    """The required affinity of a pod spec."""
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def label_term(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def name_term(operator: str, *values: str, key: str = "metadata.name") -> dict[str, Any]:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


def pod(
    name: str,
    of: Manifest | None = None,
    *,
    ready: bool | None = True,
    on: str = "node-1",
    labels: Mapping[str, str] = CRITICAL,
    csi: Mapping[str, str] | None = None,
    owner_version: str = "apps/v1",
) -> dict[str, Any]:
    """A pod of a DaemonSet, or of nobody; it is ready, unless it is not, or says nothing (none) of it."""
    metadata: dict[str, Any] = {"namespace": "default", "name": name, "labels": dict(labels)}
    metadata["annotations"] = {f"{CSI}{suffix}": driver for suffix, driver in (csi or {}).items()}
    if of is not None:
        owner = {"name": of["metadata"]["name"], "uid": of["metadata"]["uid"], "controller": True}
        metadata["ownerReferences"] = [{"apiVersion": owner_version, "kind": "DaemonSet", **owner}]
    conditions = [] if ready is None else [{"type": "Ready", "status": str(ready)}]
    return {"metadata": metadata, "spec": {"nodeName": on}, "status": {"conditions": conditions}}


def csi_node(*drivers: str) -> dict[str, Any]:
    return {"metadata": {"name": "node-1"}, "spec": {"drivers": [{"name": name} for name in drivers]}}


def cluster(
    *objects: Manifest, nodes: Iterable[Manifest] | None = None, csi_nodes: Iterable[Manifest] = ()
) -> Clusters:
    """The node among DaemonSets and pods."""

    def those(member: str) -> list[Manifest]:
        return [each for each in objects if member in each["spec"]]

    world: dict[Resource, Iterable[Manifest]] = {
        NODES: [node()] if nodes is None else nodes,
        DAEMON_SETS: those("template"),
        PODS: those("nodeName"),
        CSI_NODES: csi_nodes,
    }
    return Clusters.of(target=world)


def turn(clusters: Clusters, config: NodeConfig | None = None) -> Course:
    return take_turn(clusters, node_controller(config or NodeConfig()), NODE)


def taints_of(clusters: Clusters) -> list[str]:
    """The keys of the taints that the node has."""
    return [each["key"] for each in clusters.target[NODES][NODE]["spec"].get("taints") or ()]


def told(course: Course) -> list[tuple[str, str, str]]:
    """Type, reason and note of the events."""
    return [(event.type, event.reason, event.note) for event in course.events]
