"""Permissions that controllers and webhooks need in a cluster, as roles grant them.

Source: Kubernetes documentation, "Using RBAC Authorization".
"""

from dataclasses import KW_ONLY, dataclass
from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Resource

READ: Final = ("get", "list", "watch")
ANYTHING: Final = "*"


@dataclass(frozen=True, slots=True)
class Permission:
    """Verbs on the objects of one resource, or on one of its subresources."""

    group: str
    """Empty: the core group."""
    plural: str
    """With the subresource behind a slash, such as `serviceaccounts/token`."""
    verbs: tuple[str, ...]
    _: KW_ONLY
    cluster: Cluster = Cluster.TARGET
    names: tuple[str, ...] = ()
    """The names of the objects; none: all."""
    namespace: str = ""
    """The namespace of the objects; empty: every namespace that the process reads."""
    namespaced: bool = True
    """True if the objects are in namespaces, so that roles there can grant the verbs."""

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
        plural = f"{resource.plural}/{subresource}" if subresource else resource.plural
        return cls(
            resource.group,
            plural,
            verbs,
            cluster=cluster,
            names=names,
            namespace=namespace,
            namespaced=resource.namespaced,
        )
