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
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from returns.result import Failure

from hedgerow.api.kubernetes import PERSISTENT_VOLUME_CLAIMS
from hedgerow.api.managed_resources import FINALIZE_DELETION_AFTER, GARBAGE_COLLECTABLE, KEEP_OBJECT
from hedgerow.api.origins import Origin, origin_of, other_origin
from hedgerow.api.references import Reference
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import (
    Kind,
    Manifest,
    annotations_of,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Action, Delete, MergePatch, Propagation, Update, WriteResult
from hedgerow.machinery.questions import ListQuestion, NotAnswered
from hedgerow.machinery.reading import UnreadableError, boolean_at, list_at, object_at, objects_at, texts_at, with_value
from hedgerow.machinery.scalars import parse_bool, parse_duration, parse_timestamp
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.managed_resources.reconciliation.live_objects import (
    ResourceKey,
    Unanswered,
    live,
    resource_key_of,
)
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation

_NAMESPACE: Final = Kind("v1", "Namespace")
_COLLECTED: Final = frozenset({Kind("v1", "ConfigMap"), Kind("v1", "Secret")})
_OWNING_GROUPS: Final = frozenset({"apps", "extensions", "batch"})
"""Groups whose objects go after what they own."""
_CLAIMS_STAY: Final = "failed cleaning up PersistentVolumeClaims of StatefulSet: "
_ORDINAL: Final = "(0|[1-9][0-9]*)"
_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class Gone:
    """The object does not exist, or stays for a reason."""

    foreign: Origin | None = None
    """The ManagedResource of another cluster that it stays for."""
    is_unserved: bool = False
    """Whether it only seems to be gone, as the server does not know its kind."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The object was still there."""

    error: str = ""
    """What stands in the way; empty: nothing but time."""


Removal: TypeAlias = Gone | Pending | Unanswered


async def removed(mr: Reconciliation, reference: Reference) -> Removal:
    """Delete one object, and tell whether it is gone.

    Args:
        mr: the ManagedResource that it belonged to.
        reference: the object.
    """
    target = await resource_key_of(reference.kind, reference.key)
    if isinstance(target, NotAnswered):
        return Gone(is_unserved=target.is_unserved) if target.is_not_found else _not_told(target)
    found = live(await target.question)
    if isinstance(found, NotAnswered):
        # What is not known to have been applied, and may not even be read, could not be created either.
        return Gone() if found.code == _FORBIDDEN and not reference.is_applied else _not_told(found)
    if found.manifest is None:
        return Gone(is_unserved=found.is_unserved)
    try:
        return _reason_to_stay(mr, reference, found.manifest) or await _removed(mr, target, found.manifest)
    except UnreadableError as error:
        return Pending(str(error))


def _not_told(problem: NotAnswered) -> Pending | Unanswered:
    return Unanswered(problem.message) if problem.is_unreachable else Pending(problem.message)


def _reason_to_stay(mr: Reconciliation, reference: Reference, live: Manifest) -> Gone | None:
    if _is_to_stay(mr, reference.kind, live) or (not reference.is_applied and origin_of(live) is None):
        return Gone()
    own = Origin(mr.config.cluster_id, mr.key)
    other = other_origin(live, own)
    return None if other is None else Gone(other if other.cluster_id != own.cluster_id else None)


def _is_to_stay(mr: Reconciliation, kind: Kind, live: Manifest) -> bool:
    return _is_true(annotations_of(live).get(KEEP_OBJECT)) or (
        mr.config.garbage_collection and kind in _COLLECTED and _is_true(labels_of(live).get(GARBAGE_COLLECTABLE))
    )


def _is_true(value: Any) -> bool:
    return isinstance(value, str) and parse_bool(value).value_or(default_value=False)


async def _removed(mr: Reconciliation, target: ResourceKey, live: Manifest) -> Pending:
    """Claims first, as nothing leads to them afterwards; then the object; then, after long enough, its finalizers."""
    if problem := await _delete_claims(mr, target, live):
        return Pending(_CLAIMS_STAY + problem)
    finalization = _finalization(target, live, mr.now)
    error = finalization if isinstance(finalization, str) else ""
    write: Action | None = None if isinstance(finalization, str) else finalization
    if not is_terminating(live):
        propagation: Propagation | None = "Foreground" if target.resource.group in _OWNING_GROUPS else None
        write = Delete(target.resource, target.key, "no-longer-listed", uid_of(live), propagation=propagation)
    return Pending((_problem(await write) if write is not None else "") or error)


def _problem(result: WriteResult) -> str:
    """The server's objection to a write; empty if there is none, or the object is gone."""
    error = result.error
    return "" if error is None or error.is_not_found else error.message


async def _delete_claims(mr: Reconciliation, target: ResourceKey, live: Manifest) -> str:
    """Delete the PersistentVolumeClaims of a StatefulSet, each by its uid; why that failed, if it did."""
    labels = _labels_of_claims(mr, target, live)
    if not labels:
        return ""
    selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    answer = await ListQuestion(
        PERSISTENT_VOLUME_CLAIMS, Cluster.TARGET, target.key.namespace, selector, metadata_only=True
    )
    if isinstance(answer, NotAnswered):
        return f"could not list PVCs of StatefulSet: {answer.message}"
    due = [each for each in answer.objects if _is_claim_of(each, live) and not is_terminating(each)]
    deletions = (Delete(PERSISTENT_VOLUME_CLAIMS, key_of(each), "claim-of-stateful-set", uid_of(each)) for each in due)
    results = await AtOnce(tuple(deletions)) if due else ()
    return next(filter(None, map(_problem, results)), "")


def _labels_of_claims(mr: Reconciliation, target: ResourceKey, live: Manifest) -> Mapping[str, str]:
    """The labels that the StatefulSet controller sets on its claims; none: it has no claims, or they stay."""
    if target.resource.kind != "StatefulSet" or not objects_at(live, "spec", "volumeClaimTemplates"):
        return {}
    if boolean_at(mr.manifest, "spec", "deletePersistentVolumeClaims") is not True:
        return {}
    return texts_at(live, "spec", "selector", "matchLabels")


def _is_claim_of(claim: Manifest, stateful_set: Manifest) -> bool:
    """True if the claim has the name that the StatefulSet controller gives: `<template>-<statefulset>-<ordinal>`.

    Claims of former replicas count as well. Other claims that carry the labels, such as a backup's, do not.

    Source: Kubernetes documentation, "StatefulSets", stable storage; decision "`deletePersistentVolumeClaims`".
    """
    name, owner = key_of(claim).name, key_of(stateful_set).name
    templates = (key_of(each).name for each in objects_at(stateful_set, "spec", "volumeClaimTemplates"))
    return any(re.fullmatch(f"{re.escape(f'{template}-{owner}-')}{_ORDINAL}", name) for template in templates)


def _finalization(target: ResourceKey, live: Manifest, now: datetime) -> Action | str | None:
    """The write that frees an object of its finalizers, or why it cannot be told when; none where it is not due."""
    text = annotations_of(live).get(FINALIZE_DELETION_AFTER)
    if text is None:
        return None
    patience = parse_duration(text)
    if isinstance(patience, Failure):
        return f"failed parsing duration of {FINALIZE_DELETION_AFTER} annotation: {patience.failure()}"
    since = parse_timestamp(object_at(live, "metadata").get("deletionTimestamp"))
    if not patience.unwrap() or since is None or since + patience.unwrap() > now:
        return None
    return _without_finalizers(target, live)


def _without_finalizers(target: ResourceKey, live: Manifest) -> Action | None:
    finalizers = list_at(live, "metadata", "finalizers")
    if target.resource.object_kind == _NAMESPACE:
        if not finalizers and not list_at(live, "spec", "finalizers"):
            return None
        freed = with_value(with_value(live, ("metadata", "finalizers"), []), ("spec", "finalizers"), [])
        return Update(target.resource, freed, "deletion-overdue", subresource="finalize")
    if not finalizers:
        return None
    patch = {"metadata": {"finalizers": None}}
    return MergePatch(target.resource, target.key, patch, "deletion-overdue", resource_version_of(live))
