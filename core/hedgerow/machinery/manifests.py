"""Plain manifests that no API server has checked: what every object must have, and what a controller sees of them.

Each is checked here, once, and then read as stored objects are.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from returns import result
from returns.result import Result, Success

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, Watch
from hedgerow.machinery.failures import Failure, Problem, wrong_type
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Value

_REVIEW: Final = "AdmissionReview"
_TYPES: Final[dict[type, str]] = {dict: "an object", list: "a list", str: "a string"}
_TEXTS_OF_METADATA: Final = (
    *("name", "generateName", "namespace", "uid", "resourceVersion"),
    *("creationTimestamp", "deletionTimestamp", "selfLink"),
)
_Rule: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Problem]]


def object_problems(value: Any, *, sent: bool = False) -> tuple[Problem, ...]:
    """Everything that keeps a JSON value from being an object that can be looked up and selected.

    One that is `sent` to an API server, not held by it, may leave its name to the server; an AdmissionReview has none.
    """
    if not isinstance(value, dict):
        return (wrong_type("", "an object", value),)
    return tuple(problem for rule in (_SENT_RULES if sent else _RULES) for problem in rule(value))


def type_problems(value: Mapping[str, Any]) -> Iterator[Problem]:
    """An object has a version and a kind."""
    for name in ("apiVersion", "kind"):
        if _is_absent(value.get(name)):
            yield Problem("", f"{an_object(value)} without {name}")
        else:
            yield from _mistyped(name, str, value[name])


def _name_is_missing(value: Mapping[str, Any]) -> Iterator[Problem]:
    """An object has a name; one that a server is to invent cannot be referred to."""
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield wrong_type("metadata", "an object", metadata)
    elif _is_absent((metadata or {}).get("name")):
        yield Problem("", f"{an_object(value)} without a name")


def _name_cannot_be_made(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Who sends an object may leave its name to the server; the review of a request has none."""
    if value.get("kind") != _REVIEW and _is_absent(_mapping(value.get("metadata")).get("generateName")):
        yield from _name_is_missing(value)


def _metadata_is_mistyped(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Names, and what else a server writes as a text, are texts; labels and annotations map texts to texts."""
    metadata = _mapping(value.get("metadata"))
    for name in _TEXTS_OF_METADATA:
        yield from _mistyped(f"metadata.{name}", str, metadata.get(name))
    for name in ("labels", "annotations"):
        yield from _mistyped(f"metadata.{name}", dict, metadata.get(name))
        for key, text in _mapping(metadata.get(name)).items():
            yield from _mistyped(f"metadata.{name}[{key}]", str, text, may_be_null=False)
    for name, kind in (("finalizers", str), ("ownerReferences", dict)):
        items = metadata.get(name)
        yield from _mistyped(f"metadata.{name}", list, items)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            yield from _mistyped(f"metadata.{name}[{index}]", kind, item, may_be_null=False)


_RULES: Final[tuple[_Rule, ...]] = (type_problems, _name_is_missing, _metadata_is_mistyped)
_SENT_RULES: Final[tuple[_Rule, ...]] = (type_problems, _name_cannot_be_made, _metadata_is_mistyped)


def _is_absent(value: Any) -> bool:
    return value is None or value == ""


def _mapping(value: Any) -> Mapping[str, Any]:
    """A mapping, or an empty one in the place of anything else: its type is another rule's matter."""
    return value if isinstance(value, dict) else {}


def _mistyped(path: str, kind: type, value: Any, *, may_be_null: bool = True) -> Iterator[Problem]:
    if not isinstance(value, kind) and not (value is None and may_be_null):
        advice = " (quote it)" if kind is str and isinstance(value, int | float) else ""
        yield wrong_type(path, _TYPES[kind], value, advice)


def an_object(value: Mapping[str, Any]) -> str:
    """An object by its kind, with the article."""
    kind = value.get("kind")
    name = kind if kind and isinstance(kind, str) else "object"
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


class ManifestSnapshot:
    """The objects that a controller watches; made by `snapshot_of`."""

    def __init__(self) -> None:
        self._objects: dict[tuple[Resource, Cluster], dict[ObjectKey, Manifest]] = {}
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
    """What a controller sees of parsed manifests; or everything that is wrong with them, by object and field.

    What it does not watch is left out. Without a `source`, the target cluster is the source cluster, too.
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
    if problems := object_problems(value):
        known = value if isinstance(value, dict) else {}
        metadata = known.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        key = ObjectKey(str(names.get("namespace") or ""), str(names.get("name") or ""))
        resource = Resource("", "", "objects", str(known.get("kind") or "object"))
        yield from (Failure(resource, key, problem) for problem in problems)


def _unfit(watch: Watch, manifest: Manifest) -> Iterator[Failure]:
    problems = [*watch.problems(manifest)]
    if not problems:
        problems = [each for name in ("spec", "status") for each in _mistyped(name, dict, manifest.get(name))]
    key = key_of(manifest)
    if watch.resource.namespaced and not key.namespace and not problems:
        problems.append(Problem("metadata.namespace", "is missing"))
    yield from (Failure(watch.resource, key, problem) for problem in problems)
