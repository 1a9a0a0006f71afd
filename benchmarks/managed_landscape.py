"""The clusters in which ManagedResources are measured: so many of them with three objects each, and their Secrets.

None brings definitions of custom resources along: until an API server serves a new kind, everybody waits for it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.bare_client import send_all
from benchmarks.prepared import Prepared, creation_of_namespace
from tests.control_plane import ControlPlane
from tests.e2e.managed_resources.definition import define_managed_resources
from tests.e2e.managed_resources.landscape import OBJECTS, Delivery, landscape, namespace_of
from tests.e2e.managed_resources.urls import Manifest, collection_of, path_of

FINALIZER: Final = "resources.gardener.cloud/gardener-resource-manager"
CONDITIONS: Final = ("ResourcesHealthy", "ResourcesProgressing", "ResourcesApplied")
_MERGE: Final = "application/merge-patch+json"
_NOW: Final = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Landscape:
    """ManagedResources of a class of their own, so that others in the cluster are nobody's concern."""

    count: int
    namespaces: int
    class_name: str

    def __str__(self) -> str:
        """The size as the report shows it."""
        return f"{self.count:,} ManagedResources with {OBJECTS} objects".replace(",", " ")

    @property
    def controllers(self) -> dict[str, Any]:
        """The section of the configuration by which a process looks after this class."""
        return {"resourceClass": self.class_name}

    def deliveries(self) -> list[Delivery]:
        """Everything that belongs to it."""
        return [*landscape(self.count, self.class_name, class_name=self.class_name, namespaces=self.namespaces)]

    def prepare_cluster(self, plane: ControlPlane, deliveries: Sequence[Delivery]) -> None:
        """Make namespaces and Secrets, which are there before any clock starts."""
        names = (namespace_of(self.class_name, number, self.namespaces) for number in range(self.namespaces))
        send_all(plane, (creation_of_namespace(name) for name in names))
        send_all(plane, (made(each.secret) for each in deliveries))


@contextmanager
def cluster() -> Iterator[ControlPlane]:
    """A control plane of its own that stores ManagedResources and has none."""
    with ControlPlane() as plane:
        define_managed_resources(plane)
        yield plane


def made(manifest: Manifest) -> Prepared:
    """The request that creates an object."""
    return Prepared("POST", collection_of(manifest), json.dumps(manifest).encode())


def merged(manifest: Manifest, patch: Mapping[str, Any], subresource: str = "") -> Prepared:
    """The request that merges something into an object."""
    return Prepared("PATCH", path_of(manifest) + subresource, json.dumps(patch).encode(), _MERGE)


def removed(manifest: Manifest) -> Prepared:
    """The request that asks for the end of an object."""
    return Prepared("DELETE", path_of(manifest))


def bare_writes(delivery: Delivery) -> tuple[Prepared, ...]:
    """What has to be written for a ManagedResource: itself, which is the user's part, and then the process's.

    That is a finalizer, a status that tells of the beginning, its objects, a status that tells of the end, and the
    finalizer of its Secret.
    """
    managed, finalizers = delivery.managed_resource, {"metadata": {"finalizers": [FINALIZER]}}
    began = {"conditions": [_condition(kind, "Unknown") for kind in CONDITIONS]}
    ended = {
        "conditions": [*began["conditions"][:2], _condition("ResourcesApplied", "True")],
        "observedGeneration": 1,
        "resources": [_reference(each) for each in delivery.objects],
        "secretsDataChecksum": hashlib.sha256(repr(delivery.secret).encode()).hexdigest(),
    }
    return (
        made(managed),
        merged(managed, finalizers),
        merged(managed, {"status": began}, "/status"),
        *(made(_marked(each, managed)) for each in delivery.objects),
        merged(managed, {"status": ended}, "/status"),
        merged(delivery.secret, finalizers),
    )


def _condition(kind: str, status: str) -> Manifest:
    message = "The health checks have not yet been executed for the current set of resources."
    times = {"lastTransitionTime": _NOW, "lastUpdateTime": _NOW}
    return {"type": kind, "status": status, "reason": "ChecksPending", "message": message, **times}


def _reference(manifest: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    place = {name: metadata[name] for name in ("name", "namespace") if name in metadata}
    labels = {"resources.gardener.cloud/managed-by": "gardener"}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], **place, "labels": labels}


def _marked(manifest: Manifest, managed: Manifest) -> Manifest:
    """The object with what every managed object carries."""
    origin = f"{managed['metadata']['namespace']}/{managed['metadata']['name']}"
    annotations = {
        "resources.gardener.cloud/origin": origin,
        "resources.gardener.cloud/description": "DO NOT EDIT - This resource is managed.",
    }
    labels = {"resources.gardener.cloud/managed-by": "gardener"}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations, "labels": labels}}
