"""How one object is deleted that is no longer listed, and whether it is gone.

An object stays if its annotation says so, if the garbage collector looks after it, and if it belongs to another
ManagedResource by now. §7.7 does not mention the last case: it deletes whatever is no longer listed. But if a
ManagedResource is renamed, or an object moves from one to another, what the new one has taken over would be lost.

The origin annotation says whom an object belongs to:

- Without one, or with an unreadable one, it is ours if the status says that it was applied. An object that the status
  only records may have existed before.
- With our own it is ours. So it is if namespace and name are ours and either side has no cluster id: then the id was
  configured, or removed, after the object was applied.
- An object of another ManagedResource of our cluster has been taken over, and stays.
- An object of any other cluster stays as well, even under our namespace and name: several source clusters may deliver
  into one target. It may also be left from a former id of ours, so an event tells of it.

Source: managed-resources §7.7.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from returns.result import Failure

from hedgerow.api.kubernetes import PERSISTENT_VOLUME_CLAIMS
from hedgerow.api.managed_resources import FINALIZE_DELETION_AFTER, GARBAGE_COLLECTABLE, KEEP_OBJECT
from hedgerow.api.origins import Origin, origin_of, other_origin
from hedgerow.api.references import DEFAULT_NAMESPACE, Reference
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import (
    Kind,
    Manifest,
    ObjectKey,
    Resource,
    annotations_of,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Action, Delete, MergePatch, Propagation, Update, WriteResult
from hedgerow.machinery.questions import KindQuestion, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, boolean_at, list_at, object_at, objects_at, texts_at, with_value
from hedgerow.machinery.scalars import parse_bool, parse_duration, parse_timestamp
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Obstacle, Reconciliation

_NAMESPACE: Final = Kind("v1", "Namespace")
_COLLECTED: Final = frozenset({Kind("v1", "ConfigMap"), Kind("v1", "Secret")})
_OWNING_GROUPS: Final = frozenset({"apps", "extensions", "batch"})
"""Groups whose objects go after what they own."""
_ORDINAL: Final = "(0|[1-9][0-9]*)"
_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class Gone:
    """The object does not exist, or stays for a reason."""

    foreign: Origin | None = None
    """The ManagedResource of another cluster that it stays for."""
    is_unserved: bool = False
    """Whether it only seems to be gone, as the server does not know its kind."""


class Live(NamedTuple):
    """An object of the target cluster as it was read."""

    resource: Resource
    key: ObjectKey
    manifest: Manifest


async def live_object(reference: Reference) -> Live | NotAnswered:
    """Read an object; or why it is not known."""
    resource = await KindQuestion(reference.kind)
    return resource if isinstance(resource, NotAnswered) else await _live_object_of(resource, reference)


async def _live_object_of(resource: Resource, reference: Reference) -> Live | NotAnswered:
    namespace = (reference.key.namespace or DEFAULT_NAMESPACE) if resource.namespaced else ""
    key = ObjectKey(namespace, reference.key.name)
    answer = await ObjectQuestion(resource, key, Cluster.TARGET)
    return answer if isinstance(answer, NotAnswered) else Live(resource, key, answer.objects[0])


async def removed(mr: Reconciliation, reference: Reference) -> Gone | Obstacle:
    """Delete one object, and tell whether it is gone.

    Args:
        mr: the ManagedResource that it belonged to.
        reference: the object.

    Returns:
        What keeps it there if it is not gone; without a text it is only time.
    """
    resource = await KindQuestion(reference.kind)
    if isinstance(resource, NotAnswered):
        return _absent_or_unknown(resource)
    live = await _live_object_of(resource, reference)
    if isinstance(live, NotAnswered):
        # What is not known to have been applied, and may not even be read, could not be created either.
        could_not_be_created = live.code == _FORBIDDEN and not reference.is_applied
        return Gone() if could_not_be_created else _absent_or_unknown(live)
    try:
        return _reason_to_stay(mr, reference, live.manifest) or Obstacle(await _removed(mr, live))
    except UnreadableError as error:
        return Obstacle(str(error))


def _absent_or_unknown(answer: NotAnswered) -> Gone | Obstacle:
    if answer.is_not_found:
        return Gone(is_unserved=answer.is_unserved)
    return Obstacle(answer.message, answer.is_unreachable)


def _reason_to_stay(mr: Reconciliation, reference: Reference, live: Manifest) -> Gone | None:
    is_collected = (
        mr.config.garbage_collection
        and reference.kind in _COLLECTED
        and _is_true(labels_of(live).get(GARBAGE_COLLECTABLE))
    )
    is_not_ours = not reference.is_applied and origin_of(live) is None
    if is_collected or is_not_ours or _is_true(annotations_of(live).get(KEEP_OBJECT)):
        return Gone()
    own = Origin(mr.config.cluster_id, mr.key)
    other = other_origin(live, own)
    return None if other is None else Gone(other if other.cluster_id != own.cluster_id else None)


def _is_true(value: Any) -> bool:
    return isinstance(value, str) and parse_bool(value).value_or(default_value=False)


async def _removed(mr: Reconciliation, live: Live) -> str:
    """Claims first, as nothing leads to them afterwards; then the object; then, after long enough, its finalizers."""
    if problem := await _delete_claims(mr, live):
        return f"failed cleaning up PersistentVolumeClaims of StatefulSet: {problem}"
    write = _finalization(live, mr.now)
    error = write if isinstance(write, str) else ""
    if not is_terminating(live.manifest):
        propagation: Propagation | None = "Foreground" if live.resource.group in _OWNING_GROUPS else None
        uid = uid_of(live.manifest)
        write = Delete(live.resource, live.key, "no-longer-listed", uid, propagation=propagation)
    return (_problem(await write) if write is not None and not isinstance(write, str) else "") or error


def _problem(result: WriteResult) -> str:
    """The server's objection to a write; empty if there is none, or the object is gone."""
    error = result.error
    return "" if error is None or error.is_not_found else error.message


async def _delete_claims(mr: Reconciliation, live: Live) -> str:
    """Delete the PersistentVolumeClaims of a StatefulSet, each by its uid; why that failed, if it did."""
    stateful_set = live.manifest
    if (
        live.resource.kind != "StatefulSet"
        or boolean_at(mr.manifest, "spec", "deletePersistentVolumeClaims") is not True
        or not objects_at(stateful_set, "spec", "volumeClaimTemplates")
        # The labels that the StatefulSet controller sets on its claims.
        or not (labels := texts_at(stateful_set, "spec", "selector", "matchLabels"))
    ):
        return ""
    selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    question = ListQuestion(PERSISTENT_VOLUME_CLAIMS, Cluster.TARGET, live.key.namespace, selector, metadata_only=True)
    answer = await question
    if isinstance(answer, NotAnswered):
        return f"could not list PVCs of StatefulSet: {answer.message}"
    due = [each for each in answer.objects if _is_claim_of(each, stateful_set) and not is_terminating(each)]
    deletions = (Delete(PERSISTENT_VOLUME_CLAIMS, key_of(each), "claim-of-stateful-set", uid_of(each)) for each in due)
    results = await AtOnce(tuple(deletions)) if due else ()
    return next(filter(None, map(_problem, results)), "")


def _is_claim_of(claim: Manifest, stateful_set: Manifest) -> bool:
    """True if the claim has the name that the StatefulSet controller gives: `<template>-<statefulset>-<ordinal>`.

    Claims of former replicas count as well. Other claims that carry the labels, such as a backup's, do not.

    Source: Kubernetes documentation, "StatefulSets", stable storage; decision "`deletePersistentVolumeClaims`".
    """
    name, owner = key_of(claim).name, key_of(stateful_set).name
    templates = (key_of(each).name for each in objects_at(stateful_set, "spec", "volumeClaimTemplates"))
    return any(re.fullmatch(f"{re.escape(f'{template}-{owner}-')}{_ORDINAL}", name) for template in templates)


def _finalization(live: Live, now: datetime) -> Action | str | None:
    """The write that frees an object of its finalizers, or why it cannot be told when; none where it is not due."""
    text = annotations_of(live.manifest).get(FINALIZE_DELETION_AFTER)
    if text is None:
        return None
    patience = parse_duration(text)
    if isinstance(patience, Failure):
        return f"failed parsing duration of {FINALIZE_DELETION_AFTER} annotation: {patience.failure()}"
    since = parse_timestamp(object_at(live.manifest, "metadata").get("deletionTimestamp"))
    if not patience.unwrap() or since is None or since + patience.unwrap() > now:
        return None
    finalizers = list_at(live.manifest, "metadata", "finalizers")
    if live.resource.object_kind == _NAMESPACE and (finalizers or list_at(live.manifest, "spec", "finalizers")):
        freed = with_value(live.manifest, ("metadata", "finalizers"), [])
        freed = with_value(freed, ("spec", "finalizers"), [])
        return Update(live.resource, freed, "deletion-overdue", subresource="finalize")
    if not finalizers:
        return None
    patch = {"metadata": {"finalizers": None}}
    return MergePatch(live.resource, live.key, patch, "deletion-overdue", resource_version_of(live.manifest))
