"""The clusters that a controller may work with: which objects of them it sees, and what it is allowed to do there.

Source: managed-resources §3.1, §4.2; Kubernetes documentation, "Using RBAC Authorization".
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Final, NamedTuple

from hedgerow.machinery.objects import ObjectKey, Resource

KUBE_SYSTEM: Final = ObjectKey("", "kube-system")
"""The Namespace whose uid identifies a cluster: no API server allows its deletion."""


class Cluster(Enum):
    """The role of a cluster for a process; one cluster may have both."""

    SOURCE = "source"
    """With the process's Lease and with the desired state."""
    TARGET = "target"
    """With the objects that the process manages."""


class ReadScope(NamedTuple):
    """Some objects of a resource: those of one namespace, the one of a name, or all if both are empty."""

    namespace: str = ""
    name: str = ""

    def holds(self, key: ObjectKey) -> bool:
        """True if the object of a key is in the scope."""
        if self.name:
            return (self.namespace, self.name) == key
        return self.namespace in {"", key.namespace}


EVERYTHING: Final = ReadScope()


def visible_scopes(resource: Resource, namespaces: Sequence[str], within: str = "") -> tuple[ReadScope, ...]:
    """The scopes of a resource that are visible to a connection restricted to some namespaces; none: to no restriction.

    Namespaces themselves are visible one by one, because a role can grant them by name; other cluster-scoped objects
    always are. Of a namespaced resource, only objects `within` a namespace may matter; it need not be visible.
    """
    if within and resource.namespaced:
        return (ReadScope(within),) if not namespaces or within in namespaces else ()
    if namespaces and resource.namespaced:
        return tuple(ReadScope(namespace=name) for name in namespaces)
    if namespaces and (resource.group, resource.plural) == ("", "namespaces"):
        return tuple(ReadScope(name=name) for name in namespaces)
    return (EVERYTHING,)


def is_visible(resource: Resource, key: ObjectKey, namespaces: Sequence[str]) -> bool:
    """True if an object is visible to a connection restricted to some namespaces."""
    return any(scope.holds(key) for scope in visible_scopes(resource, namespaces))


def is_wholly_visible(resource: Resource, namespace: str, namespaces: Sequence[str]) -> bool:
    """True if a restricted connection shows every object of a resource in a namespace; empty: in all of them."""
    return not {EVERYTHING, ReadScope(namespace)}.isdisjoint(visible_scopes(resource, namespaces))


READ: Final = ("get", "list", "watch")
ANYTHING: Final = "*"


@dataclass(frozen=True, slots=True)
class Permission:
    """Verbs on the objects of one resource, or on one of its subresources."""

    group: str
    plural: str
    """With the subresource behind a slash, such as `serviceaccounts/token`."""
    verbs: tuple[str, ...]
    _: KW_ONLY
    cluster: Cluster = Cluster.TARGET
    names: tuple[str, ...] = ()
    """Of the objects; none: all."""
    namespace: str = ""
    """Of the objects; empty: every namespace that the process reads."""
    namespaced: bool = True
    """True if roles in namespaces can grant the verbs."""

    @classmethod
    def of(
        cls,
        resource: Resource,
        *verbs: str,
        cluster: Cluster = Cluster.TARGET,
        subresource: str = "",
        names: tuple[str, ...] = (),
        namespace: str = "",
    ) -> "Permission":
        """Verbs on the objects of a resource, or on one of its subresources."""
        group, _, plural, _, namespaced = resource
        plural = f"{plural}/{subresource}" if subresource else plural
        return cls(group, plural, verbs, cluster=cluster, names=names, namespace=namespace, namespaced=namespaced)
