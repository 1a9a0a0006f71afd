"""Which Secrets a ManagedResource takes its objects from. Only their names are known here, not what they hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, objects_at, text_at


def referenced_names(managed_resource: Manifest) -> tuple[str, ...]:
    """The names of the Secrets that a ManagedResource refers to, in its order; empty ones included.

    Raises:
        UnreadableError: the references have a shape that no API server stores.
    """
    refs = objects_at(managed_resource, "spec", "secretRefs")
    return tuple(_name(place, ref) for place, ref in enumerate(refs))


def _name(place: int, ref: Mapping[str, Any]) -> str:
    try:
        return text_at(ref, "name") or ""
    except UnreadableError as error:
        raise error.below(f"spec.secretRefs[{place}]") from None


def secret_names(managed_resource: Manifest) -> tuple[str, ...]:
    """The names of the Secrets that a ManagedResource refers to, in its order; empty ones are left out.

    Raises:
        UnreadableError: the references have a shape that no API server stores.
    """
    return tuple(name for name in referenced_names(managed_resource) if name)


def readable_names(managed_resource: Manifest) -> tuple[str, ...]:
    """As `secret_names`, without what cannot be read: it is told of where the ManagedResource is reconciled."""
    spec = managed_resource.get("spec")
    refs = spec.get("secretRefs") if isinstance(spec, Mapping) else None
    names = (ref.get("name") for ref in refs if isinstance(ref, Mapping)) if isinstance(refs, list) else ()
    return tuple(name for name in names if name and isinstance(name, str))


def secret_refs(names: Sequence[str]) -> list[Mapping[str, str]]:
    """The references of a ManagedResource to Secrets, as they stand in its spec."""
    return [{"name": name} for name in names]
