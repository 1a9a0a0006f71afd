"""The kinds that a server serves: those that it began with, and those that definitions have added since."""

from collections.abc import Iterable, Iterator

from hedgerow.machinery.objects import Resource, key_of
from hedgerow_adapters.memory.kinds.custom_resources import CUSTOM_RESOURCE_DEFINITIONS, kinds_of
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.storage import Storage, StoredChange


class ServedKinds:
    """The kinds of a server by resource, by path and by type."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._by_resource: dict[Resource, Kind] = {}
        self._by_path: dict[tuple[str, str], Kind] = {}
        self._by_type: dict[tuple[str, str], Kind] = {}
        for kind in kinds:
            self.add(kind)

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self._by_resource.values()))

    def add(self, kind: Kind) -> None:
        """Serve a kind from now on."""
        resource = kind.resource
        self._by_resource[resource] = kind
        self._by_path[resource.api_version, resource.plural] = kind
        self._by_type[resource.api_version, resource.kind] = kind

    def remove(self, kind: Kind) -> None:
        """Serve a kind no longer."""
        resource = kind.resource
        del self._by_resource[resource]
        del self._by_path[resource.api_version, resource.plural]
        del self._by_type[resource.api_version, resource.kind]

    def __contains__(self, resource: Resource) -> bool:
        return resource in self._by_resource

    def __getitem__(self, resource: Resource) -> Kind:
        return self._by_resource[resource]

    def at(self, api_version: str, plural: str) -> Kind | None:
        """The kind whose objects are found there."""
        return self._by_path.get((api_version, plural))

    def of_type(self, api_version: str, name: str) -> Kind | None:
        """The kind whose objects call themselves so."""
        return self._by_type.get((api_version, name))

    def with_own_objects(self) -> Iterator[Kind]:
        """Every kind that is not just another version of objects of another one."""
        return (kind for kind in self if kind.storage is None)

    def versions_of(self, kind: Kind) -> list[Kind]:
        """The kinds that serve the same objects as a kind, itself included."""
        return [other for other in self if other.stored_as == kind.stored_as]


def follow_definitions(storage: Storage, served: ServedKinds) -> None:
    """Serve from now on what is defined, and nothing that no longer is; the objects go with their definition."""

    def follow(change: StoredChange) -> None:
        before = kinds_of(change.old) if change.old else []
        after = kinds_of(change.new) if change.new else []
        for kind in before:
            served.remove(kind)
        for kind in after:
            served.add(kind)
        if change.new is None:
            _forget_objects(storage, change)

    storage.listen(CUSTOM_RESOURCE_DEFINITIONS.stored_as, follow)


def _forget_objects(storage: Storage, change: StoredChange) -> None:
    for resource in {kind.stored_as for kind in kinds_of(change.old or {})}:
        state = storage.state(resource)
        for manifest in [state.objects[path] for path in state.range("")]:
            storage.remove(resource, key_of(manifest))
