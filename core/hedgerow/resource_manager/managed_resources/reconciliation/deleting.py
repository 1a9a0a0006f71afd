"""What is said while all objects of a ManagedResource are being deleted, and whether they are at all.

One that has moved to another class is given away with its objects, although §7.11 has them deleted first and applied
anew by the next instance: that would be an outage wherever both look after the same cluster. Where they look after
different ones, the objects stay behind in the old cluster, for people to delete.

Source: managed-resources §7.11.
"""

from dataclasses import replace
from typing import Final

from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import is_terminating
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.reading import boolean_at
from hedgerow.resource_manager.managed_resources.names import (
    DELETION_FAILED,
    DELETION_PENDING,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)
from hedgerow.resource_manager.managed_resources.reconciliation.holding import release
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, Statement, status_write

_DELETING: Final = "The resources are currently being deleted."


def announce_deletion(stage: Stage) -> Stage:
    """Conditions say that objects are going; of those that stay nothing new is said about how they were applied."""
    statements = [
        Statement(RESOURCES_HEALTHY, ConditionStatus.FALSE, DELETION_PENDING, _DELETING),
        Statement(RESOURCES_PROGRESSING, ConditionStatus.TRUE, DELETION_PENDING, _DELETING),
    ]
    if not _keeps_objects(stage):
        said = stage.said(RESOURCES_APPLIED)
        is_said = said is not None and said.reason in {DELETION_PENDING, DELETION_FAILED}
        message = said.message if said is not None and is_said else _DELETING
        statements.append(Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, message))
    return replace(stage, pending=status_write(stage, "deleting", *statements))


def release_with_objects(stage: Stage) -> Stage | Plan:
    """A ManagedResource that keeps its objects is released at once, and so is one that only moves."""
    return release(stage) if _keeps_objects(stage) else stage


def _keeps_objects(stage: Stage) -> bool:
    return (
        not is_terminating(stage.managed_resource) or boolean_at(stage.managed_resource, "spec", "keepObjects") is True
    )
