"""Objects of the garden: what caches keep of them, and which belong together.

What cannot be read belongs to nothing: one bad object must not keep the others from being found.
"""

from collections.abc import Callable, Iterable
from typing import Final

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    POD_SECURITY_ENFORCE,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Watch, every_change, no_key
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.reading import UnreadableError, keeping, objects_at, text_at
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.registration.content import SPEC_HASH, deployment_hash, registration_hash

_METADATA: Final = tuple(
    f"metadata.{name}" for name in ("name", "uid", "resourceVersion", "generation", "deletionTimestamp", "finalizers")
)
_kept_of_registration: Final = keeping(
    *_METADATA,
    "spec.resources",
    *(f"spec.deployment.{name}" for name in ("type", "policy", "deploymentRefs", "seedSelector")),
    annotations=(POD_SECURITY_ENFORCE,),
)
_kept_of_deployment: Final = keeping(*_METADATA, "type")


def transform_registration(registration: Manifest) -> Manifest:
    """What decisions read of a registration: neither chart nor values, which are large, but the hash."""
    try:
        digest = registration_hash(registration)
    except UnreadableError:
        digest = ""
    return {**_kept_of_registration(registration), SPEC_HASH: digest}


def transform_deployment(deployment: Manifest) -> Manifest:
    """What decisions read of a ControllerDeployment: of chart and values, which are large, only the hash."""
    return {**_kept_of_deployment(deployment), SPEC_HASH: deployment_hash(deployment)}


transform_installation: Final = keeping(
    *_METADATA, "metadata.creationTimestamp", "metadata.labels", "metadata.annotations", "spec", "status.conditions"
)
_TRANSFORMS: Final = {
    SEEDS: keeping(*_METADATA, "metadata.labels", "metadata.annotations", "spec"),
    CONTROLLER_REGISTRATIONS: transform_registration,
    CONTROLLER_DEPLOYMENTS: transform_deployment,
    CONTROLLER_INSTALLATIONS: transform_installation,
}


def garden_watch(
    resource: Resource,
    enqueue: Callable[[Manifest, Snapshot], Iterable[ObjectKey]] = no_key,
    predicate: Callable[[Change], bool] = every_change,
    *,
    is_desired_state: bool = False,
) -> Watch:
    """The watch of Seeds, registrations, deployments or installations."""
    return Watch(
        resource, _TRANSFORMS[resource], enqueue, predicate, cluster=Cluster.SOURCE, is_desired_state=is_desired_state
    )


def readable_text(manifest: Manifest, *path: str) -> str | None:
    """The text at a path; none if there is none, or something else."""
    try:
        return text_at(manifest, *path)
    except UnreadableError:
        return None


def _texts(manifest: Manifest, field: str, *path: str) -> frozenset[str]:
    """The texts in a field of the objects in a list; none of a list that cannot be read."""
    try:
        return frozenset(text for each in objects_at(manifest, *path) if (text := readable_text(each, field)))
    except UnreadableError:
        return frozenset()


def _index(name: str, resource: Resource, *paths: str) -> Index[ObjectKey]:
    """The index by the name that objects have at dotted paths."""
    split = [path.split(".") for path in paths]
    return Index(
        name,
        resource,
        lambda manifest: frozenset(ObjectKey("", text) for path in split if (text := readable_text(manifest, *path))),
        Cluster.SOURCE,
    )


INSTALLATIONS_BY_SEED: Final = _index("installations by seed", CONTROLLER_INSTALLATIONS, "spec.seedRef.name")
INSTALLATIONS_BY_REGISTRATION: Final = _index(
    "installations by registration", CONTROLLER_INSTALLATIONS, "spec.registrationRef.name"
)
BUCKETS_BY_SEED: Final = _index("backup buckets by seed", BACKUP_BUCKETS, "spec.seedName")
ENTRIES_BY_SEED: Final = _index("backup entries by seed", BACKUP_ENTRIES, "spec.seedName")
SHOOTS_BY_SEED: Final = _index("shoots by seed", SHOOTS, "spec.seedName", "status.seedName")
"""Those that move away, too."""
SHOOTS_BY_NAMESPACE: Final = _index("shoots by namespace in the seed", SHOOTS, "status.technicalID")
REGISTRATIONS_BY_DEPLOYMENT: Final = Index(
    "registrations by deployment",
    CONTROLLER_REGISTRATIONS,
    lambda each: frozenset(
        ObjectKey("", name) for name in _texts(each, "name", "spec", "deployment", "deploymentRefs")
    ),
    Cluster.SOURCE,
)
REGISTRATIONS_BY_KIND: Final = Index(
    "registrations by kind",
    CONTROLLER_REGISTRATIONS,
    lambda each: _texts(each, "kind", "spec", "resources"),
    Cluster.SOURCE,
)


def named_by(index: Index[ObjectKey]) -> Callable[[Manifest, Snapshot], Iterable[ObjectKey]]:
    """What a watch enqueues: the keys that the objects have in an index."""
    return lambda manifest, _snapshot: index.values(manifest)
