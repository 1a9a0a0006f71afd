"""The health of what files hold: every object, and what a ManagedResource has applied that no file holds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of
from hedgerow.resource_manager.health.verdicts import Absence
from hedgerow_entrypoints.cli.health.verdicts import MANAGED_RESOURCE, Judgement, Subject, Verdict, applied_by, judged

_POD: Final = Kind("v1", "Pod")


class _Identity(NamedTuple):
    """What an object keeps when it is written in another version of its group."""

    group: str
    kind: str
    key: ObjectKey

    @classmethod
    def of(cls, subject: Subject) -> "_Identity":
        return cls(subject.kind.group, subject.kind.kind, subject.key)


def judgement_of(objects: Sequence[Manifest], namespace: str | None) -> Judgement:
    """The verdict on each object, in order; behind a ManagedResource those that it misses.

    With a namespace, only what is in it counts, and what its ManagedResources have applied anywhere.
    """
    present = {_Identity.of(Subject.of(each)) for each in objects}
    pods = _pods(objects)
    here = [each for each in objects if key_of(each).namespace == namespace]
    counting = {_Identity.of(subject) for each in here for subject in _references(each)}
    verdicts: dict[_Identity, Verdict] = {}
    for each in objects:
        subject = Subject.of(each)
        if namespace in {None, subject.key.namespace} or _Identity.of(subject) in counting:
            verdicts.setdefault(_Identity.of(subject), judged(subject, each, _pod_count(subject, each, pods)))
        for reference in _references(each) if namespace in {None, subject.key.namespace} else ():
            if _Identity.of(reference) not in present:
                verdicts.setdefault(_Identity.of(reference), judged(reference, Absence.NOT_FOUND))
    return Judgement(tuple(verdicts.values()))


def _references(manifest: Manifest) -> tuple[Subject, ...]:
    """What a ManagedResource has applied; nothing of another object, nor of one whose verdict says it is unreadable."""
    if Kind.of(manifest) != MANAGED_RESOURCE:
        return ()
    try:
        return applied_by(manifest)
    except UnreadableError:
        return ()


def _pods(objects: Iterable[Manifest]) -> Mapping[str, list[Mapping[str, str]]]:
    """The labels of the pods of each namespace that has any."""
    pods: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for each in objects:
        if Kind.of(each) == _POD:
            pods[key_of(each).namespace].append(labels_of(each))
    return pods


def _pod_count(subject: Subject, live: Manifest, pods: Mapping[str, list[Mapping[str, str]]]) -> int | None:
    """How many pods an object selects; none where it does not count them, or the files show none of its namespace."""
    selected = pods_of(live) if counts_pods(subject.kind) and subject.key.namespace in pods else None
    return None if selected is None else sum(map(selected.matches, pods[subject.key.namespace]))
