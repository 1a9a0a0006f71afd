"""Whether all that is critical for a node is there: an ordered list of checks, of which the first that fails decides.

Source: network-and-nodes §5.5, §5.7.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hedgerow.api.gardener import WAIT_FOR_CSI_NODE
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.nodes.scheduling import should_run_on
from hedgerow.resource_manager.nodes.views import DaemonSetView, NodeView, PodView


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


CHECKS: Final = (
    pods_are_missing,
    pods_are_unready,
    drivers_are_missing,
)


def first_missing(components: CriticalComponents) -> Missing | None:
    """What the first check finds that fails; none: the node is fit for all pods."""
    return next((missing for check in CHECKS if (missing := check(components))), None)


def _listed(keys: Iterable[ObjectKey]) -> str:
    return ", ".join(map(str, sorted(keys)))
