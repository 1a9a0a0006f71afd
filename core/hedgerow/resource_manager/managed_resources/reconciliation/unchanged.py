"""Whether everything is as the last reconciliation left it, so that nothing has to be read.

Decides from watches alone. If anything is not watched, or has changed, the whole ManagedResource is reconciled.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_objects import fingerprint
from hedgerow.api.managed_resources import RESOURCES_APPLIED
from hedgerow.api.references import referenced_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.resource_manager.managed_resources.autoscalers import watched_scaled_objects
from hedgerow.resource_manager.managed_resources.equivalences import equivalences_of
from hedgerow.resource_manager.managed_resources.reconciliation.dry_runs import is_due
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation
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


def finished(
    version: tuple[Any, Any], secrets: Mapping[str, Manifest], status: Mapping[str, Any], reason: str
) -> tuple[Any, ...]:
    """What has to be the case next time for nothing to be done.

    Args:
        version: of the ManagedResource, as in `spec_version`.
        secrets: that its objects were read from, by name.
        status: what is written of it to the status.
        reason: of the condition `ResourcesApplied`.
    """
    versions = tuple((name, version_of(secret)) for name, secret in sorted(secrets.items()))
    return (*version, versions, _digest_of_status(status, reason))


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
    said = mr.said(RESOURCES_APPLIED)
    return _digest_of_status(mr.status, said.reason if said is not None else "")


def _digest_of_status(status: Mapping[str, Any], reason: str) -> bytes:
    members = (status.get(name) or None for name in ("observedGeneration", "resources", "secretsDataChecksum"))
    return digest([*members, reason])


def _is_scaling_unchanged(mr: Reconciliation) -> bool:
    autoscaled = watched_scaled_objects(mr.snapshot)
    if autoscaled is None:
        return False
    equivalences = equivalences_of(mr.manifest)
    return all(autoscaled.scaling_of(each.identity, equivalences) == each.scaling for each in mr.state.objects.values())
