"""Whether an object is deleted only because its definition is: then what it stands for stays.

An API server that deletes a CustomResourceDefinition marks the definition first, then deletes all objects of the kind,
and lets the definition go last. So a definition that is read live, after one of its objects was seen in deletion, tells
why: it is marked, it is gone, or it is not concerned. A definition may also be removed by force, and its objects come
back, still in deletion, with the next one: these are older than their definition.

An aggregated API has no definitions, and a simulation may lack them: there an object that still exists was deleted for
itself. What cannot be read is no knowledge: nothing is deleted then, as what stays too long can be deleted later.

Source: Kubernetes documentation, "Extend the Kubernetes API with CustomResourceDefinitions", deletion.
"""

from collections.abc import Iterable
from typing import Final

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of, uid_of
from hedgerow.machinery.plan import Event
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import object_at
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.steps import AtOnce

_NOBODY: Final = "-"
"""The name of no object: a list of all of this name shows no more than that the resource is served."""


def reads_definitions(*resources: Resource, cluster: Cluster = Cluster.TARGET) -> Permission:
    """The permission to read the definitions of resources, and no others."""
    return Permission.of(CUSTOM_RESOURCE_DEFINITIONS, "get", cluster=cluster, names=tuple(map(str, resources)))


async def goes_with_definition(resource: Resource, manifest: Manifest, cluster: Cluster) -> bool | NotAnswered:
    """True if an object in deletion goes only because its definition does, or went before; or why that is unknown."""
    answer = await _definition(resource, cluster)
    if isinstance(answer, Found):
        (definition,) = answer.objects
        return is_terminating(definition) or _was_before("deletionTimestamp", manifest, definition)
    if not answer.is_not_found:
        return answer
    key = key_of(manifest)
    served = await _named(key.name, resource, cluster, key.namespace)
    return served if isinstance(served, NotAnswered) else uid_of(manifest) not in map(uid_of, served.objects)


def _was_before(event: str, manifest: Manifest, definition: Manifest) -> bool:
    """True if an object was created, or marked for deletion, before a definition was created."""
    happened, created = (
        parse_timestamp(object_at(each, "metadata").get(name))
        for each, name in ((manifest, event), (definition, "creationTimestamp"))
    )
    return happened is not None and created is not None and happened < created


async def lost_definition(
    resources: Iterable[Resource], cluster: Cluster, *, unwanted: Iterable[Manifest]
) -> Resource | NotAnswered | None:
    """The first resource whose definition is or was being deleted; none if all is well, or why that is unknown.

    Whoever is about to delete `unwanted` objects because objects of these resources are gone asks this after it has
    seen that. A definition that is younger than one of them may be a new one, whose objects are not all restored.
    """
    unwanted = tuple(unwanted)
    asked = tuple(resources)
    undefined: list[Resource] = []
    for resource, answer in zip(asked, await AtOnce(tuple(_definition(each, cluster) for each in asked)), strict=True):
        if isinstance(answer, Found):
            (definition,) = answer.objects
            if is_terminating(definition) or any(
                _was_before("creationTimestamp", each, definition) for each in unwanted
            ):
                return resource
        elif not answer.is_not_found:
            return answer
        else:
            undefined.append(resource)
    served = await AtOnce(tuple(_named(_NOBODY, each, cluster) for each in undefined)) if undefined else ()
    return next((answer for answer in served if isinstance(answer, NotAnswered)), None)


def _definition(resource: Resource, cluster: Cluster) -> ObjectQuestion:
    return ObjectQuestion(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", str(resource)), cluster)


def _named(name: str, resource: Resource, cluster: Cluster, namespace: str = "") -> ListQuestion:
    selector = field_query({"metadata.name": name})
    return ListQuestion(resource, cluster, namespace, field_selector=selector, metadata_only=True)


def kept(
    resource: Resource, manifest: Manifest, stays: str, cluster: Cluster, *, lost: Resource | None = None
) -> Event:
    """The event about an object that says what stays, as a definition is lost: its own, or that of others."""
    what = "is gone, in deletion or created anew" if lost else "is being deleted"
    note = f"the definition of {(lost or resource).kind} {what}, so {stays}"
    return Event(resource, key_of(manifest), uid_of(manifest), "Warning", "DefinitionTerminating", note, cluster)
