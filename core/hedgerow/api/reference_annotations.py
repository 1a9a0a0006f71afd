"""The annotations by which objects say which ConfigMaps and Secrets they use, so that garbage collection spares these.

Changes annotations and nothing else. Init containers are not looked at. Whether the objects exist is not known here.

Source: managed-resources §1, §15, §16.
"""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import MANAGED_RESOURCES, REFERENCE_PREFIX
from hedgerow.api.references import secret_names
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, each_at, object_at, text_at, texts_at, with_value, without

CONFIG_MAP: Final = "configmap"
SECRET: Final = "secret"  # noqa: S105 -- the kind as annotation keys spell it

_SEPARATOR: Final = "-"
_HASH_LENGTH: Final = 8


def annotation_key(kind: str, name: str) -> str:
    """The key of the annotation that refers to an object of that kind and name; its value is the name.

    Names are longer than keys may be, so the key holds the beginning of a hash of the name.

    Args:
        kind: in lower case, without a hyphen: `configmap`, `secret`.
        name: of the object that is referred to.

    Example:
        `annotation_key("configmap", "test-5678")` is `reference.resources.gardener.cloud/configmap-4ed34879`
    """
    return f"{REFERENCE_PREFIX}{kind}{_SEPARATOR}{hashlib.sha256(name.encode()).hexdigest()[:_HASH_LENGTH]}"


def kind_from_annotation_key(key: str) -> str | None:
    """The kind that an annotation of this key refers to; none if it refers to nothing.

    What follows on the kind is not checked to be the hash of anything: people write such annotations too.
    """
    if not key.startswith(REFERENCE_PREFIX):
        return None
    kind, *rest = key.removeprefix(REFERENCE_PREFIX).split(_SEPARATOR)
    return kind or None if len(rest) == 1 else None


class UsedObject(NamedTuple):
    """An object that another one of the same namespace uses."""

    kind: str
    name: str

    @property
    def annotation(self) -> tuple[str, str]:
        """Key and value of the annotation that says so."""
        return annotation_key(self.kind, self.name), self.name


_ReferencePath: TypeAlias = tuple[str, tuple[str, ...]]
"""The kind that is referred to, and where in an object its name stands."""

_ENVIRONMENTS: Final[tuple[_ReferencePath, ...]] = (
    (SECRET, ("secretRef", "name")),
    (CONFIG_MAP, ("configMapRef", "name")),
)
_VARIABLES: Final[tuple[_ReferencePath, ...]] = (
    (SECRET, ("valueFrom", "secretKeyRef", "name")),
    (CONFIG_MAP, ("valueFrom", "configMapKeyRef", "name")),
)
_VOLUMES: Final[tuple[_ReferencePath, ...]] = (
    (SECRET, ("secret", "secretName")),
    (CONFIG_MAP, ("configMap", "name")),
)
_PROJECTED: Final[tuple[_ReferencePath, ...]] = (
    (SECRET, ("secret", "name")),
    (CONFIG_MAP, ("configMap", "name")),
)
_IMAGE_PULLS: Final[tuple[_ReferencePath, ...]] = ((SECRET, ("name",)),)


def pod_references(pod_spec: Manifest) -> frozenset[UsedObject]:
    """What a pod uses, by environments, variables, volumes, projected volumes and image pulls.

    Raises:
        UnreadableError: something on the way to a name has another shape than an API server stores.
    """
    return frozenset(_of_pod(pod_spec))


def _of_pod(pod_spec: Manifest) -> Iterator[UsedObject]:
    yield from chain.from_iterable(each_at(_of_container, pod_spec, "containers"))
    yield from _of_items(pod_spec, ("volumes",), _VOLUMES)
    yield from chain.from_iterable(each_at(_of_projected_volume, pod_spec, "volumes"))
    yield from _of_items(pod_spec, ("imagePullSecrets",), _IMAGE_PULLS)


def _of_container(container: Manifest) -> list[UsedObject]:
    return [*_of_items(container, ("envFrom",), _ENVIRONMENTS), *_of_items(container, ("env",), _VARIABLES)]


def _of_projected_volume(volume: Manifest) -> list[UsedObject]:
    return _of_items(volume, ("projected", "sources"), _PROJECTED)


def _of_items(manifest: Manifest, path: tuple[str, ...], places: tuple[_ReferencePath, ...]) -> list[UsedObject]:
    """What the objects of a list refer to; an empty name refers to nothing."""
    found = each_at(lambda item: [(kind, text_at(item, *place)) for kind, place in places], manifest, *path)
    return [UsedObject(kind, name) for kind, name in chain.from_iterable(found) if name]


_Path: TypeAlias = tuple[str, ...]

_POD: Final[tuple[_Path, ...]] = ((),)
_WORKLOAD: Final[tuple[_Path, ...]] = ((), ("spec", "template"))
_CRON_JOB: Final[tuple[_Path, ...]] = ((), ("spec", "jobTemplate"), ("spec", "jobTemplate", "spec", "template"))

_ANNOTATED: Final[Mapping[tuple[str, str], tuple[_Path, ...]]] = MappingProxyType(
    {
        ("v1", "Pod"): _POD,
        ("apps/v1", "Deployment"): _WORKLOAD,
        ("apps/v1", "StatefulSet"): _WORKLOAD,
        ("apps/v1", "DaemonSet"): _WORKLOAD,
        ("apps/v1beta2", "Deployment"): _WORKLOAD,
        ("apps/v1beta2", "StatefulSet"): _WORKLOAD,
        ("apps/v1beta2", "DaemonSet"): _WORKLOAD,
        ("apps/v1beta1", "Deployment"): _WORKLOAD,
        ("apps/v1beta1", "StatefulSet"): _WORKLOAD,
        ("batch/v1", "Job"): _WORKLOAD,
        ("batch/v1", "CronJob"): _CRON_JOB,
        ("batch/v1beta1", "CronJob"): _CRON_JOB,
    }
)
"""Where the annotations of an object that runs pods are written, from the outside in: the pod is the last of them."""


def inject_annotations(manifest: Manifest, *additional: str) -> Result[Manifest, str]:
    """The object with an annotation for each ConfigMap and Secret that it uses, or why it cannot have them.

    Earlier annotations of that kind go, whether still true or not; all others stay. Objects that make pods are
    annotated together with their templates, so that the pods count as users themselves.

    Args:
        manifest: a pod, something that makes pods, or a ManagedResource.
        additional: keys of further annotations, each with an empty value.
    """
    try:
        return _injected(manifest, additional)
    except UnreadableError as error:
        return Failure(str(error))


def _injected(manifest: Manifest, additional: tuple[str, ...]) -> Result[Manifest, str]:
    kind = (text_at(manifest, "apiVersion") or "", text_at(manifest, "kind") or "")
    if kind == (MANAGED_RESOURCES.api_version, MANAGED_RESOURCES.kind):
        places: tuple[_Path, ...] = ((),)
        references = frozenset(UsedObject(SECRET, name) for name in secret_names(manifest))
    elif kind in _ANNOTATED:
        places = _ANNOTATED[kind]
        path = (*places[-1], "spec")
        pod_spec = object_at(manifest, *path)
        try:
            references = pod_references(pod_spec)
        except UnreadableError as error:
            raise error.below(".".join(path)) from error
    else:
        return Failure(f"unhandled object type {'/'.join(kind)}")
    injected = dict(reference.annotation for reference in sorted(references)) | dict.fromkeys(additional, "")
    for place in places:
        manifest = _with_references(manifest, (*place, "metadata", "annotations"), injected)
    return Success(manifest)


def _with_references(manifest: Manifest, path: _Path, injected: Mapping[str, str]) -> Manifest:
    """The object with its annotations at a path renewed; the very same one where that changes nothing."""
    before = texts_at(manifest, *path)
    after = {**{key: value for key, value in before.items() if not key.startswith(REFERENCE_PREFIX)}, **injected}
    if after == before:
        return manifest
    return with_value(manifest, path, after) if after else without(manifest, path)
