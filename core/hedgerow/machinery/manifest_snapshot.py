"""What a controller sees of plain manifests. Each is checked here, once, and then read as stored objects are."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from returns import result
from returns.result import Result, Success

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, Watch
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.manifests import object_problems, wrong_type
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Value

_Place: TypeAlias = tuple[Resource, Cluster]


class ManifestSnapshot:
    """The objects that a controller watches; made by `snapshot_of`."""

    def __init__(self) -> None:
        """Without objects."""
        self._objects: dict[_Place, dict[ObjectKey, Manifest]] = {}
        self._indexed: defaultdict[tuple[Index[Any], Hashable], list[Manifest]] = defaultdict(list)

    def add(self, watch: Watch, indexes: Iterable[Index[Any]], manifests: Iterable[Manifest]) -> Iterator[Failure]:
        """Take in the objects of a watch; fails for each that its functions cannot read."""
        objects = self._objects.setdefault((watch.resource, watch.cluster), {})
        for manifest in manifests:
            key = key_of(manifest)
            try:
                objects[key] = kept = watch.transform(manifest)
                for index in indexes:
                    for value in set(index.values(kept)):
                        self._indexed[index, value].append(kept)
            except UnreadableError as error:
                yield Failure(watch.resource, key, error.problem)

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of that key; none if it does not exist."""
        return self._objects.get((resource, cluster), {}).get(key)

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """True if the controller declares to watch the resource."""
        return (resource, cluster) in self._objects

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """The objects of a resource, of one namespace or of all, that a selector matches."""
        return [
            manifest
            for key, manifest in self._objects.get((resource, cluster), {}).items()
            if namespace in {None, key.namespace} and (selector is None or selector.matches(labels_of(manifest)))
        ]

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """The objects with a value in a declared index."""
        return self._indexed.get((index, value), ())


def snapshot_of(
    controller: Controller[Any], target: Iterable[Manifest], source: Iterable[Manifest] | None = None
) -> Result[ManifestSnapshot, tuple[Failure, ...]]:
    """What a controller sees of manifests; or everything that is wrong with them, by object and field.

    Args:
        controller: who looks. What it does not watch is left out.
        target: the objects of the target cluster, as a YAML or JSON parser makes them.
        source: those of the source cluster; none: it is the target.
    """
    here, there = tuple(target), tuple(source or ())
    objects = {Cluster.TARGET: here, Cluster.SOURCE: here if source is None else there}
    snapshot = ManifestSnapshot()
    failures = [failure for value in (*here, *there) for failure in _unlike_an_object(value)]
    if not failures:
        for watch in controller.watches:
            kind, place = watch.resource.object_kind, (watch.resource, watch.cluster)
            indexes = [index for index in controller.indexes if (index.resource, index.cluster) == place]
            watched = [each for each in objects[watch.cluster] if Kind.of(each) == kind and watch.reads(each)]
            unfit = [failure for each in watched for failure in _unfit(watch, each)]
            failures += unfit or snapshot.add(watch, indexes, watched)
    return result.Failure(tuple(failures)) if failures else Success(snapshot)


def _unlike_an_object(value: Any) -> Iterator[Failure]:
    """What keeps a value from being an object at all."""
    if problems := object_problems(value):
        known = value if isinstance(value, dict) else {}
        metadata = known.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        key = ObjectKey(str(names.get("namespace") or ""), str(names.get("name") or ""))
        resource = Resource("", "", "objects", str(known.get("kind") or "object"))
        yield from (Failure(resource, key, problem) for problem in problems)


def _unfit(watch: Watch, manifest: Manifest) -> Iterator[Failure]:
    """What keeps an object from being one of its kind, as far as decisions read it."""
    problems = [*watch.problems(manifest)]
    if not problems:
        problems = [
            wrong_type(name, "a mapping", manifest[name])
            for name in ("spec", "status")
            if manifest.get(name) is not None and not isinstance(manifest[name], dict)
        ]
    key = key_of(manifest)
    if watch.resource.namespaced and not key.namespace and not problems:
        problems.append(Problem("metadata.namespace", "is missing"))
    yield from (Failure(watch.resource, key, problem) for problem in problems)
