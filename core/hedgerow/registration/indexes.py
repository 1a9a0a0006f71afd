"""Which objects of the garden belong together: look-ups that several controllers share.

What cannot be read belongs to nothing: one bad object must not keep the others from being found.
"""

from collections.abc import Callable, Iterable
from typing import Final

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.reading import UnreadableError, objects_at, text_at
from hedgerow.machinery.snapshot import Index


def _named(*paths: tuple[str, ...]) -> Callable[[Manifest], frozenset[ObjectKey]]:
    """The function that returns what an object names at some paths."""

    def keys(manifest: Manifest) -> frozenset[ObjectKey]:
        return frozenset(ObjectKey("", name) for path in paths if (name := readable_text(manifest, *path)))

    return keys


def readable_text(manifest: Manifest, *path: str) -> str | None:
    """The text at a path; none if there is none, or something else."""
    try:
        return text_at(manifest, *path)
    except UnreadableError:
        return None


def _deployments(registration: Manifest) -> frozenset[ObjectKey]:
    names = (readable_text(each, "name") for each in _objects(registration, "spec", "deployment", "deploymentRefs"))
    return frozenset(ObjectKey("", name) for name in names if name)


def _kinds(registration: Manifest) -> frozenset[str]:
    return frozenset(
        filter(None, (readable_text(each, "kind") for each in _objects(registration, "spec", "resources")))
    )


def _objects(manifest: Manifest, *path: str) -> Iterable[Manifest]:
    try:
        return objects_at(manifest, *path)
    except UnreadableError:
        return ()


def _by_seed(name: str, resource: Resource, *paths: tuple[str, ...]) -> Index[ObjectKey]:
    return Index(f"{name} by seed", resource, _named(*paths), Cluster.SOURCE)


INSTALLATIONS_BY_SEED: Final = _by_seed("installations", CONTROLLER_INSTALLATIONS, ("spec", "seedRef", "name"))
BUCKETS_BY_SEED: Final = _by_seed("backup buckets", BACKUP_BUCKETS, ("spec", "seedName"))
ENTRIES_BY_SEED: Final = _by_seed("backup entries", BACKUP_ENTRIES, ("spec", "seedName"))
SHOOTS_BY_SEED: Final = _by_seed("shoots", SHOOTS, ("spec", "seedName"), ("status", "seedName"))
"""Those that move away, too."""
INSTALLATIONS_BY_REGISTRATION: Final = Index(
    "installations by registration",
    CONTROLLER_INSTALLATIONS,
    _named(("spec", "registrationRef", "name")),
    Cluster.SOURCE,
)
REGISTRATIONS_BY_DEPLOYMENT: Final = Index(
    "registrations by deployment", CONTROLLER_REGISTRATIONS, _deployments, Cluster.SOURCE
)
REGISTRATIONS_BY_KIND: Final = Index("registrations by kind", CONTROLLER_REGISTRATIONS, _kinds, Cluster.SOURCE)
