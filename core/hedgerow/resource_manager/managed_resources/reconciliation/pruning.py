"""Objects that are no longer managed: those no longer listed are deleted, those of mode `Ignore` are released.

Both happen before other objects are applied, and conditions say which objects still exist.

Source: managed-resources §7.7, §7.8, §14; decision "mode `Ignore`".
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from hedgerow.api.events import event_block, message_with_ages, warnings_question
from hedgerow.api.managed_resources import DELETION_PENDING, DESCRIPTION, ORIGIN, RESOURCES_APPLIED
from hedgerow.api.origins import Origin
from hedgerow.api.references import Reference
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.execution import concurrently
from hedgerow.machinery.objects import Kind, ObjectKey, annotations_of
from hedgerow.machinery.plan import Event, JsonPatch, Plan
from hedgerow.machinery.questions import Found, NotAnswered
from hedgerow.machinery.steps import AtOnce, Now
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import (
    Obstacle,
    Reconciliation,
    Statement,
    event,
    status_write,
    trouble,
)
from hedgerow.resource_manager.managed_resources.reconciliation.removal import Gone, live_object, removed
from hedgerow.resource_manager.managed_resources.reconciliation.state import State

Foreign: TypeAlias = tuple[tuple[Reference, Origin], ...]
"""Objects that are no longer listed and stay, as they belong to ManagedResources of other clusters."""

RETRY_AFTER: Final = 5.0
"""Seconds until the next look at what is waited for."""
MOST_TOLD: Final = 50
"""Objects that one message names. Thousands would not fit into a ManagedResource."""
_CONFIRMED_AFTER: Final = timedelta(seconds=RETRY_AFTER - 1)
_SERVICE: Final = Kind("v1", "Service")


async def prune(mr: Reconciliation, references: Iterable[Reference], state: State) -> Foreign | Plan:
    """Delete objects, all at once. A later reconciliation confirms that they are gone.

    Args:
        mr: the ManagedResource that they belonged to.
        references: the objects.
        state: for the next reconciliation, as long as some of them exist.

    Returns:
        What stays, or the end of a reconciliation that has to wait.
    """
    ordered = _in_order(references)
    mr.now = await Now()
    removals = list(zip(ordered, await concurrently(removed(mr, each) for each in ordered), strict=True))
    pending = [(each, removal) for each, removal in removals if isinstance(removal, Obstacle)]
    if unknown := next((obstacle for _, obstacle in pending if obstacle.is_unreachable), None):
        problem = f"could not find out what is left of old resources: {unknown.text}"
        return await trouble(mr, unknown, "", problem, state)
    if pending:
        return await _wait_for(mr, pending, state)
    gone = [(each, removal) for each, removal in removals if isinstance(removal, Gone)]
    # A server that has just started may learn of a kind a moment later, and its objects are not gone.
    unserved = {each.kind: mr.state.unserved.get(each.kind, mr.now) for each, removal in gone if removal.is_unserved}
    if any(mr.now - since < _CONFIRMED_AFTER for since in unserved.values()):
        return Plan(requeue_after=RETRY_AFTER, state=replace(state, finished=(), unserved=unserved))
    return tuple((each, removal.foreign) for each, removal in gone if removal.foreign)


async def _wait_for(mr: Reconciliation, pending: Sequence[tuple[Reference, Obstacle]], state: State) -> Plan:
    """Say which objects are still there, with the warnings about Services, which may take long."""
    shown = pending[:MOST_TOLD]
    services = [each for each, _ in shown if each.kind == _SERVICE]
    answers = await AtOnce(tuple(warnings_question(_SERVICE, _key(each)) for each in services)) if services else ()
    found = zip(services, answers, strict=True)
    warnings = {each.identity: answer.objects for each, answer in found if isinstance(answer, Found)}

    def text(reference: Reference, error: str, now: datetime) -> str:
        pending = f'deletion of old resource "{reference}" is still pending{": " if error else ""}{error}'
        events = event_block(warnings.get(reference.identity, ()), reference.kind, _key(reference), now)
        return f"{pending}\n\n{events}" if events else pending

    def message_at(now: datetime) -> str:
        texts = [text(each, error.text, now) for each, error in shown]
        return _joined("Could not clean all old resources", texts, len(pending))

    message = message_with_ages(message_at, mr.said(RESOURCES_APPLIED), await Now())
    statement = Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, message)
    actions = await status_write(mr, "deletion-pending", statement)
    return Plan(actions, requeue_after=RETRY_AFTER, state=replace(state, finished=()))


def foreign_events(mr: Reconciliation, foreign: Foreign) -> tuple[Event, ...]:
    """The event about objects that are left to ManagedResources of other clusters."""
    if not foreign:
        return ()
    objects = ", ".join(f'"{reference}" of origin "{origin}"' for reference, origin in foreign)
    note = f"left to ManagedResources of other clusters: {objects}"
    return (event(mr, "Warning", "ForeignResourcesLeft", note),)


async def release_orphans(mr: Reconciliation, desired: Desired, state: State) -> Plan | None:
    """Remove our annotations from objects that are no longer managed; the end of the reconciliation if that fails."""
    problems = await concurrently(_release(mr, orphan) for orphan in _in_order(desired.orphans))
    if not (errors := [problem for problem in problems if problem]):
        return None
    text = _joined("Could not release all orphaned resources", errors, len(errors))
    return await trouble(mr, Obstacle(text), "ReleaseOfOrphanedResourcesFailed", text, state)


async def _release(mr: Reconciliation, orphan: Reference) -> str | None:
    """Release an object; why that failed, if it did. What another ManagedResource has taken over stays as it is."""
    live = await live_object(orphan)
    if isinstance(live, NotAnswered):
        return None if live.is_not_found else f'error getting object "{orphan}": {live.message}'
    if annotations_of(live.manifest).get(ORIGIN) != mr.origin:
        return None
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": _pointer(ORIGIN), "value": mr.origin},
        {"op": "remove", "path": _pointer(ORIGIN)},
    ]
    if DESCRIPTION in annotations_of(live.manifest):
        operations.append({"op": "remove", "path": _pointer(DESCRIPTION)})
    error = (await JsonPatch(live.resource, live.key, operations, "released")).error
    if error is None or error.is_not_found:
        return None
    return f'error patching object "{orphan}": {error.message}'


def _pointer(annotation: str) -> str:
    return f"/metadata/annotations/{annotation.replace('/', '~1')}"


def _in_order(references: Iterable[Reference]) -> Sequence[Reference]:
    """Each object once, in the order of messages."""
    return sorted({each.identity: each for each in references}.values(), key=lambda each: str(each.identity))


def _key(reference: Reference) -> ObjectKey:
    return ObjectKey(reference.identity.namespace, reference.key.name)


def _joined(what: str, errors: Sequence[str], count: int) -> str:
    """Several errors in one sentence, which names the first `MOST_TOLD`."""
    if count == 1:
        return f"{what}: 1 error occurred: {errors[0]}"
    more = f", and {count - MOST_TOLD} more" if count > MOST_TOLD else ""
    return f"{what}: {count} errors occurred: [{', '.join(errors[:MOST_TOLD])}{more}]"
