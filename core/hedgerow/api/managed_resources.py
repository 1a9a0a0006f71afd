"""ManagedResources: what they and the objects in them are recognised by, and which instance acts on one.

Several instances with different classes share a cluster. The finalizer on a ManagedResource names the instance that
holds it; one that moves to another class is released by the old instance before the new one takes it over.

Source: managed-resources §1, §5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.reading import UnreadableError, text_at
from hedgerow.machinery.scalars import parse_bool

MANAGED_RESOURCES: Final = Resource("resources.gardener.cloud", "v1alpha1", "managedresources", "ManagedResource")
APPLYING: Final = "managedresource"
"""The controller that applies ManagedResources."""

GARBAGE_COLLECTABLE: Final = "resources.gardener.cloud/garbage-collectable-reference"
"""Label of ConfigMaps and Secrets that are deleted once nothing refers to them any more: `"true"`."""

DEFAULT_CLASS: Final = "resources"
"""The class of a ManagedResource that names none."""
FINALIZER: Final = "resources.gardener.cloud/gardener-resource-manager"
"""Finalizer of ManagedResources and Secrets of the default class; other classes are appended with a dash."""

SKIP_HEALTH_CHECK: Final = "resources.gardener.cloud/skip-health-check"
"""Annotation of an object whose health does not count: `"true"`."""

RESOURCES_APPLIED: Final = "ResourcesApplied"
RESOURCES_HEALTHY: Final = "ResourcesHealthy"
RESOURCES_PROGRESSING: Final = "ResourcesProgressing"
"""The types of a ManagedResource's conditions."""

DELETION_PENDING: Final = "DeletionPending"
DELETION_FAILED: Final = "DeletionFailed"
"""Reasons of conditions while objects are being deleted."""

HANDED_OVER: Final = "HandedOver"
"""Reason of conditions while an instance of another class is to take over."""

MANAGED_BY: Final = "resources.gardener.cloud/managed-by"
"""Label of every managed object and of its templates; the value is configured."""

ORIGIN: Final = "resources.gardener.cloud/origin"
"""Annotation of every managed object: the ManagedResource that it comes from."""

APPLIED: Final = "resources.gardener.cloud/applied"
NOT_APPLIED: Final = "false"
"""Annotation of an entry in `status.resources`, and its value: the object is not known to have been applied."""

DESCRIPTION: Final = "resources.gardener.cloud/description"
DESCRIPTION_TEXT: Final = (
    "DO NOT EDIT - This resource is managed by gardener-resource-manager.\n"
    "Any modifications are discarded and the resource is returned to the original state."
)
"""Annotation of every managed object that tells people to leave it alone, and its value."""

IGNORE: Final = "resources.gardener.cloud/ignore"
"""Annotation of a ManagedResource: leave it alone; of an object in it: create it once, as it is. Any true boolean."""

MODE: Final = "resources.gardener.cloud/mode"
MODE_IGNORE: Final = "Ignore"
"""Annotation of an object in a ManagedResource, and its value: the object is released and lives on, unmanaged."""

PRESERVE_REPLICAS: Final = "resources.gardener.cloud/preserve-replicas"
PRESERVE_RESOURCES: Final = "resources.gardener.cloud/preserve-resources"
"""Annotations of a workload in a ManagedResource, `"true"`: its replicas, or its containers' resources, stay."""

REFERENCE_PREFIX: Final = "reference.resources.gardener.cloud/"
"""What the annotations begin with by which an object names the ConfigMaps and Secrets that it refers to."""

OPERATION: Final = "gardener.cloud/operation"
"""Annotation of a ManagedResource that asks for something to be done with it now."""

KEEP_OBJECT: Final = "resources.gardener.cloud/keep-object"
"""Annotation of a live object: it is not deleted although nothing asks for it any more. Any true boolean."""

FINALIZE_DELETION_AFTER: Final = "resources.gardener.cloud/finalize-deletion-after"
"""Annotation of a live object: how long after its deletion its finalizers are ignored. A duration."""

DELETE_ON_INVALID_UPDATE: Final = "resources.gardener.cloud/delete-on-invalid-update"
"""Annotation of an object in a ManagedResource: it is made anew where the server takes no update. Any true boolean."""

APPLY_FAILED: Final = "ApplyFailed"
"""Reason of `ResourcesApplied` when an object could not be applied."""


def class_of(managed_resource: Manifest) -> str:
    """The class that a ManagedResource asks for; the default class where it names none."""
    spec = managed_resource.get("spec")
    named = spec.get("class") if isinstance(spec, (dict, Mapping)) else None
    return named if isinstance(named, str) and named else DEFAULT_CLASS


@dataclass(frozen=True, slots=True)
class ClassFilter:
    """What an instance of one class has to do with ManagedResources."""

    own_class: str = DEFAULT_CLASS
    """Empty: the default class."""

    @property
    def finalizer(self) -> str:
        """The finalizer by which this instance holds a ManagedResource."""
        own_class = self.own_class or DEFAULT_CLASS
        return FINALIZER if own_class == DEFAULT_CLASS else f"{FINALIZER}-{own_class}"

    def is_responsible(self, managed_resource: Manifest) -> bool:
        """Whether a ManagedResource wants to be looked after by this instance."""
        return class_of(managed_resource) == (self.own_class or DEFAULT_CLASS)

    def has_to_act(self, managed_resource: Manifest) -> bool:
        """Whether this instance holds a ManagedResource, or may take hold of it since nobody else does."""
        finalizers = (managed_resource.get("metadata") or {}).get("finalizers")
        texts = (each for each in (finalizers if isinstance(finalizers, list) else ()) if isinstance(each, str))
        held_by = [each for each in texts if each.startswith(FINALIZER)]
        return self.finalizer in held_by or (not held_by and self.is_responsible(managed_resource))

    def passes(self, managed_resource: Manifest) -> bool:
        """Whether changes of a ManagedResource concern this instance at all."""
        return self.has_to_act(managed_resource) or self.is_responsible(managed_resource)


def transform_managed_resource(managed_resource: Manifest) -> Manifest:
    """All but who wrote which field: any other may be compared with what is to be written.

    All controllers keep the same, so that it is kept once.
    """
    metadata: dict[str, Any] = {**(managed_resource.get("metadata") or {})}
    metadata.pop("managedFields", None)
    return {**managed_resource, "metadata": metadata}


def is_ignored(manifest: Manifest) -> bool:
    """True if a ManagedResource is to be left alone, or an object of it once it is created as it is."""
    try:
        value = text_at(manifest, "metadata", "annotations", IGNORE)
    except UnreadableError:
        return False  # and then it cannot be merged either, which is the error to tell
    return value is not None and parse_bool(value).value_or(default_value=False)
