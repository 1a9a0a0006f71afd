"""The kinds that a server serves: those that it began with, and those that definitions have added since.

Source: Kubernetes documentation, "Kubernetes API concepts", resource URIs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hedgerow.machinery.objects import ObjectKey, Resource, key_of
from hedgerow_adapters.memory.kinds.custom_resources import CUSTOM_RESOURCE_DEFINITIONS, kinds_of
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.statuses import no_such_path
from hedgerow_adapters.memory.storage import Storage, StoredChange


@dataclass(frozen=True, slots=True)
class Target:
    """What a path leads to: a collection where the name is empty, else an object or its subresource."""

    kind: Kind
    namespace: str
    name: str
    subresource: str

    @property
    def key(self) -> ObjectKey:
        """Key of the object."""
        return ObjectKey(self.namespace, self.name)

    @property
    def spans_namespaces(self) -> bool:
        """Whether it is all objects of a namespaced kind."""
        return self.kind.resource.namespaced and not self.namespace


class ServedKinds:
    """The kinds of a server by resource, by path and by type."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self.by_resource: dict[Resource, Kind] = {}
        self.by_path: dict[tuple[str, str], Kind] = {}
        """By API version and plural."""
        self.by_type: dict[tuple[str, str], Kind] = {}
        """By API version and kind, as objects call themselves."""
        for kind in kinds:
            self._add(kind)

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self.by_resource.values()))

    def with_own_objects(self) -> Iterator[Kind]:
        """Every kind that is not just another version of objects of another one."""
        return (kind for kind in self if kind.storage is None)

    def target(self, path: str) -> Target:
        """What a path leads to; refused if that is nothing."""
        match path.strip("/").split("/"):
            case ["api", "v1", "namespaces", name, "status" | "finalize" as subresource]:
                return self._target("v1", "namespaces", "", name, subresource)
            case ["api", version, "namespaces", namespace, plural, *rest]:
                return self._target(version, plural, namespace, *rest)
            case ["api", version, plural, *rest]:
                return self._target(version, plural, "", *rest)
            case ["apis", group, version, "namespaces", namespace, plural, *rest]:
                return self._target(f"{group}/{version}", plural, namespace, *rest)
            case ["apis", group, version, plural, *rest]:
                return self._target(f"{group}/{version}", plural, "", *rest)
        raise no_such_path()

    def _target(
        self, api_version: str, plural: str, namespace: str, name: str = "", subresource: str = "", *rest: str
    ) -> Target:
        kind = self.by_path.get((api_version, plural))
        if kind is None or rest or (subresource and subresource not in kind.subresources):
            raise no_such_path()
        is_namespaced = kind.resource.namespaced
        if (namespace and not is_namespaced) or (name and is_namespaced and not namespace):
            raise no_such_path()
        return Target(kind, namespace, name, subresource)

    def follow_definitions(self, storage: Storage) -> None:
        """Serve from now on what is defined, and nothing that no longer is; the objects go with their definition."""

        def follow(change: StoredChange) -> None:
            before = kinds_of(change.old) if change.old else []
            for kind in before:
                self._remove(kind)
            for kind in kinds_of(change.new) if change.new else []:
                self._add(kind)
            for resource in () if change.new else {kind.stored_as for kind in before}:
                for manifest in storage.state(resource).of_namespace(""):
                    storage.remove(resource, key_of(manifest))

        storage.listen(CUSTOM_RESOURCE_DEFINITIONS.stored_as, follow)

    def _add(self, kind: Kind) -> None:
        resource = kind.resource
        self.by_resource[resource] = kind
        self.by_path[resource.api_version, resource.plural] = kind
        self.by_type[resource.api_version, resource.kind] = kind

    def _remove(self, kind: Kind) -> None:
        resource = kind.resource
        del self.by_resource[resource]
        del self.by_path[resource.api_version, resource.plural]
        del self.by_type[resource.api_version, resource.kind]
