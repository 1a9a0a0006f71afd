"""Which instance of the controllers a ManagedResource belongs to, and who has to act on it.

Several instances with different classes share a cluster. The finalizer on a ManagedResource names the instance that
holds it; one that moves to another class is released by the old instance before the new one takes it over.

Source: managed-resources §5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.names import DEFAULT_CLASS, FINALIZER


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
        finalizers = _finalizers_of(managed_resource)
        return self.finalizer in finalizers or (not _is_busy(finalizers) and self.is_responsible(managed_resource))

    def passes(self, managed_resource: Manifest) -> bool:
        """Whether changes of a ManagedResource concern this instance at all."""
        return self.has_to_act(managed_resource) or self.is_responsible(managed_resource)


def _is_busy(finalizers: Sequence[Any]) -> bool:
    """Whether an instance of any class holds a ManagedResource."""
    return any(isinstance(finalizer, str) and finalizer.startswith(FINALIZER) for finalizer in finalizers)


def _finalizers_of(managed_resource: Manifest) -> Sequence[Any]:
    finalizers = (managed_resource.get("metadata") or {}).get("finalizers")
    return finalizers if isinstance(finalizers, list) else ()
