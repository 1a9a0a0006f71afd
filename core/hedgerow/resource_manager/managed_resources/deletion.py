"""Holds a ManagedResource by a finalizer, and releases it, with or without its objects.

The finalizer is added before anything is applied.

A ManagedResource that has moved to another class is handed over with its objects. §7.11 deletes them first, and the
next instance applies them anew: an outage if both manage the same cluster. If they manage different ones, the objects
stay in the old cluster, for people to delete.

An API server that deletes a CustomResourceDefinition deletes all objects of the kind. A ManagedResource that is deleted
with its definition is released, and its objects stay. Every reconciliation of a deletion reads the definition live, as
caches lag behind. Nothing is deleted while the definition cannot be read: objects that stay too long can be deleted
later, deleted ones cannot be restored. Where the definition does not exist, as in a simulation, objects are deleted.

Source: managed-resources §5, §7.2, §7.11; Kubernetes documentation, "Extend the Kubernetes API with
CustomResourceDefinitions", deletion.
"""

from typing import Final

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow.api.managed_resources import (
    DELETION_FAILED,
    DELETION_PENDING,
    HANDED_OVER,
    MANAGED_RESOURCES,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
    class_of,
)
from hedgerow.api.references import references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import ObjectKey, is_terminating, resource_version_of
from hedgerow.machinery.plan import Event, MergePatch, Plan
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import boolean_at, list_at
from hedgerow.resource_manager.managed_resources.pruning import foreign_events, prune
from hedgerow.resource_manager.managed_resources.reconciliation import Reconciliation, Statement

DEFINITION: Final = f"{MANAGED_RESOURCES.plural}.{MANAGED_RESOURCES.group}"
"""Name of the definition."""
_DELETING: Final = "The resources are currently being deleted."


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
    """Release the ManagedResource, without its objects, if its definition is being deleted; fail if that is unknown."""
    match await ObjectQuestion(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", DEFINITION), Cluster.SOURCE):
        case Found(objects) if any(map(is_terminating, objects)):
            note = "the definition of ManagedResource is being deleted, so the objects stay"
            return await release(mr, mr.event("Warning", "DefinitionTerminating", note))
        case NotAnswered() as answer if not answer.is_not_found:
            text = f"could not read the definition of ManagedResource, so nothing is deleted: {answer.message}"
            message, is_unreachable = f"C{text[1:]}", answer.is_unreachable
            return await mr.failed(DELETION_FAILED, message, mr.state, logged=text, is_unreachable=is_unreachable)
        case _:
            return None


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
