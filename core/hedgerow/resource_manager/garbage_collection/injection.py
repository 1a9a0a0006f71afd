"""How objects are marked as users of the ConfigMaps and Secrets that they refer to.

Changes annotations and nothing else; looks at the object alone.

Source: managed-resources §16.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, object_at, text_at, texts_at, with_value, without
from hedgerow.resource_manager.garbage_collection.annotations import SECRET
from hedgerow.resource_manager.garbage_collection.references import Reference, pod_references
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES, REFERENCE_PREFIX
from hedgerow.resource_manager.managed_resources.references import secret_names

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
        references = frozenset(Reference(SECRET, name) for name in secret_names(manifest))
    elif kind in _ANNOTATED:
        places = _ANNOTATED[kind]
        references = pod_references(object_at(manifest, *places[-1], "spec"))
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
