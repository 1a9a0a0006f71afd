"""Which Secrets a ManagedResource takes its objects from. Only their names are known here, not what they hold."""

from collections.abc import Mapping, Sequence

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import objects_at, text_at


def secret_names(managed_resource: Manifest) -> tuple[str, ...]:
    """The names of the Secrets that a ManagedResource refers to, in its order; empty ones are left out.

    Raises:
        UnreadableError: the references have a shape that no API server stores.
    """
    refs = objects_at(managed_resource, "spec", "secretRefs")
    return tuple(name for ref in refs if (name := text_at(ref, "name")))


def secret_refs(names: Sequence[str]) -> list[Mapping[str, str]]:
    """The references of a ManagedResource to Secrets, as they stand in its spec."""
    return [{"name": name} for name in names]
