"""Whether a workload still rolls out, and the watches of its pods.

All pods and ReplicaSets of a cluster are watched, so little is kept of each.

Source: managed-resources §13.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import DEPLOYMENTS, PODS, REPLICA_SETS
from hedgerow.api.references import managed_resource_of
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


def new_replica_set_is_not_available(live: Manifest) -> str | None:
    """A Deployment has rolled out once its new ReplicaSet is available."""
    condition = status_condition(live, "Progressing")
    if condition is None:
        return missing("Progressing")
    if (condition.get("status"), condition.get("reason")) == (TRUE, "NewReplicaSetAvailable"):
        return None
    return text_at(condition, "message") or ""


def too_few_replicas_are_updated(live: Manifest) -> str | None:
    """Every replica of a StatefulSet must be of the new revision."""
    return _still_to_update(number_at(live, "status", "updatedReplicas"), replicas_of(live))


def too_few_pods_are_updated(live: Manifest) -> str | None:
    """Every pod of a DaemonSet must be of the new revision."""
    updated, desired = (number_at(live, "status", f"{which}NumberScheduled") for which in ("updated", "desired"))
    return _still_to_update(updated, desired)


def _still_to_update(updated: int, wanted: int) -> str | None:
    return f"{updated} of {wanted} replica(s) have been updated" if updated < wanted else None


RULES: Final[Mapping[str, tuple[Check, ...]]] = {
    "Deployment": (generation_is_outdated, new_replica_set_is_not_available),
    "StatefulSet": (generation_is_outdated, too_few_replicas_are_updated),
    "DaemonSet": (generation_is_outdated, too_few_pods_are_updated),
}
"""By kind of the group `apps`."""


def rolls_out(kind: Kind) -> bool:
    """True if objects of a kind roll out; they are read as `apps/v1`, whatever version is named."""
    return kind.group == "apps" and kind.kind in RULES


def counts_pods(kind: Kind) -> bool:
    """True if objects of a kind have rolled out only if the number of their pods is right."""
    return kind.group == "apps" and kind.kind == DEPLOYMENTS.kind


def pods_of(deployment: Manifest) -> LabelSelector | None:
    """The labels of a Deployment's pods, without match expressions; none if they cannot be read."""
    try:
        return LabelSelector(tuple(texts_at(deployment, "spec", "selector", "matchLabels").items()))
    except UnreadableError:
        return None


def object_progressing(kind: Kind, live: Manifest, pod_count: int | None = None) -> str | None:
    """What a live object still waits for, perhaps an empty text; none once it has rolled out.

    The number of pods that a Deployment selects counts if it is given.
    """
    if not rolls_out(kind) or is_skipped(live):
        return None
    try:
        description = next((text for rule in RULES[kind.kind] if (text := rule(live)) is not None), None)
        if description is None and counts_pods(kind) and pod_count not in {None, replicas_of(live)}:
            return "there are still non-terminated old pods"
    except UnreadableError as error:
        return str(error)
    return description


def progress_changed(kind: Kind) -> Callable[[Change], bool]:
    """The predicate of updates that may change whether objects of a kind roll out; pods are watched by themselves."""

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None:
            return False
        before, after = object_progressing(kind, old), object_progressing(kind, new)
        return is_resync(old, new) or (before is None) is not (after is None)

    return passes


LookUp: TypeAlias = Callable[[Resource, ObjectKey], Manifest | None]
"""Returns the object of a key in the target cluster, if known."""


def owner_chain(pod: Manifest, look_up: LookUp, cluster_id: str) -> ObjectKey | None:
    """The ManagedResource of this cluster that a pod belongs to, if every link to it is known."""
    replica_set = _owner(pod, REPLICA_SETS, look_up)
    deployment = replica_set and _owner(replica_set, DEPLOYMENTS, look_up)
    return managed_resource_of(deployment, cluster_id) if deployment else None


def owners_of(manifest: Manifest, kind: Kind) -> Iterator[str]:
    """The names of the owners of a kind; malformed references are left out."""
    owners = (manifest.get("metadata") or {}).get("ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, (dict, Mapping)) and Kind.of(owner) == kind and isinstance(owner.get("name"), str):
            yield owner["name"]


def _owner(manifest: Manifest, resource: Resource, look_up: LookUp) -> Manifest | None:
    """The last owner of a kind that an object names."""
    names = [*owners_of(manifest, resource.object_kind)]
    return look_up(resource, ObjectKey(key_of(manifest).namespace, names[-1])) if names else None


def pod_watches(cluster_id: str) -> tuple[Watch, Watch]:
    """The watches that tell when the number of a Deployment's pods changes."""

    def managed_resource(pod: Manifest, snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        found = owner_chain(pod, snapshot.get, cluster_id)
        return () if found is None else (found,)

    return (
        Watch(REPLICA_SETS, transform_replica_set, no_key, metadata_only=True),
        Watch(PODS, transform_pod, managed_resource, _comes_or_goes, metadata_only=True),
    )


def _comes_or_goes(change: Change) -> bool:
    return change.old is None or change.new is None


def transform_pod(pod: Manifest) -> Manifest:
    """Identity, labels, and the ReplicaSets that own a pod."""
    labels = {shared_text(key): shared_text(value) for key, value in labels_of(pod).items()}
    return _kept(pod, REPLICA_SETS, **({"labels": labels} if labels else {}))


def transform_replica_set(replica_set: Manifest) -> Manifest:
    """Identity, and the Deployments that own a ReplicaSet."""
    return _kept(replica_set, DEPLOYMENTS)


def _kept(manifest: Manifest, owner: Resource, **more: Any) -> Manifest:
    metadata = manifest.get("metadata") or {}
    kept = {name: metadata[name] for name in ("name", "uid", "resourceVersion") if name in metadata} | more
    if namespace := metadata.get("namespace"):
        kept["namespace"] = shared_text(namespace)
    if names := [*owners_of(manifest, owner.object_kind)]:
        reference = {"apiVersion": owner.api_version, "kind": owner.kind}
        kept["ownerReferences"] = [{**reference, "name": name} for name in names]
    return {"metadata": kept}
