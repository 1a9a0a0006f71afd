"""Which ConfigMaps and Secrets the containers, volumes and image pulls of a pod use.

Init containers are not looked at. Whether the objects exist, and in which namespace, is not known here.

Source: managed-resources §16.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import objects_at, text_at
from hedgerow.resource_manager.garbage_collection.annotations import CONFIG_MAP, SECRET, annotation_key


class Reference(NamedTuple):
    """An object that another one of the same namespace uses."""

    kind: str
    name: str

    @property
    def annotation(self) -> tuple[str, str]:
        """Key and value of the annotation that says so."""
        return annotation_key(self.kind, self.name), self.name


_Place: TypeAlias = tuple[str, tuple[str, ...]]
"""The kind that is referred to, and where in an object its name stands."""

_ENVIRONMENTS: Final[tuple[_Place, ...]] = (
    (SECRET, ("secretRef", "name")),
    (CONFIG_MAP, ("configMapRef", "name")),
)
_VARIABLES: Final[tuple[_Place, ...]] = (
    (SECRET, ("valueFrom", "secretKeyRef", "name")),
    (CONFIG_MAP, ("valueFrom", "configMapKeyRef", "name")),
)
_VOLUMES: Final[tuple[_Place, ...]] = (
    (SECRET, ("secret", "secretName")),
    (CONFIG_MAP, ("configMap", "name")),
)
_PROJECTED: Final[tuple[_Place, ...]] = (
    (SECRET, ("secret", "name")),
    (CONFIG_MAP, ("configMap", "name")),
)
_IMAGE_PULLS: Final[tuple[_Place, ...]] = ((SECRET, ("name",)),)


def pod_references(pod_spec: Manifest) -> frozenset[Reference]:
    """What a pod uses, by environments, variables, volumes, projected volumes and image pulls.

    Args:
        pod_spec: the spec of a pod or of a pod template.

    Raises:
        UnreadableError: something on the way to a name has another shape than an API server stores.
    """
    return frozenset(_of_pod(pod_spec))


def _of_pod(pod_spec: Manifest) -> Iterator[Reference]:
    for container in objects_at(pod_spec, "containers"):
        yield from _of_items(container, ("envFrom",), _ENVIRONMENTS)
        yield from _of_items(container, ("env",), _VARIABLES)
    yield from _of_items(pod_spec, ("volumes",), _VOLUMES)
    for volume in objects_at(pod_spec, "volumes"):
        yield from _of_items(volume, ("projected", "sources"), _PROJECTED)
    yield from _of_items(pod_spec, ("imagePullSecrets",), _IMAGE_PULLS)


def _of_items(manifest: Manifest, path: tuple[str, ...], places: tuple[_Place, ...]) -> Iterator[Reference]:
    """What the objects of a list refer to; an empty name refers to nothing."""
    for item in objects_at(manifest, *path):
        for kind, place in places:
            if name := text_at(item, *place):
                yield Reference(kind, name)
