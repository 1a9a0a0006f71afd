"""Whether the taint of a Node is removed: an ordered list of checks says what is missing on it.

What reads an object raises UnreadableError for a field of another type.

Source: network-and-nodes §5.5, §5.7, §5.8.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hedgerow.api.gardener import CRITICAL_COMPONENT, CRITICAL_COMPONENTS_NOT_READY, WAIT_FOR_CSI_NODE
from hedgerow.api.kubernetes import DAEMON_SETS
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of, uid_of
from hedgerow.machinery.reading import UnreadableError, object_at, objects_at, text_at, texts_at
from hedgerow.resource_manager.nodes.scheduling import NodeView, Placement, Taint, should_run_on


@dataclass(frozen=True, slots=True)
class DaemonSetView:
    """A DaemonSet that is labelled as critical."""

    key: ObjectKey
    uid: str
    makes_critical_pods: bool
    """True if its template has the label as well."""
    placement: Placement = field(default_factory=Placement)

    @classmethod
    def of(cls, daemon_set: Manifest) -> "DaemonSetView":
        """The view of a DaemonSet."""
        labels = texts_at(daemon_set, "spec", "template", "metadata", "labels")
        try:
            placement = Placement.of(object_at(daemon_set, "spec", "template"))
        except UnreadableError as error:
            raise error.below("spec.template") from error
        return cls(key_of(daemon_set), uid_of(daemon_set) or "", labels.get(CRITICAL_COMPONENT) == "true", placement)


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod that is labelled as critical."""

    key: ObjectKey
    is_ready: bool
    daemon_set: str | None = None
    """The uid of the DaemonSet that controls it."""
    annotations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, pod: Manifest) -> "PodView":
        """The view of a Pod."""
        conditions = objects_at(pod, "status", "conditions")
        is_ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
        owners = [each for each in objects_at(pod, "metadata", "ownerReferences") if each.get("controller") is True]
        uids = (text_at(owner, "uid") for owner in owners if Kind.of(owner) == DAEMON_SETS.object_kind)
        return cls(key_of(pod), is_ready, next(uids, None), texts_at(pod, "metadata", "annotations"))

    @property
    def required_drivers(self) -> frozenset[str]:
        """The CSI drivers that the pod asks to wait for, by any number of annotations."""
        annotations = self.annotations.items()
        return frozenset(driver for name, driver in annotations if name.startswith(WAIT_FOR_CSI_NODE))


@dataclass(frozen=True, slots=True)
class CriticalComponents:
    """A node, and everything that is labelled as critical for it."""

    node: NodeView
    daemon_sets: tuple[DaemonSetView, ...] = ()
    pods: tuple[PodView, ...] = ()
    """Those on the node."""
    drivers: frozenset[str] = frozenset()
    """The CSI drivers that are registered on it; need not be known if no pod requires any."""

    @property
    def required_drivers(self) -> frozenset[str]:
        """The CSI drivers that any pod asks to wait for."""
        return frozenset[str]().union(*(pod.required_drivers for pod in self.pods))


@dataclass(frozen=True, slots=True)
class Done:
    """The node has no taint to be removed."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Something critical is missing; reason and note of the event that says so."""

    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class RemoveTaint:
    """Nothing is missing."""

    taints: tuple[Taint, ...]
    """The taints that the node keeps."""


Decision: TypeAlias = Done | Wait | RemoveTaint


def pods_are_missing(components: CriticalComponents) -> Wait | None:
    """A DaemonSet makes critical pods, should run on the node, and controls no pod there."""
    controlled = {pod.daemon_set for pod in components.pods}
    candidates = [each for each in components.daemon_sets if each.makes_critical_pods and each.uid not in controlled]
    missing = [each.key for each in candidates if should_run_on(each.placement, components.node)]
    if not missing:
        return None
    note = f"Node-critical DaemonSets found that were not scheduled to Node yet: {_listed(missing)}"
    return Wait("UnscheduledNodeCriticalDaemonSets", note)


def pods_are_unready(components: CriticalComponents) -> Wait | None:
    """A critical pod on the node is not ready, whatever controls it."""
    unready = [pod.key for pod in components.pods if not pod.is_ready]
    if not unready:
        return None
    return Wait("UnreadyNodeCriticalPods", f"Unready node-critical Pods found on Node: {_listed(unready)}")


def drivers_are_missing(components: CriticalComponents) -> Wait | None:
    """A CSI driver that a critical pod asks to wait for is not registered on the node."""
    missing = sorted(components.required_drivers - components.drivers)
    if not missing:
        return None
    return Wait("UnreadyRequiredCSIDrivers", f"Unready required CSI drivers for Node: [{' '.join(missing)}]")


CHECKS: Final = (pods_are_missing, pods_are_unready, drivers_are_missing)


def _listed(keys: Iterable[ObjectKey]) -> str:
    return ", ".join(map(str, sorted(keys)))


def decide(components: CriticalComponents) -> Decision:
    """What happens to a node: nothing, it waits, or it loses the taint."""
    taints = components.node.taints
    # There may be several of the key, with different effects.
    kept = tuple(taint for taint in taints if taint.key != CRITICAL_COMPONENTS_NOT_READY)
    if len(kept) == len(taints):
        return Done()
    return next((wait for check in CHECKS if (wait := check(components))), RemoveTaint(kept))
