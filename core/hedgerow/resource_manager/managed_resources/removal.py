"""Deletes one object that is no longer listed, unless it stays.

An object stays if its annotation asks for it, if the garbage collector handles it, or if it belongs to another
ManagedResource by now. §7.7 lacks the last rule. But if a ManagedResource is renamed, or an object moves from one to
another, the object would be deleted after the new one has taken it over.

The origin annotation says whom an object belongs to:

- Without a readable one it is ours if the status says that it was applied. An object that the status only records may
  have existed before.
- With our own it is ours; also if only namespace and name are ours and either side has no cluster id: the id was
  configured, or removed, after the object was applied.
- An object of another ManagedResource of our cluster has been taken over, and stays.
- An object of another cluster stays too, even under our namespace and name, as several source clusters may deliver into
  one target. It may also be left from a former cluster id of ours, so an event tells of it.

Source: managed-resources §7.7.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from returns.result import Failure

from hedgerow.api.kubernetes import PERSISTENT_VOLUME_CLAIMS
from hedgerow.api.managed_resources import FINALIZE_DELETION_AFTER, GARBAGE_COLLECTABLE, KEEP_OBJECT
from hedgerow.api.references import DEFAULT_NAMESPACE, Origin, Reference, origin_of, other_origin
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
from hedgerow.resource_manager.managed_resources.reconciliation import Reconciliation

_COLLECTED: Final = frozenset({Kind("v1", "ConfigMap"), Kind("v1", "Secret")})
_OWNING_GROUPS: Final = frozenset({"apps", "extensions", "batch"})
"""Groups whose objects are deleted after the objects that they own."""
_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class Absent:
    """The object does not exist."""

    is_unserved: bool = False
    """True if the server does not know its kind, which may change a moment after its start."""


@dataclass(frozen=True, slots=True)
class Left:
    """The object stays, as it is not ours to delete."""

    owner: Origin | None = None
    """The ManagedResource of another cluster that it belongs to."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The object exists, or its state is unknown."""

    error: str = ""
    """Why it could not be deleted; empty: its deletion takes time."""
    is_unreachable: bool = False
    """True if an API server did not answer."""


Removal: TypeAlias = Absent | Left | Pending


class Live(NamedTuple):
    """An object of the target cluster as it was read."""

    resource: Resource
    key: ObjectKey
    manifest: Manifest


async def live_object(reference: Reference) -> Live | NotAnswered:
    """The object that a reference names, read live."""
    resource = await KindQuestion(reference.kind)
    return resource if isinstance(resource, NotAnswered) else await _read(resource, reference)


async def _read(resource: Resource, reference: Reference) -> Live | NotAnswered:
    namespace = (reference.key.namespace or DEFAULT_NAMESPACE) if resource.namespaced else ""
    key = ObjectKey(namespace, reference.key.name)
    answer = await ObjectQuestion(resource, key, Cluster.TARGET)
    return answer if isinstance(answer, NotAnswered) else Live(resource, key, answer.objects[0])


async def removed(mr: Reconciliation, reference: Reference) -> Removal:
    """Delete an object that belonged to a ManagedResource, unless it stays."""
    resource = await KindQuestion(reference.kind)
    live = resource if isinstance(resource, NotAnswered) else await _read(resource, reference)
    if isinstance(live, NotAnswered):
        if live.is_not_found:
            return Absent(live.is_unserved)
        # An object that is not known to be applied, and may not even be read, could not be created either.
        could_not_be_created = live is not resource and live.code == _FORBIDDEN and not reference.is_applied
        return Absent() if could_not_be_created else Pending(live.message, live.is_unreachable)
    try:
        return _left(mr, reference, live.manifest) or Pending(await _delete(mr, live))
    except UnreadableError as error:
        return Pending(str(error))


def _left(mr: Reconciliation, reference: Reference, live: Manifest) -> Left | None:
    is_marked = _is_true(labels_of(live).get(GARBAGE_COLLECTABLE))
    is_collected = mr.config.garbage_collection and reference.kind in _COLLECTED and is_marked
    is_not_ours = not reference.is_applied and origin_of(live) is None
    if is_collected or is_not_ours or _is_true(annotations_of(live).get(KEEP_OBJECT)):
        return Left()
    own = Origin(mr.config.cluster_id, mr.key)
    other = other_origin(live, own)
    return None if other is None else Left(other if other.cluster_id != own.cluster_id else None)


def _is_true(value: Any) -> bool:
    return isinstance(value, str) and parse_bool(value).value_or(default_value=False)


async def _delete(mr: Reconciliation, live: Live) -> str:
    """Delete claims, then the object, then its finalizers if they are overdue; the first error, or an empty text.

    Claims go first, as nothing leads to them once the object is gone.
    """
    if problem := await _delete_claims(mr, live):
        return f"failed cleaning up PersistentVolumeClaims of StatefulSet: {problem}"
    write = _finalization(live, mr.now)
    error = write if isinstance(write, str) else ""
    if not is_terminating(live.manifest):
        propagation: Propagation | None = "Foreground" if live.resource.group in _OWNING_GROUPS else None
        uid = uid_of(live.manifest)
        write = Delete(live.resource, live.key, "no-longer-listed", uid, propagation=propagation)
    return (_error(await write) if write is not None and not isinstance(write, str) else "") or error


def _error(result: WriteResult) -> str:
    """The error of a write; empty if it succeeded or the object is gone."""
    error = result.error
    return "" if error is None or error.is_not_found else error.message


async def _delete_claims(mr: Reconciliation, live: Live) -> str:
    """Delete the PersistentVolumeClaims of a StatefulSet, each by its uid; the first error, or an empty text."""
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
    return next(filter(None, map(_error, results)), "")


def _is_claim_of(claim: Manifest, stateful_set: Manifest) -> bool:
    """True if a claim has a name that the StatefulSet controller gives: `<template>-<statefulset>-<ordinal>`.

    Claims of former replicas count. Other claims that carry the labels, such as those of a backup, do not.

    Source: Kubernetes documentation, "StatefulSets", stable storage; decision "`deletePersistentVolumeClaims`".
    """
    name, owner = key_of(claim).name, key_of(stateful_set).name
    templates = (key_of(each).name for each in objects_at(stateful_set, "spec", "volumeClaimTemplates"))
    return any(re.fullmatch(f"{re.escape(f'{template}-{owner}-')}(0|[1-9][0-9]*)", name) for template in templates)


def _finalization(live: Live, now: datetime) -> Action | str | None:
    """The write that removes overdue finalizers; none if it is not due, an error if the delay is unreadable."""
    text = annotations_of(live.manifest).get(FINALIZE_DELETION_AFTER)
    if text is None:
        return None
    delay = parse_duration(text)
    if isinstance(delay, Failure):
        return f"failed parsing duration of {FINALIZE_DELETION_AFTER} annotation: {delay.failure()}"
    since = parse_timestamp(object_at(live.manifest, "metadata").get("deletionTimestamp"))
    if not delay.unwrap() or since is None or since + delay.unwrap() > now:
        return None
    finalizers = list_at(live.manifest, "metadata", "finalizers")
    is_namespace = live.resource.object_kind == Kind("v1", "Namespace")
    if is_namespace and (finalizers or list_at(live.manifest, "spec", "finalizers")):
        freed = with_value(live.manifest, ("metadata", "finalizers"), [])
        freed = with_value(freed, ("spec", "finalizers"), [])
        return Update(live.resource, freed, "deletion-overdue", subresource="finalize")
    if not finalizers:
        return None
    patch = {"metadata": {"finalizers": None}}
    return MergePatch(live.resource, live.key, patch, "deletion-overdue", resource_version_of(live.manifest))
