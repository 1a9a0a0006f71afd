"""When a dry run has to tell again what the server makes of an object, and what the answer means.

What webhooks and defaults make of a manifest shows only in a write. A dry run is one that stores nothing, so a settled
object is tried by it when something that changes writes has changed, and once an hour whatever has changed.

Source: decision "steady state"; Kubernetes documentation, "Kubernetes API concepts", dry-run.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import WriteResult
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation
from hedgerow.resource_manager.managed_resources.reconciliation.state import ObjectState
from hedgerow.resource_manager.managed_resources.write_context import WriteContext

HOUR: Final = timedelta(hours=1)
"""Every object is tried once in it, those of each ManagedResource at a minute of its own."""
_START: Final = timedelta(seconds=30)
"""How long dry runs of what a process found when it started wait, so that all is applied before."""
_BYTES_OF_OFFSET: Final = 4
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_COMPARED: Final = frozenset({"generation", "managedFields", "resourceVersion"})
"""Members of metadata that the server counts or records by itself."""
_BAD_REQUEST: Final = 400
_TRANSIENT: Final = frozenset({0, 404, 408, 409, 429})
"""Codes of refusals that say nothing about the write: no answer, overtaken by others, or too many requests."""
_SERVER_ERROR: Final = 500


class Verdict(Enum):
    """What a dry run tells about a write."""

    CHANGES_NOTHING = "changes nothing"
    CHANGES = "changes the object"
    NOT_SUPPORTED = "cannot be tried"
    """A webhook that is called supports no dry run."""
    NOT_KNOWN = "not known"
    """Nobody answered; to be tried again at the next look."""


def is_due(mr: Reconciliation, known: ObjectState) -> bool:
    """True if a dry run has to tell what the server makes of an object by now."""
    return is_to_be_tried(known, mr.write_context(known.resource, known.key.namespace), mr.now, mr.key)


def is_to_be_tried(known: ObjectState, context: WriteContext, now: datetime, key: ObjectKey) -> bool:
    """Whether this process has not tried an object yet, or something has changed since, or the hour is over.

    A change takes time to show: API servers hear of a webhook a moment after us, and its pods may start later than it
    is registered. So after a change the object is tried again and again, each time after twice as long, up to an hour.

    Args:
        known: the state of the object.
        context: what a write of it depends on by now.
        now: the time.
        key: of the ManagedResource, which decides about the minute of the hour.
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
    """Which hour it is by the clock of a ManagedResource."""
    return (time - _EPOCH + _offset(key)) // HOUR


@lru_cache(maxsize=1024)
def _offset(key: ObjectKey) -> timedelta:
    """How far the clock of a ManagedResource is ahead, below an hour."""
    share = int.from_bytes(blake2b(str(key).encode(), digest_size=_BYTES_OF_OFFSET).digest()) / 256**_BYTES_OF_OFFSET
    return HOUR * share


def verdict(dry_run: WriteResult, live: Manifest | None) -> Verdict:
    """What a dry run tells about a write.

    A write that is refused changes nothing. Where a webhook supports no dry run, only the write itself can tell.

    Args:
        dry_run: its result.
        live: the object that it was made for.
    """
    error = dry_run.error
    if error is None and dry_run.stored is not None:
        return Verdict.CHANGES_NOTHING if _compared(dry_run.stored) == _compared(live or {}) else Verdict.CHANGES
    if error is None or error.code in _TRANSIENT or error.code >= _SERVER_ERROR:
        return Verdict.NOT_KNOWN
    return Verdict.NOT_SUPPORTED if error.code == _BAD_REQUEST else Verdict.CHANGES_NOTHING


def _compared(manifest: Manifest) -> Mapping[str, Any]:
    """The object without its status, which others write at any time, and without what the server counts."""
    metadata = manifest.get("metadata") or {}
    kept = {name: value for name, value in metadata.items() if name not in _NOT_COMPARED}
    return {**{name: value for name, value in manifest.items() if name != "status"}, "metadata": kept}
