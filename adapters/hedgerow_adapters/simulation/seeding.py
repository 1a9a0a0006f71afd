"""An in-memory cluster that holds given manifests as an API server that was restored from them would."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Kind, Manifest, Resource, is_terminating, key_of, resource_version_of
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE, served_resources
from hedgerow_adapters.files.sources import LoadedObject, LoadProblem, Source
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES
from hedgerow_adapters.memory.kinds import Kind as Served
from hedgerow_adapters.memory.kinds.certificate_requests import CERTIFICATE_REQUESTS
from hedgerow_adapters.memory.kinds.custom_resources import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow_adapters.memory.storage import Backup, with_revision
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response

_KEPT: Final = ("uid", "generation", "creationTimestamp")
"""What a server has given an object, and what the object is recognised by."""
_GIVEN_BY_THE_SERVER: Final = frozenset(
    {*_KEPT, "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"}
)
_DIGITS: Final = 20
"""Of the largest resource version that a server counts to."""
_REMEMBERED: Final = 1_000
"""Changes of a resource that it keeps: nobody watches who could miss more."""
_BY_WHICH_STATUS_IS_WRITTEN: Final = {CERTIFICATE_REQUESTS.resource: ("approval", "status")}
"""Subresources in their order, of kinds of which no single one writes the whole status."""
_DEFINITIONS: Final = CUSTOM_RESOURCE_DEFINITIONS.resource


class _Seed(NamedTuple):
    resource: Resource
    manifest: Manifest
    source: Source

    def refused(self, response: Response) -> LoadProblem:
        """The server's words about the object, which it does not name where it could not even decode it."""
        said, key = str(response.body["message"]), key_of(self.manifest)
        return LoadProblem(self.source, said if f'"{key.name}"' in said else f"{self.resource.kind} {key}: {said}")


def seeded_cluster(
    objects: Sequence[LoadedObject],
    controllers: Sequence[Controller[Any]] = (),
    *,
    later: Sequence[LoadedObject] = (),
    now: Callable[[], datetime] | None = None,
) -> tuple[InMemoryCluster, tuple[LoadProblem, ...]]:
    """A cluster with the objects and their Namespaces, and the objects that no API server would have stored.

    It serves Kubernetes' own kinds, those that the objects define, those of the objects and the `later` ones, those
    without which a controller does not run, and ManagedResources if one asks for them. By default its clock stands
    still. Objects that are being deleted are so in the cluster.
    """
    known = (objects, [*objects, *later]) if later else (objects,)
    watches = [watch for controller in controllers for watch in controller.watches]
    relied_on = {watch.resource for watch in watches if not watch.may_be_absent}
    if any(_asks_for(controller, MANAGED_RESOURCES) for controller in controllers):
        relied_on.add(MANAGED_RESOURCES)
    further = {kind.resource: kind for each in known for kind in _further_kinds(each, relied_on)}
    cluster = InMemoryCluster(resources=(*DEFAULT_RESOURCES, *further.values()), now=now, history=_REMEMBERED)
    problems = applied(cluster, objects)
    _recall_versions(cluster, objects)
    return cluster, problems


def _recall_versions(cluster: InMemoryCluster, objects: Iterable[LoadedObject]) -> None:
    """Let objects have the resource versions that they say, as other objects may refer to them."""
    given = {
        (each.resource.group, each.resource.kind, key_of(each.manifest)): int(version)
        for each in (_seed(cluster, loaded) for loaded in objects)
        if (version := resource_version_of(each.manifest)) and version.isdecimal() and len(version) <= _DIGITS
    }
    if not given:
        return
    backup = cluster.back_up()

    def recalled(resource: Resource, manifest: Manifest) -> Manifest:
        revision = given.get((resource.group, resource.kind, key_of(manifest)))
        return manifest if revision is None else with_revision(manifest, revision)

    held = {
        resource: {path: recalled(resource, manifest) for path, manifest in paths.items()}
        for resource, paths in backup.objects.items()
    }
    cluster.restore(Backup(max(backup.revision, *given.values()), held))


def _asks_for(controller: Controller[Any], resource: Resource) -> bool:
    granted = (
        each for each in controller.permissions if (each.group, each.plural) == (resource.group, resource.plural)
    )
    return any({"create", "list"}.intersection(each.verbs) for each in granted)


def applied(cluster: InMemoryCluster, objects: Sequence[LoadedObject]) -> tuple[LoadProblem, ...]:
    """Put objects and their Namespaces into a cluster that serves them, in place of those of the same keys.

    Returns the objects that no API server would have stored.
    """
    problems: list[LoadProblem] = []
    for loaded in filter(_is_definition, objects):
        problems += _stored(cluster, _Seed(_DEFINITIONS, loaded.manifest, loaded.source))
    seeds = [_seed(cluster, loaded) for loaded in itertools.filterfalse(_is_definition, objects)]
    for seed in sorted(seeds, key=lambda seed: seed.resource.namespaced):
        problems += _stored(cluster, seed)
    for seed in seeds:
        if is_terminating(seed.manifest):
            cluster.handle(requests.delete(seed.resource, key_of(seed.manifest)))
        problems += _restored(cluster, seed)
    return tuple(problems)


def _further_kinds(objects: Sequence[LoadedObject], relied_on: Iterable[Resource]) -> list[Served]:
    """The kinds that a server has to serve besides those that it knows the rules of and those that are defined."""
    informed = InMemoryCluster(namespaces=())
    for loaded in filter(_is_definition, objects):
        informed.handle(requests.create(_DEFINITIONS, _as_new(loaded.manifest)))
    kinds = []
    # A controller knows what files only let guess: the plural, and whether objects live in namespaces.
    candidates = (*served_resources([loaded.manifest for loaded in objects]), *relied_on)
    for resource in {resource.object_kind: resource for resource in candidates}.values():
        if informed.resource_of(resource.object_kind) is None:
            # Nothing is checked. A custom one has a status of its own and counts changes, as most do.
            is_custom = "." in resource.group and not resource.group.endswith(".k8s.io")
            kinds.append(Served(resource, fields=None, has_status=is_custom, has_generation=is_custom))
    return kinds


def _is_definition(loaded: LoadedObject) -> bool:
    return Kind.of(loaded.manifest) == _DEFINITIONS.object_kind


def _seed(cluster: InMemoryCluster, loaded: LoadedObject) -> _Seed:
    """An object in the namespace in which its kind lets it be."""
    resource = cluster.resource_of(Kind.of(loaded.manifest))
    if resource is None:
        raise AssertionError(f"{Kind.of(loaded.manifest)} is not served")
    metadata = {name: value for name, value in loaded.manifest["metadata"].items() if name != "namespace"}
    if resource.namespaced:
        metadata["namespace"] = key_of(loaded.manifest).namespace or DEFAULT_NAMESPACE
    return _Seed(resource, {**loaded.manifest, "metadata": metadata}, loaded.source)


def _stored(cluster: InMemoryCluster, seed: _Seed) -> list[LoadProblem]:
    """Create or, where it is one of those that always exist, replace an object; the server's words if it refuses."""
    resource, key, new = seed.resource, key_of(seed.manifest), _as_new(seed.manifest)
    live = cluster.get(resource, key)
    if live is not None:
        # Some kinds are never updated without the version that it is made for.
        new["metadata"]["resourceVersion"] = resource_version_of(live)
        response = cluster.handle(requests.update(resource, key, new))
    else:
        response = cluster.handle(requests.create(resource, new, key.namespace))
    if response.is_success:
        return []
    if resource == NAMESPACES:
        # What lives in it is to be checked as well, and has no fault that it is not there.
        cluster.handle(requests.create(resource, {"metadata": {"name": key.name}}))
    elif response.status == HTTPStatus.NOT_FOUND:
        return []
    return [seed.refused(response)]


def _restored(cluster: InMemoryCluster, seed: _Seed) -> list[LoadProblem]:
    """Give an object back its status, and what a server has given it before."""
    resource, key, status = seed.resource, key_of(seed.manifest), seed.manifest.get("status")
    live = cluster.get(resource, key)
    if live is None:
        return []
    problems, is_namespace = [], resource == NAMESPACES
    if status is not None and live.get("status") != status and not is_namespace:
        for subresource in _BY_WHICH_STATUS_IS_WRITTEN.get(resource, ("status",)):
            whole = {**(cluster.get(resource, key) or live), "status": status}
            response = cluster.handle(requests.update(resource, key, whole, subresource))
            if not response.is_success:
                problems.append(seed.refused(response))
    given: Mapping[str, Any] = seed.manifest["metadata"]
    kept = (*_KEPT, "deletionTimestamp") if is_terminating(live) and not is_namespace else _KEPT
    cluster.adopt(resource, key, {name: given[name] for name in kept if given.get(name)})
    return problems


def _as_new(manifest: Manifest) -> dict[str, Any]:
    """The object without what a server has added. One that is being deleted needs a finalizer to stay at all."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in _GIVEN_BY_THE_SERVER}
    is_namespace = manifest["kind"] == "Namespace"
    if manifest["metadata"].get("deletionTimestamp") and not is_namespace and not metadata.get("finalizers"):
        metadata["finalizers"] = ["hedgerow.dev/terminating"]
    return {**manifest, "metadata": metadata}
