"""How one object goes that nothing asks for any more, and whether it is gone.

Decides from the live object and from what this turn did with it. An object stays where its annotation says so, where
the garbage collector looks after it, and where it belongs to another ManagedResource by now. Of the last case §7.7 says
nothing: there whatever is no longer listed is deleted. But a ManagedResource that is renamed, or an object that moves
from one to another, would lose what the new one has taken over already.

Whom an object belongs to, its origin annotation tells:

- without one, or with one that cannot be read, it is ours, as it is listed;
- with our own it is ours, and so it is where namespace and name are ours and either side has no cluster id: then the id
  was configured, or taken away, after the object was applied;
- of another ManagedResource of our cluster it has been taken over, and stays;
- of any other cluster it stays as well, even under our namespace and name: several source clusters may deliver into one
  target. As it may also be left from an id that was ours once, an event tells of it.

Source: managed-resources §7.7.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from returns.result import Failure

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.durations import parse_duration
from hedgerow.machinery.go_syntax import parse_bool
from hedgerow.machinery.objects import (
    Kind,
    Manifest,
    Resource,
    annotations_of,
    is_terminating,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Action, Delete, DeleteCollection, MergePatch, Outcome, Propagation, Update
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.reading import UnreadableError, boolean_at, list_at, object_at, objects_at, texts_at, with_value
from hedgerow.machinery.timestamps import parse_timestamp
from hedgerow.resource_manager.managed_resources.names import (
    FINALIZE_DELETION_AFTER,
    GARBAGE_COLLECTABLE,
    KEEP_OBJECT,
)
from hedgerow.resource_manager.managed_resources.origin import Origin, other_origin
from hedgerow.resource_manager.managed_resources.reconciliation.live import Place, Unanswered, found, place_of
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage
from hedgerow.resource_manager.managed_resources.references import Reference

CLAIMS: Final = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
_NAMESPACE: Final = Kind("v1", "Namespace")
_COLLECTED: Final = frozenset({Kind("v1", "ConfigMap"), Kind("v1", "Secret")})
_OWNING_GROUPS: Final = frozenset({"apps", "extensions", "batch"})
"""Groups whose objects go after what they own."""
_CLAIMS_STAY: Final = "failed cleaning up PersistentVolumeClaims of StatefulSet: "
_NOT_FOUND: Final = 404


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


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something has to be found out."""

    kinds: tuple[Kind, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Steps:
    """Something has to be done."""

    actions: tuple[Action, ...]


Removal = Gone | Pending | Unanswered | Unknown | Steps


def removal(stage: Stage, reference: Reference) -> Removal:
    """What is to be done next so that an object goes."""
    place = place_of(reference.kind, reference.key, stage.context.kinds)
    match place:
        case None:
            return Unknown(kinds=(reference.kind,))
        case NotAnswered():
            return Gone(is_unserved=True) if place.is_not_found else _not_told(place)
    return _removal_at(stage, reference.kind, place)


def _not_told(problem: NotAnswered) -> Pending | Unanswered:
    return Unanswered(problem.message) if problem.is_silence else Pending(problem.message)


def _removal_at(stage: Stage, kind: Kind, place: Place) -> Removal:
    question = ObjectQuestion(place.resource, place.key, Cluster.TARGET)
    look = found(stage, question)
    if isinstance(look, ObjectQuestion):
        return Unknown(questions=(look,))
    if isinstance(look, NotAnswered):
        return _not_told(look)
    if look.manifest is None:
        answer = stage.context.answers[question]
        return Gone(is_unserved=isinstance(answer, NotAnswered) and answer.is_unserved)
    try:
        return _reason_to_stay(stage, kind, look.manifest) or _removal_of(stage, place, look.manifest)
    except UnreadableError as error:
        return Pending(str(error))


def _reason_to_stay(stage: Stage, kind: Kind, live: Manifest) -> Gone | None:
    if _is_to_stay(stage, kind, live):
        return Gone()
    own = Origin(stage.config.cluster_id, stage.key)
    other = other_origin(live, own)
    return None if other is None else Gone(other if other.cluster_id != own.cluster_id else None)


def _is_to_stay(stage: Stage, kind: Kind, live: Manifest) -> bool:
    return _is_true(annotations_of(live).get(KEEP_OBJECT)) or (
        stage.config.garbage_collection and kind in _COLLECTED and _is_true(labels_of(live).get(GARBAGE_COLLECTABLE))
    )


def _is_true(value: Any) -> bool:
    return isinstance(value, str) and parse_bool(value).value_or(default_value=False)


def _removal_of(stage: Stage, place: Place, live: Manifest) -> Removal:
    """Claims first, as nobody finds them afterwards; then the object; then, after long enough, its finalizers."""
    writes = stage.writes_of(place.resource, place.key)
    claims = _removal_of_claims(stage, place, live)
    if claims is not None:
        return claims
    if not is_terminating(live) and not writes:
        propagation: Propagation | None = "Foreground" if place.resource.group in _OWNING_GROUPS else None
        return Steps((Delete(place.resource, place.key, "no-longer-listed", uid_of(live), propagation=propagation),))
    finalization = _finalization(place, live, stage.context.now)
    if isinstance(finalization, str):
        return Pending(_problem(writes) or finalization)
    if finalization is not None and not writes:
        return Steps((finalization,))
    return Pending(_problem(writes))


def _problem(writes: Sequence[Outcome]) -> str:
    """What a server said against a write, unless it is that there is nothing left to write to."""
    refusals = (outcome.refusal for outcome in writes)
    return next((each.message for each in refusals if each is not None and each.code != _NOT_FOUND), "")


def _removal_of_claims(stage: Stage, place: Place, live: Manifest) -> Removal | None:
    """What is to be done about the PersistentVolumeClaims of a StatefulSet; none: nothing, or nothing more."""
    labels = _labels_of_claims(stage, place, live)
    if not labels:
        return None
    selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    question = ListQuestion(CLAIMS, Cluster.TARGET, place.key.namespace, selector, metadata_only=True)
    match stage.context.answers.get(question):
        case None:
            return Unknown(questions=(question,))
        case NotAnswered() as problem:
            return Pending(f"{_CLAIMS_STAY}could not list PVCs of StatefulSet: {problem.message}")
        case Found(claims) if not all(map(is_terminating, claims)):
            return _deletion_of_claims(stage, place.key.namespace, selector)
        case _:
            return None


def _labels_of_claims(stage: Stage, place: Place, live: Manifest) -> Mapping[str, str]:
    """The labels by which claims are found that go with their StatefulSet; none: it has no claims, or they stay."""
    if place.resource.kind != "StatefulSet" or not objects_at(live, "spec", "volumeClaimTemplates"):
        return {}
    if boolean_at(stage.managed_resource, "spec", "deletePersistentVolumeClaims") is not True:
        return {}
    return texts_at(live, "spec", "selector", "matchLabels")


def _deletion_of_claims(stage: Stage, namespace: str, selector: str) -> Removal | None:
    deletion = DeleteCollection(CLAIMS, namespace, selector, "claims-of-stateful-set")
    done = [each for each in stage.writes_of(CLAIMS, deletion.key) if each.action == deletion]
    if not done:
        return Steps((deletion,))
    problem = _problem(done)
    return Pending(_CLAIMS_STAY + problem) if problem else None


def _finalization(place: Place, live: Manifest, now: datetime) -> Action | str | None:
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
    return _without_finalizers(place, live)


def _without_finalizers(place: Place, live: Manifest) -> Action | None:
    finalizers = list_at(live, "metadata", "finalizers")
    if place.resource.object_kind == _NAMESPACE:
        if not finalizers and not list_at(live, "spec", "finalizers"):
            return None
        freed = with_value(with_value(live, ("metadata", "finalizers"), []), ("spec", "finalizers"), [])
        return Update(place.resource, freed, "deletion-overdue", subresource="finalize")
    if not finalizers:
        return None
    patch = {"metadata": {"finalizers": None}}
    return MergePatch(place.resource, place.key, patch, "deletion-overdue", resource_version_of(live))
