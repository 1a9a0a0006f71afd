"""What is told of one object by the health rules: whether it is healthy, whether it still rolls out, and why."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from hedgerow.api.kubernetes import PODS
from hedgerow.api.managed_resource_status import check, check_progressing
from hedgerow.api.managed_resources import (
    MANAGED_RESOURCES,
    RESOURCES_APPLIED,
    RESOURCES_PROGRESSING,
    SKIP_HEALTH_CHECK,
    ClassFilter,
    class_of,
    is_taken_up,
)
from hedgerow.api.references import references_of
from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.selectors import Labels
from hedgerow.resource_manager.health import NotChecked, NotReadable, Unhealthy, object_health, object_progressing
from hedgerow.resource_manager.health.object_health import is_skipped
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of, rolls_out
from hedgerow.resource_manager.health.verdicts import Absence

MANAGED_RESOURCE: Final = MANAGED_RESOURCES.object_kind
_PROGRESSING: Final[Mapping[str, bool]] = {ConditionStatus.TRUE: True, ConditionStatus.FALSE: False}


class Subject(NamedTuple):
    """An object that is judged, whether it exists or not."""

    kind: Kind
    key: ObjectKey

    @classmethod
    def of(cls, manifest: Manifest) -> "Subject":
        """The object that a manifest says it is."""
        return cls(Kind.of(manifest), key_of(manifest))

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.key}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is told of one object."""

    subject: Subject
    healthy: bool | None
    """None: it exists, and no rule asks for more."""
    progressing: bool | None
    """None: it does not roll out, or nobody can tell."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict per object, each object once."""

    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()
    """Why objects could not be judged, a sentence each, with their names."""


def applied_by(managed_resource: Manifest) -> tuple[Subject, ...]:
    """The objects that a ManagedResource has applied, in the order of its status; of an unreadable status, none."""
    try:
        return tuple(Subject(each.kind, each.key) for each in references_of(managed_resource))
    except UnreadableError:
        return ()


def judged(
    subject: Subject, live: Manifest | Absence, pod_count: int | None = None, own_class: ClassFilter | None = None
) -> Verdict:
    """What is told of an object as it is now, and of the pods of a Deployment where they were counted.

    Of a ManagedResource it is told whether an instance of `own_class` handles it; none: whether any does.
    """
    if isinstance(live, Absence):
        kind = subject.kind
        unserved = f'missing: no matches for kind "{kind.kind}" in version "{kind.api_version}"'
        why = "missing" if live is Absence.NOT_FOUND else unserved
        return Verdict(subject, healthy=False, progressing=None, why=why)
    if subject.kind == MANAGED_RESOURCE:
        return _of_managed_resource(subject, live, own_class)
    if is_skipped(live):
        return Verdict(subject, healthy=None, progressing=None, why=f"exempt by the annotation {SKIP_HEALTH_CHECK}")
    health = object_health(subject.kind, live)
    cause = health.cause if isinstance(health, Unhealthy | NotReadable) else None
    waits_for = object_progressing(subject.kind, live, pod_count)
    return Verdict(
        subject,
        healthy=None if isinstance(health, NotChecked) else cause is None,
        progressing=waits_for is not None if rolls_out(subject.kind) else None,
        why=_joined(cause, waits_for),
    )


def _of_managed_resource(subject: Subject, managed_resource: Manifest, own_class: ClassFilter | None) -> Verdict:
    cause = check(managed_resource)
    unhandled = _unhandled(managed_resource, own_class)
    try:
        references_of(managed_resource)
    except UnreadableError as error:
        cause = cause or str(error)
    said = find(conditions_of(managed_resource), RESOURCES_PROGRESSING)
    progressing = None if said is None else _PROGRESSING.get(said.status)
    # Until it is applied and healthy nobody expects to be told of its rollout.
    waits_for = check_progressing(managed_resource) if progressing or cause is None else None
    # Why it could not be applied is mostly behind all else that is said of it.
    applied = find(conditions_of(managed_resource), RESOURCES_APPLIED)
    refusal = applied.message if applied and applied.status == ConditionStatus.FALSE else None
    return Verdict(
        subject, healthy=cause is None, progressing=progressing, why=_joined(unhandled, cause, refusal, waits_for)
    )


def _unhandled(managed_resource: Manifest, own_class: ClassFilter | None) -> str | None:
    """That an instance leaves a ManagedResource alone because of its class; or that, so far, every one does."""
    if own_class and not own_class.passes(managed_resource):
        return f"class {class_of(managed_resource)} is not handled by this instance"
    if is_taken_up(managed_resource):
        return None
    return f"no instance has taken up class {class_of(managed_resource)}"


def _joined(*causes: str | None) -> str:
    """What is said, each once, be it in the words of another."""
    said: list[str] = []
    for cause in causes:
        if cause and not any(cause in each for each in said):
            said.append(cause)
    return "; ".join(said)


_Identity: TypeAlias = tuple[str, str, ObjectKey]
"""What an object keeps when it is written in another version of its group."""


def judgement_of_files(
    objects: Sequence[Manifest], namespace: str | None, own_class: ClassFilter | None = None
) -> Judgement:
    """The verdict on each object, in order; behind a ManagedResource those that it misses.

    With a namespace, only what is in it counts, and what its ManagedResources have applied anywhere.
    """
    present = {_identity(Subject.of(each)) for each in objects}
    pods: dict[str, list[Labels]] = defaultdict(list)
    for each in objects:
        if Kind.of(each) == PODS.object_kind:
            pods[key_of(each).namespace].append(labels_of(each))
    here = [namespace in {None, key_of(each).namespace} for each in objects]
    applied = [
        applied_by(each) if is_here and Kind.of(each) == MANAGED_RESOURCE else ()
        for each, is_here in zip(objects, here, strict=True)
    ]
    counting = {_identity(reference) for references in applied for reference in references}
    verdicts: dict[_Identity, Verdict] = {}
    for each, is_here, references in zip(objects, here, applied, strict=True):
        subject = Subject.of(each)
        if is_here or _identity(subject) in counting:
            verdicts.setdefault(_identity(subject), judged(subject, each, _pod_count(subject, each, pods), own_class))
        for reference in references:
            if _identity(reference) not in present:
                verdicts.setdefault(_identity(reference), judged(reference, Absence.NOT_FOUND))
    return Judgement(tuple(verdicts.values()))


def _identity(subject: Subject) -> _Identity:
    return subject.kind.group, subject.kind.kind, subject.key


def _pod_count(subject: Subject, live: Manifest, pods: Mapping[str, Sequence[Labels]]) -> int | None:
    """How many pods an object selects; none where it does not count them, or the files show none of its namespace."""
    selected = pods_of(live) if counts_pods(subject.kind) and subject.key.namespace in pods else None
    return None if selected is None else sum(map(selected.matches, pods[subject.key.namespace]))
