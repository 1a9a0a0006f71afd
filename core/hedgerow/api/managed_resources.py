"""ManagedResources: their labels, annotations and conditions, and the instance that is responsible for one.

Several instances with different classes share a cluster. The finalizer on a ManagedResource names the instance that
holds it. If its class changes, the old instance releases it before the new one takes over.

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
"""The name of the controller that applies ManagedResources."""
GARBAGE_COLLECTABLE: Final = "resources.gardener.cloud/garbage-collectable-reference"
"""Label of ConfigMaps and Secrets that are deleted when nothing refers to them: `"true"`."""
DEFAULT_CLASS: Final = "resources"
"""The class of a ManagedResource that names none."""
FINALIZER: Final = "resources.gardener.cloud/gardener-resource-manager"
"""Finalizer of ManagedResources and Secrets of the default class; other classes are appended with a dash."""
SKIP_HEALTH_CHECK: Final = "resources.gardener.cloud/skip-health-check"
"""Annotation of an object whose health is not checked: `"true"`."""

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
"""Annotation of every managed object, and its value: a warning for people."""

IGNORE: Final = "resources.gardener.cloud/ignore"
"""Annotation of a ManagedResource: it is not reconciled; of an object in it: it is created and never updated. Any true
boolean."""
MODE: Final = "resources.gardener.cloud/mode"
MODE_IGNORE: Final = "Ignore"
"""Annotation of an object in a ManagedResource, and its value: the object is released and lives on, unmanaged."""
PRESERVE_REPLICAS: Final = "resources.gardener.cloud/preserve-replicas"
PRESERVE_RESOURCES: Final = "resources.gardener.cloud/preserve-resources"
"""Annotations of a workload in a ManagedResource, `"true"`: its replicas, or its containers' resources, stay."""
REFERENCE_PREFIX: Final = "reference.resources.gardener.cloud/"
"""Prefix of the annotations that name the ConfigMaps and Secrets that an object uses."""

OPERATION: Final = "gardener.cloud/operation"
"""Annotation of a ManagedResource: an operation to perform now."""
KEEP_OBJECT: Final = "resources.gardener.cloud/keep-object"
"""Annotation of a live object: it is not pruned. Any true boolean."""
FINALIZE_DELETION_AFTER: Final = "resources.gardener.cloud/finalize-deletion-after"
"""Annotation of a live object: how long after its deletion its finalizers are removed. A duration."""
DELETE_ON_INVALID_UPDATE: Final = "resources.gardener.cloud/delete-on-invalid-update"
"""Annotation of an object in a ManagedResource: it is recreated if the server refuses an update. Any true boolean."""
APPLY_FAILED: Final = "ApplyFailed"
"""Reason of `ResourcesApplied` when an object could not be applied."""


def class_of(managed_resource: Manifest) -> str:
    """The class of a ManagedResource; the default class if it names none."""
    spec = managed_resource.get("spec")
    named = spec.get("class") if isinstance(spec, (dict, Mapping)) else None
    return named if isinstance(named, str) and named else DEFAULT_CLASS


def is_taken_up(managed_resource: Manifest) -> bool:
    """True if an instance of any class has held a ManagedResource, or told of it in its status."""
    finalizers = (managed_resource.get("metadata") or {}).get("finalizers")
    held_by = finalizers if isinstance(finalizers, list) else ()
    return bool(managed_resource.get("status")) or any(str(each).startswith(FINALIZER) for each in held_by)


@dataclass(frozen=True, slots=True)
class ClassFilter:
    """Which ManagedResources concern an instance of one class."""

    own_class: str = DEFAULT_CLASS
    """Empty: the default class."""

    @property
    def finalizer(self) -> str:
        """The finalizer of this instance."""
        own_class = self.own_class or DEFAULT_CLASS
        return FINALIZER if own_class == DEFAULT_CLASS else f"{FINALIZER}-{own_class}"

    def is_responsible(self, managed_resource: Manifest) -> bool:
        """True if a ManagedResource has the class of this instance."""
        return class_of(managed_resource) == (self.own_class or DEFAULT_CLASS)

    def has_to_act(self, managed_resource: Manifest) -> bool:
        """True if this instance holds a ManagedResource, or is responsible and no other holds it."""
        finalizers = (managed_resource.get("metadata") or {}).get("finalizers")
        texts = (each for each in (finalizers if isinstance(finalizers, list) else ()) if isinstance(each, str))
        held_by = [each for each in texts if each.startswith(FINALIZER)]
        return self.finalizer in held_by or (not held_by and self.is_responsible(managed_resource))

    def passes(self, managed_resource: Manifest) -> bool:
        """True if changes of a ManagedResource concern this instance."""
        return self.has_to_act(managed_resource) or self.is_responsible(managed_resource)


def transform_managed_resource(managed_resource: Manifest) -> Manifest:
    """All but managed fields: decisions compare any other field with the desired one."""
    metadata: dict[str, Any] = {**(managed_resource.get("metadata") or {})}
    metadata.pop("managedFields", None)
    return {**managed_resource, "metadata": metadata}


def is_ignored(manifest: Manifest) -> bool:
    """True if a ManagedResource is not reconciled, or an object of it not updated."""
    try:
        value = text_at(manifest, "metadata", "annotations", IGNORE)
    except UnreadableError:
        return False  # merging it fails with the same error
    return value is not None and parse_bool(value).value_or(default_value=False)
