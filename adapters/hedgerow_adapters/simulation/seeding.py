"""An in-memory cluster that holds given manifests as an API server would have stored them."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, Resource, key_of
from hedgerow_adapters.files import LoadedObject, LoadProblem
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.kinds.namespaces import NAMESPACE_RESOURCE
from hedgerow_adapters.protocol import requests

_GIVEN_BY_THE_SERVER: Final = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields", "selfLink"}
)


def seeded_cluster(
    objects: Iterable[LoadedObject], resources: Mapping[tuple[str, str], Resource]
) -> tuple[InMemoryCluster, tuple[LoadProblem, ...]]:
    """A cluster with the objects, and what of them no API server would have stored.

    Args:
        objects: manifests with the places that they come from, and the Namespaces that they live in. Those that are
            being deleted are so in the cluster.
        resources: the resources by apiVersion and kind that matter; objects of other kinds are left out.
    """
    cluster = InMemoryCluster()
    chosen = [(each, resources[identity]) for each in objects if (identity := _identity(each.manifest)) in resources]
    chosen.sort(key=lambda pair: pair[1].namespaced)
    problems = [
        LoadProblem(each.source, problem)
        for each, resource in chosen
        if (problem := _store(cluster, resource, each.manifest))
    ]
    for each, resource in chosen:
        if (each.manifest["metadata"]).get("deletionTimestamp"):
            cluster.handle(requests.delete(resource, key_of(each.manifest)))
    return cluster, tuple(problems)


def _identity(manifest: Manifest) -> tuple[str, str]:
    return manifest["apiVersion"], manifest["kind"]


def _store(cluster: InMemoryCluster, resource: Resource, manifest: Manifest) -> str | None:
    """Create or, where it is one of those that always exist, replace an object; the server's words if it refuses."""
    key, new = key_of(manifest), _as_new(manifest)
    if cluster.get(resource, key) is not None:
        response = cluster.handle(requests.update(resource, key, new))
    else:
        response = cluster.handle(requests.create(resource, new, key.namespace))
    if response.is_success:
        return None
    if resource == NAMESPACE_RESOURCE:
        # What lives in it is to be checked as well, and has no fault that it is not there.
        cluster.handle(requests.create(resource, {"metadata": {"name": key.name}}))
    elif response.status == HTTPStatus.NOT_FOUND:
        return None
    return str(response.body["message"])


def _as_new(manifest: Manifest) -> dict[str, Any]:
    """The object without what a server has added. One that is being deleted needs a finalizer to stay at all."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in _GIVEN_BY_THE_SERVER}
    is_namespace = manifest["kind"] == "Namespace"
    if manifest["metadata"].get("deletionTimestamp") and not is_namespace and not metadata.get("finalizers"):
        metadata["finalizers"] = ["hedgerow.dev/terminating"]
    return {**manifest, "metadata": metadata}
