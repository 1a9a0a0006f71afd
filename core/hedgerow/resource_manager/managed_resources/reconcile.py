"""What to do about one ManagedResource, step by step.

The lists of steps below are the policy, from top to bottom; each step is in the module of
`reconciliation` that it comes from. A turn goes through them as often as it takes: what is still to be found out or
done ends a stage, and the next one begins at the top, with what has come of it.

Source: managed-resources §7.2.
"""

from dataclasses import replace
from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES
from hedgerow.resource_manager.managed_resources.reconciliation.applying import apply
from hedgerow.resource_manager.managed_resources.reconciliation.cleaning import clean_up_everything, clean_up_what_left
from hedgerow.resource_manager.managed_resources.reconciliation.deciding import (
    OPERATION_DONE,
    is_held_by_another,
    is_somebody_elses,
    is_to_be_ignored,
    is_to_go,
    is_told_what_to_do,
)
from hedgerow.resource_manager.managed_resources.reconciliation.deleting import announce_deletion, release_with_objects
from hedgerow.resource_manager.managed_resources.reconciliation.finishing import finish
from hedgerow.resource_manager.managed_resources.reconciliation.holding import (
    hold,
    is_released,
    own_write_was_refused,
    release,
)
from hedgerow.resource_manager.managed_resources.reconciliation.invalidating import invalidate
from hedgerow.resource_manager.managed_resources.reconciliation.releasing import release_orphans
from hedgerow.resource_manager.managed_resources.reconciliation.secrets import (
    decode,
    desire,
    look_up_kinds,
    read_secrets,
)
from hedgerow.resource_manager.managed_resources.reconciliation.settled import rest_if_settled
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, Step, Writes, walk, writes_of_turn

DECISION: Final[tuple[Step, ...]] = (
    own_write_was_refused,
    is_released,
    is_somebody_elses,
    is_told_what_to_do,
    is_to_be_ignored,
    is_held_by_another,
)
"""Whether there is anything to do."""

DELETION: Final[tuple[Step, ...]] = (
    announce_deletion,
    release_with_objects,
    clean_up_everything,
    release,
)
"""How a ManagedResource is let go, and its objects with it unless they stay."""

APPLICATION: Final[tuple[Step, ...]] = (
    hold,
    rest_if_settled,
    read_secrets,
    decode,
    look_up_kinds,
    desire,
    invalidate,
    clean_up_what_left,
    release_orphans,
    apply,
    finish,
)
"""How the objects of a ManagedResource come to be as they should be."""


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[ManagedResourceConfig]) -> Plan:
    """Bring the objects of one ManagedResource to what its Secrets ask for, and say how that went.

    Args:
        key: which ManagedResource.
        snapshot: the world as it is watched.
        context: what this turn has found out and done.
    """
    writes = writes_of_turn(context.outcomes)
    managed_resource = _managed_resource(key, snapshot, writes)
    if managed_resource is None:
        return Plan()
    own = writes.get((Cluster.SOURCE, MANAGED_RESOURCES, key), ())
    if any(outcome.action.reason == OPERATION_DONE for outcome in own):
        context = replace(context, memory=None)
    stage = Stage(key, snapshot, context, writes, managed_resource)
    try:
        return walk(stage, (*DECISION, _go_or_stay))
    except UnreadableError as error:
        return Plan(failures=(DomainFailure(MANAGED_RESOURCES, key, "", str(error)),), memory=context.memory)


def _go_or_stay(stage: Stage) -> Plan:
    return walk(stage, DELETION if is_to_go(stage) else APPLICATION)


def _managed_resource(key: ObjectKey, snapshot: Snapshot, writes: Writes) -> Manifest | None:
    """The ManagedResource as this turn has left it."""
    own = writes.get((Cluster.SOURCE, MANAGED_RESOURCES, key), ())
    stored = [outcome.stored for outcome in own if outcome.stored is not None]
    return stored[-1] if stored else snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE)
