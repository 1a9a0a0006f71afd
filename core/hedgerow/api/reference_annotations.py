"""The annotations that name the ConfigMaps and Secrets that an object uses, so that garbage collection keeps these.

Ignores init containers. Does not know whether the used objects exist.

Source: managed-resources §1, §15, §16.
"""

import hashlib
from collections.abc import Mapping
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import MANAGED_RESOURCES, REFERENCE_PREFIX
from hedgerow.api.references import secret_names
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, each_at, object_at, text_at, texts_at, with_value, without

CONFIG_MAP: Final = "configmap"
SECRET: Final = "secret"  # noqa: S105 -- the kind as annotation keys spell it


def annotation_key(kind: str, name: str) -> str:
    """The key of the annotation that refers to an object of a kind, in lower case, and a name, which is its value.

    Names are longer than keys may be, so the key holds the beginning of a hash of the name:
    `reference.resources.gardener.cloud/configmap-4ed34879`.
    """
    return f"{REFERENCE_PREFIX}{kind}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def kind_from_annotation_key(key: str) -> str | None:
    """The kind in an annotation key, if any. The hash is not checked: people write such keys, too."""
    if not key.startswith(REFERENCE_PREFIX):
        return None
    kind, *rest = key.removeprefix(REFERENCE_PREFIX).split("-")
    return kind or None if len(rest) == 1 else None


class UsedObject(NamedTuple):
    """An object that another one of the same namespace uses."""

    kind: str
    name: str

    @property
    def annotation(self) -> tuple[str, str]:
        """Key and value of the annotation."""
        return annotation_key(self.kind, self.name), self.name


_Path: TypeAlias = tuple[str, ...]

_USES: Final[tuple[tuple[tuple[_Path, ...], str, _Path], ...]] = (
    ((("containers",), ("envFrom",)), SECRET, ("secretRef", "name")),
    ((("containers",), ("envFrom",)), CONFIG_MAP, ("configMapRef", "name")),
    ((("containers",), ("env",)), SECRET, ("valueFrom", "secretKeyRef", "name")),
    ((("containers",), ("env",)), CONFIG_MAP, ("valueFrom", "configMapKeyRef", "name")),
    ((("volumes",),), SECRET, ("secret", "secretName")),
    ((("volumes",),), CONFIG_MAP, ("configMap", "name")),
    ((("volumes",), ("projected", "sources")), SECRET, ("secret", "name")),
    ((("volumes",), ("projected", "sources")), CONFIG_MAP, ("configMap", "name")),
    ((("imagePullSecrets",),), SECRET, ("name",)),
)
"""Where a pod's spec names objects: the lists from the outside in, the kind, and the path in an item."""


def pod_references(pod_spec: Manifest) -> frozenset[UsedObject]:
    """The ConfigMaps and Secrets that a pod uses; an empty name is none.

    Raises:
        UnreadableError: something on the way to a name has another shape than an API server stores.
    """
    names = ((kind, name) for lists, kind, path in _USES for name in _names(pod_spec, lists, path))
    return frozenset(UsedObject(kind, name) for kind, name in names if name)


def _names(manifest: Manifest, lists: tuple[_Path, ...], path: _Path) -> tuple[str | None, ...]:
    """The texts at a path in all items of nested lists."""
    if not lists:
        return (text_at(manifest, *path),)
    outer, *inner = lists
    return tuple(chain.from_iterable(each_at(lambda item: _names(item, tuple(inner), path), manifest, *outer)))


_TEMPLATE: Final = ("spec", "template")
_WORKLOAD: Final[tuple[_Path, ...]] = ((), _TEMPLATE)
_CRON_JOB: Final[tuple[_Path, ...]] = ((), ("spec", "jobTemplate"), ("spec", "jobTemplate", *_TEMPLATE))
_APPS: Final = ("Deployment", "StatefulSet", "DaemonSet")

_ANNOTATED: Final[Mapping[tuple[str, str], tuple[_Path, ...]]] = {
    ("v1", "Pod"): ((),),
    **{(f"apps/{version}", kind): _WORKLOAD for version in ("v1", "v1beta2") for kind in _APPS},
    **{("apps/v1beta1", kind): _WORKLOAD for kind in ("Deployment", "StatefulSet")},
    ("batch/v1", "Job"): _WORKLOAD,
    **{(f"batch/{version}", "CronJob"): _CRON_JOB for version in ("v1", "v1beta1")},
}
"""Where the annotations are written, from the outside in; the last is the pod."""


def pod_spec_path(manifest: Manifest) -> _Path | None:
    """Where a pod, or a workload that is annotated, has the spec of its pods; none: other objects have no pods."""
    places = _ANNOTATED.get((text_at(manifest, "apiVersion") or "", text_at(manifest, "kind") or ""))
    return None if places is None else (*places[-1], "spec")


def inject_annotations(manifest: Manifest, *additional: str) -> Result[Manifest, str]:
    """The object with an annotation for each ConfigMap and Secret that it uses, or why it cannot have them.

    The object is a pod, a workload, or a ManagedResource. Replaces earlier annotations of that sort; `additional` ones
    have an empty value. Pod templates get them, too, so that the pods count as users themselves.
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
    elif path := pod_spec_path(manifest):
        places = _ANNOTATED[kind]
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
    """The object with the annotations at a path replaced; the same object if that changes nothing."""
    before = texts_at(manifest, *path)
    after = {**{key: value for key, value in before.items() if not key.startswith(REFERENCE_PREFIX)}, **injected}
    if after == before:
        return manifest
    return with_value(manifest, path, after) if after else without(manifest, path)
