"""What the pods of an extension get: a kubeconfig of the garden with its token, and the name of their Seed.

Source: controller-registration §8.8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure

from hedgerow.api.reference_annotations import inject_annotations, pod_spec_path
from hedgerow.api.references import group_kind_of
from hedgerow.api.tokens import KUBECONFIG, TOKEN
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import UnreadableError, object_at, objects_at, with_each, with_value
from hedgerow.registration.garden_access import ACCESS_SECRET, MOUNTED_AT

_VOLUME: Final = "garden-kubeconfig"
_VARIABLE: Final = "GARDEN_KUBECONFIG"
_GROUPS: Final = frozenset({"apps", "batch"})
_CONTAINERS: Final = ("initContainers", "containers")


@dataclass(frozen=True, slots=True)
class Injection:
    """What the workloads of one installation get."""

    namespace: str
    """Of the installation; workloads elsewhere get nothing."""
    kubeconfig_secret: str
    seed: str

    def into(self, manifest: Manifest) -> Manifest:
        """The object with all that, if it is such a workload; its own kubeconfig, if it names one, stays.

        Raises:
            UnreadableError: the object has another shape than an API server stores.
        """
        path, group = pod_spec_path(manifest), group_kind_of(manifest).group
        if path is None or group not in _GROUPS or key_of(manifest).namespace != self.namespace:
            return manifest
        pod_spec = object_at(manifest, *path)
        if not _has_kubeconfig(pod_spec):
            manifest = with_value(manifest, path, self._with_kubeconfig(pod_spec))
        annotated = inject_annotations(manifest)
        if isinstance(annotated, Failure):
            raise UnreadableError(Problem("", annotated.failure()))
        manifest = annotated.unwrap()
        seed_name = {"name": "SEED_NAME", "value": self.seed}
        return with_value(manifest, path, _with_containers(object_at(manifest, *path), env=seed_name))

    def _with_kubeconfig(self, pod_spec: Manifest) -> Manifest:
        sources = [
            {"secret": {"name": secret, "items": [{"key": key, "path": key}], "optional": False}}
            for secret, key in ((self.kubeconfig_secret, KUBECONFIG), (ACCESS_SECRET, TOKEN))
        ]
        volume = {"name": _VOLUME, "projected": {"defaultMode": 0o644, "sources": sources}}
        return _with_containers(
            _with_item(pod_spec, "volumes", volume),
            volumeMounts={"name": _VOLUME, "mountPath": MOUNTED_AT, "readOnly": True},
            env={"name": _VARIABLE, "value": f"{MOUNTED_AT}/{KUBECONFIG}"},
        )


def _has_kubeconfig(pod_spec: Manifest) -> bool:
    return any(
        variable.get("name") == _VARIABLE
        for field in _CONTAINERS
        for container in objects_at(pod_spec, field)
        for variable in objects_at(container, "env")
    )


def _with_containers(pod_spec: Manifest, **items: Mapping[str, Any]) -> Manifest:
    """The spec of a pod whose containers all have some items, each in the list that it is named after."""

    def with_items(container: Manifest) -> Manifest:
        for field, item in items.items():
            container = _with_item(container, field, item)
        return container

    for field in _CONTAINERS:
        pod_spec = with_each(pod_spec, (field,), with_items)
    return pod_spec


def _with_item(holder: Manifest, field: str, item: Mapping[str, Any]) -> Manifest:
    """The object with an item in a list, in place of the one of its name or behind all others."""
    items: Sequence[Mapping[str, Any]] = objects_at(holder, field)
    if any(other.get("name") == item["name"] for other in items):
        items = [item if other.get("name") == item["name"] else other for other in items]
    else:
        items = [*items, item]
    return with_value(holder, (field,), items)
