"""The health of what files hold: every object, and what a ManagedResource has applied that no file holds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.selectors import Labels
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of
from hedgerow.resource_manager.health.verdicts import Absence
from hedgerow_entrypoints.cli.health.verdicts import MANAGED_RESOURCE, Judgement, Subject, Verdict, applied_by, judged

_Identity: TypeAlias = tuple[str, str, ObjectKey]
"""What an object keeps when it is written in another version of its group."""


def judgement_of(objects: Sequence[Manifest], namespace: str | None) -> Judgement:
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
            verdicts.setdefault(_identity(subject), judged(subject, each, _pod_count(subject, each, pods)))
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
