"""Deletes the objects of a ManagedResource that are no longer listed, and releases those of mode `Ignore`.

Both happen before other objects are applied, and conditions name the objects that still exist.

Source: managed-resources §7.7, §7.8, §14; decision "mode `Ignore`".
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from hedgerow.api.events import event_block, message_with_ages, warnings_question
from hedgerow.api.managed_resources import DELETION_PENDING, DESCRIPTION, ORIGIN, RESOURCES_APPLIED
from hedgerow.api.references import Origin, Reference
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import Kind, ObjectKey, annotations_of
from hedgerow.machinery.plan import Event, JsonPatch, Plan
from hedgerow.machinery.questions import Found, NotAnswered
from hedgerow.machinery.steps import AtOnce, Now, concurrently
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.reconciliation import Reconciliation, State, Statement
from hedgerow.resource_manager.managed_resources.removal import Absent, Left, Pending, live_object, removed

Foreign: TypeAlias = tuple[tuple[Reference, Origin], ...]
"""Objects that are no longer listed and stay, with the ManagedResources of other clusters that they belong to."""

RETRY_AFTER: Final = 5.0
"""Seconds between two checks of pending deletions."""
MOST_TOLD: Final = 50
"""Objects that one message names; a ManagedResource cannot hold thousands."""
_CONFIRMED_AFTER: Final = timedelta(seconds=RETRY_AFTER - 1)
_SERVICE: Final = Kind("v1", "Service")


async def prune(mr: Reconciliation, references: Iterable[Reference], state: State) -> Foreign | Plan:
    """Delete objects, all at once. A later reconciliation confirms that they are gone.

    Args:
        mr: the ManagedResource that they belonged to.
        references: the objects.
        state: for the next reconciliation, while some of them exist.

    Returns:
        What stays, or the end of a reconciliation that has to wait.
    """
    ordered = _in_order(references)
    mr.now = await Now()
    removals = list(zip(ordered, await concurrently(removed(mr, each) for each in ordered), strict=True))
    pending = [(each, removal) for each, removal in removals if isinstance(removal, Pending)]
    if unknown := next((removal for _, removal in pending if removal.is_unreachable), None):
        problem = f"could not find out what is left of old resources: {unknown.error}"
        return await mr.failed("", unknown.error, state, logged=problem, is_unreachable=True)
    if pending:
        return await _wait_for(mr, pending, state)
    # A server that has just started may learn of a kind a moment later, and its objects are not gone.
    kinds = [each.kind for each, removal in removals if isinstance(removal, Absent) and removal.is_unserved]
    unserved = {kind: mr.state.unserved.get(kind, mr.now) for kind in kinds}
    if any(mr.now - since < _CONFIRMED_AFTER for since in unserved.values()):
        return Plan(requeue_after=RETRY_AFTER, state=replace(state, finished=(), unserved=unserved))
    return tuple((each, removal.owner) for each, removal in removals if isinstance(removal, Left) and removal.owner)


async def _wait_for(mr: Reconciliation, pending: Sequence[tuple[Reference, Pending]], state: State) -> Plan:
    """Name the objects that still exist, with the warnings about Services, which may take long."""
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
        texts = [text(each, removal.error, now) for each, removal in shown]
        return _joined("Could not clean all old resources", texts, len(pending))

    message = message_with_ages(message_at, mr.applied, await Now())
    statement = Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, message)
    actions = await mr.status_patches("deletion-pending", statement)
    return Plan(actions, requeue_after=RETRY_AFTER, state=replace(state, finished=()))


def foreign_events(mr: Reconciliation, foreign: Foreign) -> tuple[Event, ...]:
    """The event about objects that are left to ManagedResources of other clusters."""
    objects = ", ".join(f'"{reference}" of origin "{origin}"' for reference, origin in foreign)
    note = f"left to ManagedResources of other clusters: {objects}"
    return (mr.event("Warning", "ForeignResourcesLeft", note),) if foreign else ()


async def release_orphans(mr: Reconciliation, desired: Desired, state: State) -> Plan | None:
    """Remove our annotations from objects that are no longer managed; the end of the reconciliation if that fails."""
    problems = await concurrently(_release(mr, orphan) for orphan in _in_order(desired.orphans))
    if not (errors := [problem for problem in problems if problem]):
        return None
    text = _joined("Could not release all orphaned resources", errors, len(errors))
    return await mr.failed("ReleaseOfOrphanedResourcesFailed", text, state, logged=text)


async def _release(mr: Reconciliation, orphan: Reference) -> str | None:
    """Release an object; the error if that fails. An object of another ManagedResource stays as it is."""
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


def _joined(problem: str, errors: Sequence[str], count: int) -> str:
    """Several errors in one sentence, which quotes the first `MOST_TOLD`."""
    if count == 1:
        return f"{problem}: 1 error occurred: {errors[0]}"
    more = f", and {count - MOST_TOLD} more" if count > MOST_TOLD else ""
    return f"{problem}: {count} errors occurred: [{', '.join(errors[:MOST_TOLD])}{more}]"
