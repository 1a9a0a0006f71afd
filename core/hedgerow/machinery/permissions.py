"""What somebody has to be allowed to do in a cluster, as roles grant it.

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
    """The objects that it is about; none: all."""
    namespace: str = ""
    """Where the objects are that it is about; empty: anywhere the process looks."""
    namespaced: bool = True
    """Whether the objects are in namespaces, so that roles there can grant it."""

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
