"""A ManagedResource of another class that no instance takes up: a mistyped class, or an instance that is missing.

Every instance sees it, and none would say anything. So each one waits a while for others, and warns then, once in the
life of its process.
"""

from datetime import timedelta
from typing import Final

from hedgerow.api.managed_resources import class_of, is_taken_up
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.reading import object_at
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.resource_manager.managed_resources.reconciliation import Reconciliation

PATIENCE: Final = timedelta(minutes=10)
"""As long as an instance may need to start, such as that of a new cluster."""


def unserved(mr: Reconciliation) -> Plan:
    """Warn of a ManagedResource of another class that nobody has taken up in time."""
    if is_taken_up(mr.manifest):
        return Plan()
    created = parse_timestamp(object_at(mr.manifest, "metadata").get("creationTimestamp")) or mr.now
    if (rest := created + PATIENCE - mr.now) > timedelta(0):
        return Plan(requeue_after=rest.total_seconds())
    note = f'class "{class_of(mr.manifest)}" is not handled: no instance has taken this ManagedResource up'
    return Plan(events=(mr.event("Warning", "ClassNotHandled", note),))
