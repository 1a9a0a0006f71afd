"""Ownership conflicts: objects that another ManagedResource of the same cluster wants as well.

Both may write, in turns, as nothing tells which is right. But each is told of the other when it takes an object back.
An object that moves from one to the other is taken once, and not back, so no event tells of that.

Source: managed-resources §4.4, §7.9.
"""

from collections.abc import Iterable

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.origins import Origin, other_origin
from hedgerow.api.references import Identity, identity_of, references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating
from hedgerow.machinery.plan import Event
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation, event


def contested_events(mr: Reconciliation, taken: Iterable[Manifest]) -> tuple[Event, ...]:
    """The event about objects that are taken back, and from which ManagedResource; none if there are none.

    Args:
        mr: the ManagedResource that takes them.
        taken: the live objects that are about to be updated.
    """
    claimed: dict[ObjectKey, frozenset[Identity]] = {}
    contested: list[str] = []
    for live in taken:
        other = _owner(mr, live)
        if other is None:
            continue
        if other not in claimed:
            claimed[other] = _applied(mr) & _claimed(mr, other)
        if (identity := identity_of(live)) in claimed[other]:
            contested.append(f'"{identity}" by {other}')
    note = f"wanted by other ManagedResources as well: {', '.join(contested)}"
    return (event(mr, "Warning", "ContestedResources", note),) if contested else ()


def _owner(mr: Reconciliation, live: Manifest) -> ObjectKey | None:
    """The other ManagedResource of the same cluster that has applied an object last."""
    own = Origin(mr.config.cluster_id, mr.key)
    other = other_origin(live, own)
    return None if other is None or other.cluster_id != own.cluster_id else other.managed_resource


def _applied(mr: Reconciliation) -> frozenset[Identity]:
    """The objects that this ManagedResource has applied."""
    return frozenset(each.identity for each in references_of(mr.manifest) if each.is_applied)


def _claimed(mr: Reconciliation, key: ObjectKey) -> frozenset[Identity]:
    """The objects that another ManagedResource refers to, unless it is being deleted."""
    other = mr.snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE)
    if other is None or is_terminating(other):
        return frozenset()
    return frozenset(each.identity for each in references_of(other))
