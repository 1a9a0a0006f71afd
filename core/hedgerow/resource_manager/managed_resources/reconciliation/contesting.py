"""Which objects another ManagedResource of the same cluster wants as well, so that each takes them from the other.

Both may write, now the one and now the other, as nobody can tell who is right. But each is told of the other when it
takes an object back. One that moves from one to the other is taken once, and not back, which is no news.

Source: managed-resources §4.4, §7.9.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating
from hedgerow.machinery.plan import Action, Event, Update
from hedgerow.resource_manager.managed_resources.equivalences import Identity, identity_of
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES
from hedgerow.resource_manager.managed_resources.origin import Origin, other_origin
from hedgerow.resource_manager.managed_resources.reconciliation.live import Live, live
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, event
from hedgerow.resource_manager.managed_resources.references import references_of


class _Contested(NamedTuple):
    """An object that is about to be taken back."""

    identity: Identity
    claimant: ObjectKey
    """The other ManagedResource."""

    def __str__(self) -> str:
        """As people are told it."""
        return f'"{self.identity}" by {self.claimant}'


def contested_events(stage: Stage, actions: Iterable[Action]) -> tuple[Event, ...]:
    """The event that tells which objects are about to be taken back, and from whom; none where there are none."""
    contested = ", ".join(map(str, _contested(stage, actions)))
    note = f"wanted by other ManagedResources as well: {contested}"
    return (event(stage, "Warning", "ContestedResources", note),) if contested else ()


def _contested(stage: Stage, actions: Iterable[Action]) -> Iterator[_Contested]:
    for action in actions:
        found = live(stage, action.resource, action.key) if isinstance(action, Update) else None
        if isinstance(found, Live) and found.manifest is not None:
            identity = identity_of(found.manifest)
            claimant = _other_claimant(stage, identity, found.manifest)
            if claimant is not None:
                yield _Contested(identity, claimant)


def _other_claimant(stage: Stage, identity: Identity, found: Manifest) -> ObjectKey | None:
    """The ManagedResource that has taken an object from this one, and still wants it; none where nobody has."""
    own = Origin(stage.config.cluster_id, stage.key)
    other = other_origin(found, own)
    if other is None or other.cluster_id != own.cluster_id or not _claims(stage.managed_resource, identity):
        return None
    claimant = stage.snapshot.get(MANAGED_RESOURCES, other.managed_resource, Cluster.SOURCE)
    return None if claimant is None or not _claims(claimant, identity) else other.managed_resource


def _claims(managed_resource: Manifest, identity: Identity) -> bool:
    wants = not is_terminating(managed_resource)
    return wants and any(reference.identity == identity for reference in references_of(managed_resource))
