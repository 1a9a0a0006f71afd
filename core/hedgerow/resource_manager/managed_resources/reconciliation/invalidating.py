"""What the conditions say as soon as something else is asked for than what they were about.

Source: managed-resources §7.6.
"""

from dataclasses import replace
from typing import Final

from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.resource_manager.managed_resources.names import (
    APPLY_FAILED,
    DELETION_FAILED,
    DELETION_PENDING,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Memory, digest
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, Statement, status_write

_CHECKS_PENDING: Final = "ChecksPending"
_HEALTH_UNKNOWN: Final = Statement(
    RESOURCES_HEALTHY,
    ConditionStatus.UNKNOWN,
    _CHECKS_PENDING,
    "The health checks have not yet been executed for the current set of resources.",
)
_PROGRESS_UNKNOWN: Final = Statement(
    RESOURCES_PROGRESSING,
    ConditionStatus.UNKNOWN,
    _CHECKS_PENDING,
    "Checks have not yet been executed for the current set of resources.",
)
_APPLYING: Final = ("ApplyProgressing", "The resources are currently being reconciled.")
_KEPT_REASONS: Final = frozenset({APPLY_FAILED, DELETION_FAILED, DELETION_PENDING})
"""Reasons that stay, with their messages, until it is known whether they still hold."""


def invalidate(stage: Stage) -> Stage:
    """Nothing is known yet of what is asked for now; that is said once, however often it has to be tried."""
    memory = stage.memory
    if not _is_another(stage) or (memory is not None and memory.attempted == asked_for(stage)):
        return stage
    said = stage.said(RESOURCES_APPLIED)
    reason, message = _APPLYING if said is None or said.reason not in _KEPT_REASONS else (said.reason, said.message)
    applying = Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, reason, message)
    return replace(
        stage, pending=status_write(stage, "resources-changed", _HEALTH_UNKNOWN, _PROGRESS_UNKNOWN, applying)
    )


def _is_another(stage: Stage) -> bool:
    """Whether the status is about something else than what is asked for."""
    status = stage.status
    inputs = (stage.desired, status.get("resources"), status.get("secretsDataChecksum"))
    return stage.context.notes.once("another", inputs, lambda: stage.desired.changed(status))


def asked_for(stage: Stage) -> bytes:
    """What stands for all that is asked for now."""
    desired = stage.desired
    return stage.context.notes.once("asked for", (desired,), lambda: digest([desired.checksum, desired.in_status()]))


def attempted(stage: Stage) -> Memory:
    """The memory of a turn that could not do all that is asked for, and is to be tried again."""
    known = stage.memory.objects if stage.memory is not None else {}
    return Memory({**known, **{each.identity: each for each in stage.applied}}, asked_for(stage))
