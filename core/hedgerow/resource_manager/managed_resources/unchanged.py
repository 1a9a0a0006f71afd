"""When an object has to be read, or tried by a dry run, although nothing has asked for it.

Whether everything is as the last reconciliation left it is decided from watches alone. What webhooks and defaults make
of a manifest shows only in a write. So a settled object is tried by a dry run, which stores nothing, when something
that it depends on has changed, and once an hour.

Source: decision "steady state"; Kubernetes documentation, "Kubernetes API concepts", dry-run.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_objects import fingerprint
from hedgerow.api.references import referenced_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import WriteResult
from hedgerow.resource_manager.managed_resources.autoscalers import watched_scaled_objects
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.equivalences import equivalences_of
from hedgerow.resource_manager.managed_resources.reconciliation import (
    ObjectState,
    Reconciliation,
    State,
    digest,
    spec_version,
    version_of,
)
from hedgerow.resource_manager.managed_resources.secrets import Content
from hedgerow.resource_manager.managed_resources.write_context import WriteContext

HOUR: Final = timedelta(hours=1)
"""Every object is tried once in it, those of each ManagedResource at another minute."""
_START: Final = timedelta(seconds=30)
"""How long dry runs of the objects that a process found at its start wait, so that everything is applied first."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_COUNTED_BY_SERVER: Final = frozenset({"generation", "managedFields", "resourceVersion"})
_BAD_REQUEST: Final = 400
_TRANSIENT: Final = frozenset({0, 404, 408, 409, 429})
"""Error codes that say nothing about the write: no answer, overtaken by others, or too many requests."""
_SERVER_ERROR: Final = 500


def is_unchanged(mr: Reconciliation) -> bool:
    """True if nothing has changed since the last reconciliation, so that nothing is to be done for a sync period."""
    state = mr.state
    return (
        bool(state.finished)
        and not mr.config.always_update
        and state.finished == (*spec_version(mr.manifest), _cached_secrets(mr), _status_digest(mr))
        and all(is_object_unchanged(mr, each) for each in state.objects.values())
        and _is_scaling_unchanged(mr)
    )


def finished(content: Content, desired: Desired, reason: str) -> tuple[Any, ...]:
    """What `is_unchanged` compares next time; `reason` is that of the condition `ResourcesApplied`."""
    versions = tuple((name, version_of(secret)) for name, secret in sorted(content.secrets.items()))
    uid, generation = content.version
    status = [generation or None, desired.in_status() or None, desired.checksum or None, reason]
    return uid, generation, versions, digest(status)


def _cached_secrets(mr: Reconciliation) -> tuple[Any, ...]:
    names = sorted(frozenset(referenced_names(mr.manifest)))
    keys = {name: ObjectKey(mr.key.namespace, name) for name in names}
    return tuple((name, version_of(mr.snapshot.get(SECRETS, keys[name], Cluster.SOURCE) or {})) for name in names)


def _status_digest(mr: Reconciliation) -> bytes:
    members = (mr.status.get(name) or None for name in ("observedGeneration", "resources", "secretsDataChecksum"))
    applied = mr.applied
    return digest([*members, applied.reason if applied else ""])


def is_object_unchanged(mr: Reconciliation, known: ObjectState) -> bool:
    """True if an object is as it was when it was last tried, and another write would store nothing else."""
    if not mr.snapshot.has_synced(known.resource) or is_due(mr, known):
        return False
    cached = mr.snapshot.get(known.resource, known.key)
    return cached is not None and fingerprint(cached) == known.fingerprint


def _is_scaling_unchanged(mr: Reconciliation) -> bool:
    autoscaled = watched_scaled_objects(mr.snapshot)
    if autoscaled is None:
        return False
    equivalences = equivalences_of(mr.manifest)
    return all(autoscaled.scaling_of(each.identity, equivalences) == each.scaling for each in mr.state.objects.values())


def completed_state(mr: Reconciliation) -> State:
    """The state with the parts of write contexts that were not known before, as a list was late or denied."""
    return replace(mr.state, objects={key: _completed(mr, each) for key, each in mr.state.objects.items()})


def _completed(mr: Reconciliation, known: ObjectState) -> ObjectState:
    if None not in known.context:
        return known
    context = mr.write_context(known.resource, known.key.namespace)
    return known._replace(context=known.context.completed_by(context))


def is_due(mr: Reconciliation, known: ObjectState) -> bool:
    """True if an object has to be tried by a dry run now."""
    return is_to_be_tried(known, mr.write_context(known.resource, known.key.namespace), mr.now, mr.key)


def is_to_be_tried(known: ObjectState, context: WriteContext, now: datetime, key: ObjectKey) -> bool:
    """True if this process has not tried an object yet, its write context has changed, or the hour is over.

    A change takes time to show: API servers learn of a webhook a moment later, and its pods may start after it is
    registered. So after a change the object is tried again, each time after twice as long, up to an hour. The key of
    the ManagedResource decides on the minute of the hour.
    """
    tried, changed = known.tried, known.changed
    if tried is None:
        return now - known.seen >= _START
    if context.differs(known.context):
        return True
    if changed is not None and tried - changed < HOUR and now - tried >= tried - changed:
        return True
    return _hour_of(now, key) != _hour_of(tried, key)


def _hour_of(time: datetime, key: ObjectKey) -> int:
    """The hour by the clock of a ManagedResource."""
    return (time - _EPOCH + _offset(key)) // HOUR


@lru_cache(maxsize=1024)
def _offset(key: ObjectKey) -> timedelta:
    """How far the clock of a ManagedResource is ahead, below an hour."""
    return HOUR * (int.from_bytes(blake2b(str(key).encode(), digest_size=4).digest()) / 2**32)


class Verdict(Enum):
    """What a dry run tells about a write."""

    CHANGES_NOTHING = "changes nothing"
    CHANGES = "changes the object"
    NOT_SUPPORTED = "cannot be tried"
    """A webhook that is called supports no dry run."""
    NOT_KNOWN = "not known"
    """There was no usable answer; the next reconciliation tries again."""


def verdict(dry_run: WriteResult, live: Manifest | None) -> Verdict:
    """What the result of a dry run tells about the write of a live object; a refused write changes nothing."""
    error = dry_run.error
    if error is None and dry_run.stored is not None:
        return Verdict.CHANGES_NOTHING if _compared(dry_run.stored) == _compared(live or {}) else Verdict.CHANGES
    if error is None or error.code in _TRANSIENT or error.code >= _SERVER_ERROR:
        return Verdict.NOT_KNOWN
    return Verdict.NOT_SUPPORTED if error.code == _BAD_REQUEST else Verdict.CHANGES_NOTHING


def _compared(manifest: Manifest) -> Mapping[str, Any]:
    """The object without its status, which others write at any time, and without what the server counts."""
    metadata = manifest.get("metadata") or {}
    compared = {name: value for name, value in metadata.items() if name not in _COUNTED_BY_SERVER}
    return {**{name: value for name, value in manifest.items() if name != "status"}, "metadata": compared}
