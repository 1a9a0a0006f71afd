"""Whether everything is as the last reconciliation left it, so that nothing has to be read.

Decides from watches alone. If anything is not watched, or has changed, the whole ManagedResource is reconciled.
"""

from dataclasses import replace
from typing import Any

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_objects import fingerprint
from hedgerow.api.managed_resources import RESOURCES_APPLIED
from hedgerow.api.references import referenced_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.managed_resources.autoscalers import watched_scaled_objects
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.equivalences import equivalences_of
from hedgerow.resource_manager.managed_resources.reconciliation.dry_runs import is_due
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation
from hedgerow.resource_manager.managed_resources.reconciliation.secrets import Content
from hedgerow.resource_manager.managed_resources.reconciliation.state import (
    ObjectState,
    State,
    digest,
    spec_version,
    version_of,
)


def is_unchanged(mr: Reconciliation) -> bool:
    """True if nothing has changed since the last reconciliation, so that nothing is to be done for a sync period."""
    state = mr.state
    return (
        bool(state.finished)
        and not mr.config.always_update
        and state.finished == (*spec_version(mr.manifest), _cached_secrets(mr), _said(mr))
        and all(is_object_unchanged(mr, each) for each in state.objects.values())
        and _is_scaling_unchanged(mr)
    )


def finished(content: Content, desired: Desired, reason: str) -> tuple[Any, ...]:
    """What has to be the case next time for nothing to be done.

    Args:
        content: what was decoded.
        desired: what was applied.
        reason: of the condition `ResourcesApplied`.
    """
    versions = tuple((name, version_of(secret)) for name, secret in sorted(content.secrets.items()))
    said = [content.generation or None, desired.in_status() or None, desired.checksum or None, reason]
    return (*content.version, versions, digest(said))


def is_object_unchanged(mr: Reconciliation, known: ObjectState) -> bool:
    """True if an object is as it was when it was last tried, and another write would store nothing else."""
    if not mr.snapshot.has_synced(known.resource) or is_due(mr, known):
        return False
    cached = mr.snapshot.get(known.resource, known.key)
    return cached is not None and fingerprint(cached) == known.fingerprint


def completed_state(mr: Reconciliation) -> State:
    """The state with what writes depend on where that was not known before, as a list was late or denied."""
    completed = {identity: _completed(mr, each) for identity, each in mr.state.objects.items()}
    return mr.state if completed == mr.state.objects else replace(mr.state, objects=completed)


def _completed(mr: Reconciliation, known: ObjectState) -> ObjectState:
    if None not in known.context:
        return known
    context = mr.write_context(known.resource, known.key.namespace)
    return known._replace(context=known.context.completed_by(context))


def _cached_secrets(mr: Reconciliation) -> tuple[Any, ...]:
    names = sorted(frozenset(referenced_names(mr.manifest)))
    keys = {name: ObjectKey(mr.key.namespace, name) for name in names}
    return tuple((name, version_of(mr.snapshot.get(SECRETS, keys[name], Cluster.SOURCE) or {})) for name in names)


def _said(mr: Reconciliation) -> bytes:
    """Digest of what the status says of the objects."""
    said = mr.said(RESOURCES_APPLIED)
    members = (mr.status.get(name) or None for name in ("observedGeneration", "resources", "secretsDataChecksum"))
    return digest([*members, said.reason if said is not None else ""])


def _is_scaling_unchanged(mr: Reconciliation) -> bool:
    autoscaled = watched_scaled_objects(mr.snapshot)
    if autoscaled is None:
        return False
    equivalences = equivalences_of(mr.manifest)
    return all(autoscaled.scaling_of(each.identity, equivalences) == each.scaling for each in mr.state.objects.values())
