"""What becomes of a node: its taint goes, or it has to wait, or there is nothing to do.

Source: network-and-nodes §5.5, §5.8.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from hedgerow.api.gardener import CRITICAL_COMPONENTS_NOT_READY
from hedgerow.resource_manager.nodes.readiness import CriticalComponents, Missing, first_missing
from hedgerow.resource_manager.nodes.taints import Taint

READY: Final = "NodeCriticalComponentsReady"
READY_NOTE: Final = "All node-critical components got ready, removing taint"


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
    kept = without_taint(taints)
    if len(kept) == len(taints):
        return Done()
    missing = first_missing(components)
    return Wait(missing) if missing else RemoveTaint(kept)


def without_taint(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """The other taints, in their order; there may be several of the key, with different effects."""
    return tuple(taint for taint in taints if taint.key != CRITICAL_COMPONENTS_NOT_READY)
