"""Whether the taint of a Node goes: an ordered list of checks says what is missing on it.

What reads an object raises UnreadableError where it has another shape than an API server stores.

Source: network-and-nodes §5.5, §5.7, §5.8.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hedgerow.api.gardener import CRITICAL_COMPONENT, CRITICAL_COMPONENTS_NOT_READY, WAIT_FOR_CSI_NODE
from hedgerow.api.kubernetes import DAEMON_SETS
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of, uid_of
from hedgerow.machinery.reading import UnreadableError, each_at, object_at, objects_at, text_at, texts_at
from hedgerow.resource_manager.nodes.scheduling import NodeView, Placement, Taint, should_run_on

READY: Final = "NodeCriticalComponentsReady"
READY_NOTE: Final = "All node-critical components got ready, removing taint"


@dataclass(frozen=True, slots=True)
class DaemonSetView:
    """A DaemonSet that is labelled as critical."""

    key: ObjectKey
    uid: str
    makes_critical_pods: bool
    """Whether its template has the label as well."""
    placement: Placement = field(default_factory=Placement)


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod that is labelled as critical."""

    key: ObjectKey
    is_ready: bool
    daemon_set: str | None = None
    """The uid of the DaemonSet that controls it."""
    annotations: Mapping[str, str] | None = None


def daemon_set_view(daemon_set: Manifest) -> DaemonSetView:
    """A whole DaemonSet."""
    labels = texts_at(daemon_set, "spec", "template", "metadata", "labels")
    try:
        placement = Placement.of(object_at(daemon_set, "spec", "template"))
    except UnreadableError as error:
        raise error.below("spec.template") from error
    is_labelled = labels.get(CRITICAL_COMPONENT) == "true"
    return DaemonSetView(key_of(daemon_set), uid_of(daemon_set) or "", is_labelled, placement)


def pod_view(pod: Manifest) -> PodView:
    """A whole Pod."""
    conditions = objects_at(pod, "status", "conditions")
    is_ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    return PodView(key_of(pod), is_ready, _controlling_daemon_set(pod), texts_at(pod, "metadata", "annotations"))


def csi_drivers(csi_node: Manifest) -> frozenset[str]:
    """The names of the drivers that are registered on the node of a CSINode."""
    return frozenset(each_at(lambda driver: text_at(driver, "name") or "", csi_node, "spec", "drivers"))


def _controlling_daemon_set(pod: Manifest) -> str | None:
    owners = objects_at(pod, "metadata", "ownerReferences")
    controlling = [owner for owner in owners if owner.get("controller") is True]
    return next((text_at(each, "uid") for each in controlling if Kind.of(each) == DAEMON_SETS.object_kind), None)


@dataclass(frozen=True, slots=True)
class CriticalComponents:
    """A node beside what is critical for it, as labels say."""

    node: NodeView
    daemon_sets: tuple[DaemonSetView, ...] = ()
    pods: tuple[PodView, ...] = ()
    """Those on the node."""
    drivers: frozenset[str] = frozenset()
    """The CSI drivers that are registered on it; need not be known where no pod requires any."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Something critical that is not there yet, as users are told it."""

    reason: str
    note: str


def required_drivers(pods: Iterable[PodView]) -> frozenset[str]:
    """The CSI drivers that pods ask to wait for, by any number of annotations each."""
    return frozenset(
        driver
        for pod in pods
        for annotation, driver in (pod.annotations or {}).items()
        if annotation.startswith(WAIT_FOR_CSI_NODE)
    )


def pods_are_missing(components: CriticalComponents) -> Missing | None:
    """A DaemonSet makes critical pods, should run on the node, and controls no pod there."""
    controlled = {pod.daemon_set for pod in components.pods}
    without = [
        each.key
        for each in components.daemon_sets
        if each.makes_critical_pods and each.uid not in controlled and should_run_on(each.placement, components.node)
    ]
    if not without:
        return None
    note = f"Node-critical DaemonSets found that were not scheduled to Node yet: {_listed(without)}"
    return Missing("UnscheduledNodeCriticalDaemonSets", note)


def pods_are_unready(components: CriticalComponents) -> Missing | None:
    """A critical pod on the node is not ready, whosever it is and whatever has become of it."""
    unready = [pod.key for pod in components.pods if not pod.is_ready]
    if not unready:
        return None
    return Missing("UnreadyNodeCriticalPods", f"Unready node-critical Pods found on Node: {_listed(unready)}")


def drivers_are_missing(components: CriticalComponents) -> Missing | None:
    """A CSI driver that a critical pod asks to wait for is not registered on the node."""
    missing = required_drivers(components.pods) - components.drivers
    if not missing:
        return None
    note = f"Unready required CSI drivers for Node: [{' '.join(sorted(missing))}]"
    return Missing("UnreadyRequiredCSIDrivers", note)


CHECKS: Final = (pods_are_missing, pods_are_unready, drivers_are_missing)


def _listed(keys: Iterable[ObjectKey]) -> str:
    return ", ".join(map(str, sorted(keys)))


@dataclass(frozen=True, slots=True)
class Done:
    """The node has no taint to be removed."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Something is missing, and has to be looked for again after a while."""

    missing: Missing


@dataclass(frozen=True, slots=True)
class RemoveTaint:
    """Nothing is missing."""

    taints: tuple[Taint, ...]
    """What the node keeps."""


Decision: TypeAlias = Done | Wait | RemoveTaint


def decide(components: CriticalComponents) -> Decision:
    """What becomes of a node, from all that is critical for it."""
    taints = components.node.taints
    # There may be several of the key, with different effects.
    kept = tuple(taint for taint in taints if taint.key != CRITICAL_COMPONENTS_NOT_READY)
    if len(kept) == len(taints):
        return Done()
    missing = next((missing for check in CHECKS if (missing := check(components))), None)
    return Wait(missing) if missing else RemoveTaint(kept)
