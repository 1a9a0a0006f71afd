"""What is read of Nodes, DaemonSets, Pods and CSINodes, and nothing else of them.

Every function raises UnreadableError where something in an object has another shape than an API server stores.

Source: network-and-nodes §5.5, §5.8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hedgerow.api.gardener import CRITICAL_COMPONENT, CRITICAL_COMPONENTS_NOT_READY
from hedgerow.api.kubernetes import DAEMON_SETS
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of, resource_version_of, uid_of
from hedgerow.machinery.reading import boolean_at, object_at, objects_at, text_at, texts_at
from hedgerow.resource_manager.nodes.affinity import Term
from hedgerow.resource_manager.nodes.taints import Taint, Toleration

_KEPT_OF_NODE: Final = ("name", "uid", "resourceVersion", "labels")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class NodeView:
    """A Node, with what decides which pods are for it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    uid: str | None = None
    resource_version: str | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """What a pod template says of the nodes that its pods are for."""

    node_name: str = ""
    node_selector: Mapping[str, str] | None = None
    affinity: tuple[Term, ...] | None = None
    """The terms of the required one; none: there is none, which is not the same as one without terms."""
    tolerations: tuple[Toleration, ...] = ()
    host_network: bool = False


@dataclass(frozen=True, slots=True)
class DaemonSetView:
    """A DaemonSet that is labelled as critical."""

    key: ObjectKey
    uid: str
    makes_critical_pods: bool
    """Whether its template has the label as well."""
    placement: Placement = Placement()


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod that is labelled as critical."""

    key: ObjectKey
    is_ready: bool
    daemon_set: str | None = None
    """The uid of the DaemonSet that controls it."""
    annotations: Mapping[str, str] | None = None


def kept_of_node(node: Manifest) -> Manifest:
    """What caches hold of a Node."""
    metadata = node.get("metadata") or {}
    kept = {name: metadata[name] for name in _KEPT_OF_NODE if name in metadata}
    return {"metadata": kept, "spec": {"taints": (node.get("spec") or {}).get("taints")}}


def waits(node: Manifest) -> bool:
    """Whether a Node has the taint; one that nobody can read has none."""
    taints = (node.get("spec") or {}).get("taints")
    return isinstance(taints, list) and any(
        isinstance(each, Mapping) and each.get("key") == CRITICAL_COMPONENTS_NOT_READY for each in taints
    )


def node_view(node: Manifest) -> NodeView:
    """A Node as it is kept, or whole."""
    return NodeView(
        key_of(node).name,
        texts_at(node, "metadata", "labels"),
        tuple(map(Taint.of, objects_at(node, "spec", "taints"))),
        uid_of(node),
        resource_version_of(node),
    )


def daemon_set_view(daemon_set: Manifest) -> DaemonSetView:
    """A whole DaemonSet."""
    template = object_at(daemon_set, "spec", "template")
    is_labelled = texts_at(template, "metadata", "labels").get(CRITICAL_COMPONENT) == "true"
    return DaemonSetView(key_of(daemon_set), uid_of(daemon_set) or "", is_labelled, _placement(template))


def pod_view(pod: Manifest) -> PodView:
    """A whole Pod."""
    conditions = objects_at(pod, "status", "conditions")
    is_ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    return PodView(key_of(pod), is_ready, _controlling_daemon_set(pod), texts_at(pod, "metadata", "annotations"))


def csi_drivers(csi_node: Manifest) -> frozenset[str]:
    """The names of the drivers that are registered on the node of a CSINode."""
    return frozenset(text_at(driver, "name") or "" for driver in objects_at(csi_node, "spec", "drivers"))


def _placement(template: Manifest) -> Placement:
    spec = object_at(template, "spec")
    return Placement(
        text_at(spec, "nodeName") or "",
        texts_at(spec, "nodeSelector"),
        _required_terms(object_at(spec, "affinity", "nodeAffinity")),
        tuple(map(Toleration.of, objects_at(spec, "tolerations"))),
        boolean_at(spec, "hostNetwork") or False,
    )


def _required_terms(affinity: Manifest) -> tuple[Term, ...] | None:
    if affinity.get(_REQUIRED) is None:
        return None
    terms: Sequence[Manifest] = objects_at(affinity, _REQUIRED, "nodeSelectorTerms")
    return tuple(map(Term.of, terms))


def _controlling_daemon_set(pod: Manifest) -> str | None:
    owners = objects_at(pod, "metadata", "ownerReferences")
    controlling = [owner for owner in owners if owner.get("controller") is True]
    return next((text_at(each, "uid") for each in controlling if Kind.of(each) == DAEMON_SETS.object_kind), None)
