"""The clusters that a controller may work with, and which parts of them it is let to see.

Source: managed-resources §3.1, §4.2.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from hedgerow.machinery.objects import ObjectKey, Resource

KUBE_SYSTEM: Final = ObjectKey("", "kube-system")
"""The Namespace whose uid identifies a cluster: no API server allows its deletion."""


class Cluster(Enum):
    """The role that a cluster plays for a process; one cluster may play both."""

    SOURCE = "source"
    """Where the process lives, with its lease and with what it is told to do."""
    TARGET = "target"
    """What the process looks after."""


class Part(NamedTuple):
    """Some of the objects of a resource: those of one namespace, that of one name, or all where both are empty."""

    namespace: str = ""
    name: str = ""

    def holds(self, key: ObjectKey) -> bool:
        """Whether the object of a key is among them."""
        if self.name:
            return (self.namespace, self.name) == key
        return self.namespace in {"", key.namespace}


EVERYTHING: Final = Part()


def visible_parts(resource: Resource, namespaces: Sequence[str], within: str = "") -> tuple[Part, ...]:
    """The parts of a resource that a connection shows which is restricted to some namespaces.

    Of the Namespaces themselves it shows those, each by its name, which is what a role can grant. Other cluster-scoped
    objects belong to no namespace, so that no restriction concerns them.

    Args:
        resource: what is read.
        namespaces: what the connection is restricted to; none: it is not restricted.
        within: the only namespace whose objects matter, of a resource in namespaces; empty: those of all do. It may be
            one that the connection does not show.
    """
    if within and resource.namespaced:
        return (Part(within),) if not namespaces or within in namespaces else ()
    if not namespaces:
        return (EVERYTHING,)
    if resource.namespaced:
        return tuple(Part(namespace=name) for name in namespaces)
    if (resource.group, resource.plural) == ("", "namespaces"):
        return tuple(Part(name=name) for name in namespaces)
    return (EVERYTHING,)


def is_visible(resource: Resource, key: ObjectKey, namespaces: Sequence[str]) -> bool:
    """Whether an object is in one of the parts that a connection shows which is restricted to some namespaces."""
    return any(part.holds(key) for part in visible_parts(resource, namespaces))


def is_wholly_visible(resource: Resource, namespace: str, namespaces: Sequence[str]) -> bool:
    """Whether a restricted connection shows every object of a resource that is in a namespace.

    Args:
        resource: what is read.
        namespace: where the objects are; empty: anywhere.
        namespaces: what the connection is restricted to; none: it is not restricted.
    """
    return not {EVERYTHING, Part(namespace)}.isdisjoint(visible_parts(resource, namespaces))
