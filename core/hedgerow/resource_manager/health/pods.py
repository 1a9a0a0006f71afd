"""The pods of Deployments as the progress rules need them: counted by labels, and traced back to their Deployments.

All pods of a cluster are watched for it, and all ReplicaSets, so the least is kept of each.

Source: managed-resources §13.
"""

from collections.abc import Callable
from typing import Any, Final

from hedgerow.api.kubernetes import DEPLOYMENTS, PODS, REPLICA_SETS
from hedgerow.machinery.controller import Change, Watch, no_key
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, labels_of
from hedgerow.machinery.remembering import shared_text
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.health.ownership import owner_chain, owners_of

_IDENTITY: Final = ("name", "uid", "resourceVersion")


def pod_watches(cluster_id: str) -> tuple[Watch, Watch]:
    """What has to be watched to know when the number of a Deployment's pods changes.

    Args:
        cluster_id: the id of the cluster that the ManagedResources are in.
    """
    return (
        Watch(REPLICA_SETS, kept_of_replica_set, no_key, metadata_only=True),
        Watch(PODS, kept_of_pod, _managed_resource_of(cluster_id), _comes_or_goes, metadata_only=True),
    )


def kept_of_pod(pod: Manifest) -> Manifest:
    """Which pod it is, its labels, and the ReplicaSets that own it."""
    labels = {shared_text(key): shared_text(value) for key, value in labels_of(pod).items()}
    return _kept(pod, REPLICA_SETS, **({"labels": labels} if labels else {}))


def kept_of_replica_set(replica_set: Manifest) -> Manifest:
    """Which ReplicaSet it is, and the Deployments that own it."""
    return _kept(replica_set, DEPLOYMENTS)


def _kept(manifest: Manifest, owner: Resource, **more: Any) -> Manifest:
    metadata = manifest.get("metadata") or {}
    kept = {name: metadata[name] for name in _IDENTITY if name in metadata} | more
    if namespace := metadata.get("namespace"):
        kept["namespace"] = shared_text(namespace)
    if names := [*owners_of(manifest, owner.object_kind)]:
        reference = {"apiVersion": owner.api_version, "kind": owner.kind}
        kept["ownerReferences"] = [{**reference, "name": name} for name in names]
    return {"metadata": kept}


def _managed_resource_of(cluster_id: str) -> Callable[[Manifest, Snapshot], tuple[ObjectKey, ...]]:
    def keys(pod: Manifest, snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        found = owner_chain(pod, snapshot.get, cluster_id)
        return () if found is None else (found,)

    return keys


def _comes_or_goes(change: Change) -> bool:
    return change.old is None or change.new is None
