"""Deletes objects that are no longer listed, releases those of mode `Ignore`, and holds and releases ManagedResources.

The finalizer of a ManagedResource is added before anything is applied. Objects are deleted and released before others
are applied, and conditions name those that still exist.

A ManagedResource that has moved to another class is handed over with its objects. §7.11 deletes them first, and the
next instance applies them anew: an outage if both manage the same cluster. If they manage different ones, the objects
stay in the old cluster, for people to delete.

A ManagedResource that goes with its definition is released, and its objects stay. Every reconciliation of a deletion
reads the definition live, as caches lag behind.

Source: managed-resources §5, §7.2, §7.7, §7.8, §7.11, §14; decision "mode `Ignore`".
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from hedgerow.api.definition_deletion import goes_with_definition, kept
from hedgerow.api.events import event_block, message_with_ages, warnings_question
from hedgerow.api.managed_resources import (
    DELETION_FAILED,
    DELETION_PENDING,
    DESCRIPTION,
    HANDED_OVER,
    MANAGED_RESOURCES,
    ORIGIN,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
    class_of,
)
from hedgerow.api.references import Origin, Reference, references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import Kind, ObjectKey, annotations_of, resource_version_of
from hedgerow.machinery.plan import Event, JsonPatch, MergePatch, Plan
from hedgerow.machinery.questions import Found, NotAnswered
from hedgerow.machinery.reading import boolean_at, list_at
from hedgerow.machinery.steps import AtOnce, Now, concurrently
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.reconciliation import Reconciliation, State, Statement
from hedgerow.resource_manager.managed_resources.removal import Absent, Left, Pending, live_object, removed

RETRY_AFTER: Final = 5.0
"""Seconds between two checks of pending deletions."""
MOST_TOLD: Final = 50
"""Objects that one message names; a ManagedResource cannot hold thousands."""
_CONFIRMED_AFTER: Final = timedelta(seconds=RETRY_AFTER - 1)
_SERVICE: Final = Kind("v1", "Service")
_DELETING: Final = "The resources are currently being deleted."

Foreign: TypeAlias = tuple[tuple[Reference, Origin], ...]
"""Objects that are no longer listed and stay, with the ManagedResources of other clusters that they belong to."""


async def hold(mr: Reconciliation) -> Plan | None:
    """Add the finalizer; the end of the reconciliation if that fails.

    An instance of another class, perhaps for another cluster, has applied what the status refers to. So these
    references are marked as not applied first: then only objects with the origin annotation are deleted.
    """
    finalizers, own = list_at(mr.manifest, "metadata", "finalizers"), mr.config.class_filter.finalizer
    if own in finalizers:
        return None
    inherited = [each.unapplied().in_status() for each in references_of(mr.manifest)]
    if inherited and (end := await mr.write_status("taken-over", resources=inherited)):
        return end
    return await mr.write(_finalizers_patch(mr, [*finalizers, own], "held"), "failed to add finalizer")


async def release(mr: Reconciliation, *events: Event) -> Plan:
    """Remove the finalizer, which ends the reconciliation; `events` tell of it, if it was there and is removed."""
    mr.read_again()
    finalizers, own = list_at(mr.manifest, "metadata", "finalizers"), mr.config.class_filter.finalizer
    if mr.is_deleted or own not in finalizers:
        return Plan()
    others = [finalizer for finalizer in finalizers if finalizer != own]
    end = await mr.write(_finalizers_patch(mr, others or None, "released"), "failed to remove finalizer")
    return end or Plan(events=events)


def _finalizers_patch(mr: Reconciliation, finalizers: list[str] | None, reason: str) -> MergePatch:
    """A merge patch replaces the whole list, so it requires the version that it was computed from."""
    patch, version = {"metadata": {"finalizers": finalizers}}, resource_version_of(mr.manifest)
    return MergePatch(MANAGED_RESOURCES, mr.key, patch, reason, version, cluster=Cluster.SOURCE)


async def hand_over(mr: Reconciliation) -> Plan:
    """Release a ManagedResource of another class; its objects stay."""
    note = f'handed over to class "{class_of(mr.manifest)}"'
    message = f"The resources are {note}."
    end = await mr.write_status(
        "handed-over",
        Statement(RESOURCES_HEALTHY, ConditionStatus.UNKNOWN, HANDED_OVER, message),
        Statement(RESOURCES_PROGRESSING, ConditionStatus.UNKNOWN, HANDED_OVER, message),
        Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, HANDED_OVER, message),
    )
    return end or await release(mr, mr.event("Warning", HANDED_OVER, f"{note}; its objects stay"))


async def delete(mr: Reconciliation) -> Plan:
    """Delete the objects of a ManagedResource that is being deleted, unless they are kept; then release it."""
    keeps_objects = boolean_at(mr.manifest, "spec", "keepObjects") is True
    if not keeps_objects and (end := await _end_with_definition(mr)):
        return end
    if end := await mr.write_status("deleting", *_deleting(mr, keeps_objects=keeps_objects)):
        return end
    if keeps_objects:
        return await release(mr)
    foreign = await prune(mr, references_of(mr.manifest), mr.state)
    return foreign if isinstance(foreign, Plan) else await release(mr, *foreign_events(mr, foreign))


async def _end_with_definition(mr: Reconciliation) -> Plan | None:
    """Release the ManagedResource, without its objects, if it goes with its definition; fail if that is unknown."""
    goes = await goes_with_definition(MANAGED_RESOURCES, mr.manifest, Cluster.SOURCE)
    if isinstance(goes, NotAnswered):
        text = f"could not read the definition of ManagedResource, so nothing is deleted: {goes.message}"
        message, is_unreachable = f"C{text[1:]}", goes.is_unreachable
        return await mr.failed(DELETION_FAILED, message, mr.state, logged=text, is_unreachable=is_unreachable)
    if not goes:
        return None
    return await release(mr, kept(MANAGED_RESOURCES, mr.manifest, "the objects stay", Cluster.SOURCE))


def _deleting(mr: Reconciliation, *, keeps_objects: bool) -> tuple[Statement, ...]:
    """The conditions during a deletion; `ResourcesApplied` stays as it is if objects are kept."""
    statements = (
        Statement(RESOURCES_HEALTHY, ConditionStatus.FALSE, DELETION_PENDING, _DELETING),
        Statement(RESOURCES_PROGRESSING, ConditionStatus.TRUE, DELETION_PENDING, _DELETING),
    )
    if keeps_objects:
        return statements
    stored = mr.applied
    message = stored.message if stored and stored.reason in {DELETION_PENDING, DELETION_FAILED} else _DELETING
    return (*statements, Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, message))


async def prune(mr: Reconciliation, references: Iterable[Reference], state: State) -> Foreign | Plan:
    """Delete objects of a ManagedResource, all at once. A later reconciliation confirms that they are gone.

    Returns the objects of others, or the end of a reconciliation that has to wait, with the state for the next one.
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
