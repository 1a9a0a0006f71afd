"""Which kind, object and subresource a path leads to.

Source: Kubernetes documentation, "Kubernetes API concepts", resource URIs.
"""

from dataclasses import dataclass

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.served import ServedKinds
from hedgerow_adapters.memory.statuses import no_such_path


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


class Routes:
    """The paths of the kinds that a server knows."""

    def __init__(self, kinds: ServedKinds) -> None:
        self._kinds = kinds

    def target(self, path: str) -> Target:
        """What a path leads to; refused if that is nothing."""
        match path.strip("/").split("/"):
            case ["api", version, *rest]:
                return self._beneath(version, rest)
            case ["apis", group, version, *rest]:
                return self._beneath(f"{group}/{version}", rest)
            case _:
                raise no_such_path()

    def _beneath(self, api_version: str, rest: list[str]) -> Target:
        match rest:
            case ["namespaces", name, "status" | "finalize" as last] if api_version == "v1":
                return self._target(api_version, "namespaces", "", name, last)
            case ["namespaces", namespace, plural, *names] if len(names) <= 2:  # noqa: PLR2004 -- name and subresource
                name, subresource = (*names, "", "")[:2]
                return self._target(api_version, plural, namespace, name, subresource)
            case [plural, *names] if len(names) <= 2:  # noqa: PLR2004 -- as above
                name, subresource = (*names, "", "")[:2]
                return self._target(api_version, plural, "", name, subresource)
            case _:
                raise no_such_path()

    def _target(self, api_version: str, plural: str, namespace: str, name: str, subresource: str) -> Target:
        kind = self._kinds.at(api_version, plural)
        if kind is None or (namespace and not kind.resource.namespaced):
            raise no_such_path()
        if name and kind.resource.namespaced and not namespace:
            raise no_such_path()
        if subresource and subresource not in kind.subresources:
            raise no_such_path()
        return Target(kind, namespace, name, subresource)
