"""Whether a workload still rolls out, and the pods that it selects while it does: counted, and traced back to it.

All pods of a cluster are watched for it, and all ReplicaSets, so the least is kept of each.

Source: managed-resources §13.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import DEPLOYMENTS, PODS, REPLICA_SETS
from hedgerow.api.origins import managed_resource_of
from hedgerow.machinery.controller import Change, Watch, no_key
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError, text_at, texts_at
from hedgerow.machinery.remembering import shared_text
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.health.object_health import (
    TRUE,
    Check,
    generation_is_outdated,
    is_resync,
    is_skipped,
    missing,
    number_at,
    replicas_of,
    status_condition,
)

_ROLLED_OUT: Final = "NewReplicaSetAvailable"
_IDENTITY: Final = ("name", "uid", "resourceVersion")


def new_replica_set_is_not_available(live: Manifest) -> str | None:
    """A Deployment has rolled out once it says that its new ReplicaSet is available."""
    condition = status_condition(live, "Progressing")
    if condition is None:
        return missing("Progressing")
    if (condition.get("status"), condition.get("reason")) == (TRUE, _ROLLED_OUT):
        return None
    return text_at(condition, "message") or ""


def too_few_replicas_are_updated(live: Manifest) -> str | None:
    """Every replica that a StatefulSet asks for has to be of the new revision."""
    return _still_to_update(number_at(live, "status", "updatedReplicas"), replicas_of(live))


def too_few_pods_are_updated(live: Manifest) -> str | None:
    """Every node that wants a pod of a DaemonSet has to have one of the new revision."""
    updated, desired = "updatedNumberScheduled", "desiredNumberScheduled"
    return _still_to_update(number_at(live, "status", updated), number_at(live, "status", desired))


def _still_to_update(updated: int, wanted: int) -> str | None:
    return f"{updated} of {wanted} replica(s) have been updated" if updated < wanted else None


RULES: Final[Mapping[str, tuple[Check, ...]]] = {
    "Deployment": (generation_is_outdated, new_replica_set_is_not_available),
    "StatefulSet": (generation_is_outdated, too_few_replicas_are_updated),
    "DaemonSet": (generation_is_outdated, too_few_pods_are_updated),
}
"""By kind of the group `apps`."""


def rolls_out(kind: Kind) -> bool:
    """Whether objects of a kind roll out at all; they are read as `apps/v1`, whatever version is named."""
    return kind.group == "apps" and kind.kind in RULES


def counts_pods(kind: Kind) -> bool:
    """Whether it takes the number of pods to tell that an object has rolled out."""
    return kind.group == "apps" and kind.kind == DEPLOYMENTS.kind


def pods_of(deployment: Manifest) -> LabelSelector | None:
    """The pods that count for a Deployment, in its namespace and in any phase; none where nobody can read which.

    Match expressions do not count.
    """
    try:
        return LabelSelector(tuple(texts_at(deployment, "spec", "selector", "matchLabels").items()))
    except UnreadableError:
        return None


def object_progressing(kind: Kind, live: Manifest, pod_count: int | None = None) -> str | None:
    """What a live object still waits for, perhaps in no words; none once it has rolled out.

    Args:
        kind: what the object is.
        live: the object.
        pod_count: how many pods a Deployment selects; not compared where nobody has counted.
    """
    if not rolls_out(kind) or is_skipped(live):
        return None
    try:
        description = next((text for rule in RULES[kind.kind] if (text := rule(live)) is not None), None)
        if description is None and counts_pods(kind) and pod_count not in {None, replicas_of(live)}:
            return "there are still non-terminated old pods"
    except UnreadableError as error:
        # Nobody can tell that it has rolled out.
        return str(error)
    return description


def progress_changed(kind: Kind) -> Callable[[Change], bool]:
    """The predicate that lets pass what may change whether objects of a kind roll out; only updates do.

    Pods that come and go are watched, so they are not counted for it.
    """

    def is_progressing(version: Manifest) -> bool:
        return object_progressing(kind, version) is not None

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None:
            return False
        return is_resync(old, new) or is_progressing(old) is not is_progressing(new)

    return passes


LookUp: TypeAlias = Callable[[Resource, ObjectKey], Manifest | None]
"""The object of a key in the target cluster; none where it does not exist, or nobody can tell."""


def owner_chain(pod: Manifest, look_up: LookUp, cluster_id: str) -> ObjectKey | None:
    """The ManagedResource of this cluster that a pod belongs to; none where any link to it is missing."""
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


def pod_watches(cluster_id: str) -> tuple[Watch, Watch]:
    """What has to be watched to know when the number of a Deployment's pods changes."""

    def managed_resource(pod: Manifest, snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        found = owner_chain(pod, snapshot.get, cluster_id)
        return () if found is None else (found,)

    def comes_or_goes(change: Change) -> bool:
        return change.old is None or change.new is None

    return (
        Watch(REPLICA_SETS, transform_replica_set, no_key, metadata_only=True),
        Watch(PODS, transform_pod, managed_resource, comes_or_goes, metadata_only=True),
    )


def transform_pod(pod: Manifest) -> Manifest:
    """Which pod it is, its labels, and the ReplicaSets that own it."""
    labels = {shared_text(key): shared_text(value) for key, value in labels_of(pod).items()}
    return _kept(pod, REPLICA_SETS, **({"labels": labels} if labels else {}))


def transform_replica_set(replica_set: Manifest) -> Manifest:
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
