"""How an instance holds a ManagedResource by a finalizer, and lets it go, with or without its objects.

The finalizer is added before anything is applied.

A ManagedResource that has moved to another class is handed over with its objects, although §7.11 has them deleted first
and applied anew by the next instance: that would be an outage wherever both look after the same cluster. Where they
look after different ones, the objects stay behind in the old cluster, for people to delete.

An API server that deletes a CustomResourceDefinition deletes all objects of the kind. A ManagedResource that goes this
way is released, and what it delivered stays. The definition is read live in every reconciliation of a deletion, as a
cache may lag behind the deletion of the ManagedResource. Nothing is deleted as long as the definition cannot be read:
an object that stays too long can still be deleted, one that is gone cannot be restored. Where the API server has no
such definition, as in a simulation, the deletion counts.

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
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import (
    Obstacle,
    Reconciliation,
    Statement,
    event,
    say,
    trouble,
    write,
)
from hedgerow.resource_manager.managed_resources.reconciliation.pruning import foreign_events, prune

DEFINITION: Final = f"{MANAGED_RESOURCES.plural}.{MANAGED_RESOURCES.group}"
"""The name of the definition."""
_QUESTION: Final = ObjectQuestion(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", DEFINITION), Cluster.SOURCE)
_DELETING: Final = "The resources are currently being deleted."


async def hold(mr: Reconciliation) -> Plan | None:
    """Add the finalizer; the end of the reconciliation if that fails.

    Another instance, of another class and perhaps for another cluster, has applied what the status refers to. So this
    one records first that it has not applied these objects: it deletes only those that carry the origin.
    """
    finalizers, own = list_at(mr.manifest, "metadata", "finalizers"), mr.config.class_filter.finalizer
    if own in finalizers:
        return None
    inherited = [each.unapplied().in_status() for each in references_of(mr.manifest)]
    if inherited and (end := await say(mr, "taken-over", resources=inherited)):
        return end
    return await write(mr, _finalizers_patch(mr, [*finalizers, own], "held"), "failed to add finalizer")


async def release(mr: Reconciliation, *events: Event) -> Plan:
    """Remove the finalizer, which ends the reconciliation.

    Args:
        mr: the ManagedResource.
        events: about the release; not recorded if nothing was held, or if the release fails.
    """
    mr.read_again()
    finalizers, own = list_at(mr.manifest, "metadata", "finalizers"), mr.config.class_filter.finalizer
    if mr.is_gone or own not in finalizers:
        return Plan()
    others = [finalizer for finalizer in finalizers if finalizer != own]
    end = await write(mr, _finalizers_patch(mr, others or None, "released"), "failed to remove finalizer")
    return end or Plan(events=events)


def _finalizers_patch(mr: Reconciliation, finalizers: list[str] | None, reason: str) -> MergePatch:
    """A merge patch replaces the whole list, so it must not meet one to which somebody else has added."""
    patch = {"metadata": {"finalizers": finalizers}}
    version = resource_version_of(mr.manifest)
    return MergePatch(MANAGED_RESOURCES, mr.key, patch, reason, version, cluster=Cluster.SOURCE)


async def hand_over(mr: Reconciliation) -> Plan:
    """Release a ManagedResource of another class. Its objects stay."""
    to_class = f'handed over to class "{class_of(mr.manifest)}"'
    message = f"The resources are {to_class}."
    end = await say(
        mr,
        "handed-over",
        Statement(RESOURCES_HEALTHY, ConditionStatus.UNKNOWN, HANDED_OVER, message),
        Statement(RESOURCES_PROGRESSING, ConditionStatus.UNKNOWN, HANDED_OVER, message),
        Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, HANDED_OVER, message),
    )
    return end or await release(mr, event(mr, "Warning", HANDED_OVER, f"{to_class}; its objects stay"))


async def delete(mr: Reconciliation) -> Plan:
    """Delete the objects of a ManagedResource that is being deleted, unless they are kept, and release it then."""
    keeps_objects = boolean_at(mr.manifest, "spec", "keepObjects") is True
    if not keeps_objects and (end := await _end_with_definition(mr)):
        return end
    if end := await say(mr, "deleting", *_deleting(mr, keeps_objects=keeps_objects)):
        return end
    if keeps_objects:
        return await release(mr)
    foreign = await prune(mr, references_of(mr.manifest), mr.state)
    return foreign if isinstance(foreign, Plan) else await release(mr, *foreign_events(mr, foreign))


async def _end_with_definition(mr: Reconciliation) -> Plan | None:
    """Release the ManagedResource and leave its objects if its definition is being deleted; wait if that is unknown."""
    match await _QUESTION:
        case Found(objects) if any(map(is_terminating, objects)):
            note = "the definition of ManagedResource is being deleted, so the objects stay"
            return await release(mr, event(mr, "Warning", "DefinitionTerminating", note))
        case NotAnswered() as problem if not problem.is_not_found:
            text = f"could not read the definition of ManagedResource, so nothing is deleted: {problem.message}"
            obstacle = Obstacle(f"{text[0].upper()}{text[1:]}", problem.is_unreachable)
            return await trouble(mr, obstacle, DELETION_FAILED, text, mr.state)
        case _:
            return None


def _deleting(mr: Reconciliation, *, keeps_objects: bool) -> tuple[Statement, ...]:
    """The conditions during a deletion. How objects were applied that are kept stays as it was said."""
    statements = (
        Statement(RESOURCES_HEALTHY, ConditionStatus.FALSE, DELETION_PENDING, _DELETING),
        Statement(RESOURCES_PROGRESSING, ConditionStatus.TRUE, DELETION_PENDING, _DELETING),
    )
    if keeps_objects:
        return statements
    said = mr.said(RESOURCES_APPLIED)
    is_said = said is not None and said.reason in {DELETION_PENDING, DELETION_FAILED}
    message = said.message if said is not None and is_said else _DELETING
    return (*statements, Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, message))
