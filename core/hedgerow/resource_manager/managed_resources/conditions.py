"""Conditions and references in the status: before objects are pruned or applied, and at the end.

As soon as the ManagedResource asks for other objects, conditions become unknown. Before the first object is created,
`status.resources` refers to all new ones: if applying fails half-way, everything can still be deleted, whatever the
Secrets hold by then. Mostly one write does both.

Source: managed-resources §7.6, §7.10; decisions "`status.resources`" and "undecodable documents".
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from hedgerow.api.managed_resources import (
    APPLY_FAILED,
    DELETION_FAILED,
    DELETION_PENDING,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.plan import Event, Plan
from hedgerow.resource_manager.managed_resources.deletion import Foreign, foreign_events
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.reconciliation import (
    ObjectState,
    Reconciliation,
    State,
    Statement,
    digest,
)
from hedgerow.resource_manager.managed_resources.secrets import Content
from hedgerow.resource_manager.managed_resources.unchanged import finished

MOST_ERRORS: Final = 20
"""Decoding errors in a condition, beside the last one."""
_CHANGED: Final = "resources-changed"
_UNKNOWN: Final = (ConditionStatus.UNKNOWN, "ChecksPending")
_HEALTH_UNKNOWN: Final = Statement(
    RESOURCES_HEALTHY, *_UNKNOWN, "The health checks have not yet been executed for the current set of resources."
)
_PROGRESS_UNKNOWN: Final = Statement(
    RESOURCES_PROGRESSING, *_UNKNOWN, "Checks have not yet been executed for the current set of resources."
)
_APPLYING: Final = ("ApplyProgressing", "The resources are currently being reconciled.")
_LASTING_REASONS: Final = frozenset({APPLY_FAILED, DELETION_FAILED, DELETION_PENDING})
"""Reasons that stay, with their messages, until it is known whether they still hold."""
_APPLIED: Final = Statement(RESOURCES_APPLIED, ConditionStatus.TRUE, "ApplySucceeded", "All resources are applied.")


async def invalidate(mr: Reconciliation, desired: Desired) -> Plan | None:
    """Make conditions unknown before objects are deleted or released; the end of the reconciliation if that fails."""
    if not desired.left and not desired.orphans:
        return None
    return await mr.write_status(_CHANGED, *_unknown(mr, desired))


async def record(mr: Reconciliation, desired: Desired) -> Plan | None:
    """Refer to new objects in the status before the first is created; the end of the reconciliation if that fails."""
    recorded = [each.in_status() for each in desired.recorded]
    return await mr.write_status(_CHANGED, *_unknown(mr, desired), resources=recorded or None)


def _unknown(mr: Reconciliation, desired: Desired) -> tuple[Statement, ...]:
    """The conditions of objects that are not applied yet; none in later attempts to apply the same."""
    if not desired.changed(mr.status) or mr.state.attempted == _digest_of(desired):
        return ()
    stored = mr.applied
    applying = (stored.reason, stored.message) if stored and stored.reason in _LASTING_REASONS else _APPLYING
    return (_HEALTH_UNKNOWN, _PROGRESS_UNKNOWN, Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, *applying))


def _digest_of(desired: Desired) -> bytes:
    return digest([desired.checksum, desired.in_status()])


def attempted(mr: Reconciliation, desired: Desired, applied: Iterable[ObjectState] = ()) -> State:
    """The state after a reconciliation that has applied only some objects and is tried again."""
    objects = {**mr.state.objects, **{each.identity: each for each in applied}}
    return replace(mr.state, objects=objects, attempted=_digest_of(desired), finished=(), unserved={})


async def finish(
    mr: Reconciliation,
    content: Content,
    desired: Desired,
    applied: Sequence[ObjectState],
    foreign: Foreign,
    *,
    recovers: bool,
) -> Plan:
    """The end of a reconciliation that has applied everything that can be decoded.

    It `recovers` if the condition was false when it began; `applied` lacks the objects whose state is not known.
    """
    statement = _APPLIED
    failures: tuple[Failure, ...] = ()
    if desired.decoding_errors:
        undecoded = f"decode all new resources: [{' '.join(_shortened(desired.decoding_errors))}]"
        statement = Statement(RESOURCES_APPLIED, ConditionStatus.FALSE, "DecodingFailed", f"Could not {undecoded}")
        # Undecodable documents have to be corrected, which is a change; only what took too long is tried again.
        failures = (replace(mr.failure(f"could not {undecoded}"), retryable=content.ran_out_of_time),)
    actions = await mr.status_patches(
        "applied" if statement is _APPLIED else statement.reason,
        statement,
        resources=desired.in_status(),
        checksum=desired.checksum,
        observed_generation=content.version[1],
    )
    is_complete = len(applied) == len(desired.objects) and not content.ran_out_of_time
    state = replace(
        mr.state,
        objects={each.identity: each for each in applied},
        attempted=_digest_of(desired),
        finished=finished(content, desired, statement.reason) if is_complete else (),
        unserved={},
    )
    events = (
        *(mr.warnings(statement.reason, statement.message) if desired.decoding_errors else ()),
        *((mr.event("Normal", statement.reason, statement.message),) if recovers and statement is _APPLIED else ()),
        *foreign_events(mr, foreign),
        *_repeated_events(mr, desired),
    )
    return Plan(actions, events if actions else (), failures, requeue_after=mr.config.sync_period, state=state)


def _shortened(errors: Sequence[str]) -> Sequence[str]:
    """The first errors and the last one, which may name a limit that was exceeded."""
    left_out = len(errors) - MOST_ERRORS - 1
    return errors if left_out <= 0 else (*errors[:MOST_ERRORS], f"({left_out} more errors.)", errors[-1])


def _repeated_events(mr: Reconciliation, desired: Desired) -> tuple[Event, ...]:
    note = "only the last of several manifests is applied of " + ", ".join(f'"{each}"' for each in desired.repeated)
    return (mr.event("Warning", "RepeatedResources", note),) if desired.repeated else ()
