"""To which ManagedResource a pod belongs: by its ReplicaSet, the Deployment of that, and the origin of the Deployment.

Source: managed-resources §13.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from hedgerow.api.kubernetes import DEPLOYMENTS, REPLICA_SETS
from hedgerow.api.origins import managed_resource_of
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of

LookUp: TypeAlias = Callable[[Resource, ObjectKey], Manifest | None]
"""The object of a key in the target cluster; none where it does not exist, or nobody can tell."""


def owner_chain(pod: Manifest, look_up: LookUp, cluster_id: str) -> ObjectKey | None:
    """The ManagedResource of this cluster that a pod belongs to; none where any link to it is missing.

    Args:
        pod: its metadata is enough.
        look_up: how its owners are found; `get` of a snapshot is such a function.
        cluster_id: the id of the cluster that the ManagedResources are in.
    """
    replica_set = _owner(pod, REPLICA_SETS, look_up)
    deployment = replica_set and _owner(replica_set, DEPLOYMENTS, look_up)
    return managed_resource_of(deployment, cluster_id) if deployment else None


def owners_of(manifest: Manifest, kind: Kind) -> Iterator[str]:
    """The names of the owners of a kind that an object names; what is no reference, as no server stores it, is none."""
    owners = (manifest.get("metadata") or {}).get("ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, (dict, Mapping)) and Kind.of(owner) == kind and isinstance(owner.get("name"), str):
            yield owner["name"]


def _owner(manifest: Manifest, resource: Resource, look_up: LookUp) -> Manifest | None:
    """The last owner of a kind that an object names."""
    names = [*owners_of(manifest, resource.object_kind)]
    return look_up(resource, ObjectKey(key_of(manifest).namespace, names[-1])) if names else None
