"""What is known of the live objects that a ManagedResource manages, and what has to be asked to know more.

An object that is at hand is taken as it is. That one is not at hand proves nothing, even where its kind is watched: the
watch may be behind who has just created it. So it counts as missing only once the cluster has said so.

Source: managed-resources §11.2, §13.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.selectors import selector_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.health.config import HealthConfig
from hedgerow.resource_manager.health.kinds import Absence, Observed
from hedgerow.resource_manager.health.object_progress import counts_pods, object_progressing, pods_of
from hedgerow.resource_manager.health.pods import PODS
from hedgerow.resource_manager.health.verdicts import Verdict

_DEFAULT_NAMESPACE: Final = "default"


@dataclass(frozen=True, slots=True)
class Unknown:
    """An object, or its kind, that has to be asked about first."""

    question: Question | None = None
    kind: Kind | None = None


Look: TypeAlias = Observed | Unknown | DomainFailure
"""An object or its absence; what to ask first; or why nobody can tell."""


def looked_at(kind: Kind, key: ObjectKey, snapshot: Snapshot, context: Context[HealthConfig]) -> Look:
    """One object, as it is at hand or as answers show it.

    Args:
        kind: what it is.
        key: as the status of its ManagedResource spells it.
        snapshot: the world as it is at hand.
        context: the answers so far.
    """
    resource = context.kinds.get(kind)
    if resource is None:
        return Unknown(kind=kind)
    if isinstance(resource, NotAnswered):
        if resource.is_not_found:
            return Observed(kind, key, Absence.NOT_SERVED)
        return _unreadable(_unserved(kind), key, resource)
    place = _place(resource, key)
    if (live := snapshot.get(resource, place)) is not None:
        return Observed(kind, key, live)
    question = ObjectQuestion(resource, place, Cluster.TARGET)
    answer = context.answers.get(question)
    if answer is None:
        return Unknown(question)
    found = _found(answer)
    return _unreadable(resource, place, found) if isinstance(found, NotAnswered) else Observed(kind, key, found)


def _place(resource: Resource, key: ObjectKey) -> ObjectKey:
    """Where an object is: a reference may name a namespace for one that turned out to be in none."""
    return ObjectKey((key.namespace or _DEFAULT_NAMESPACE) if resource.namespaced else "", key.name)


def _found(answer: Answer) -> Manifest | Absence | NotAnswered:
    match answer:
        case Found((live, *_)):
            return live
        case NotAnswered() if not answer.is_not_found:
            return answer
        case _:
            return Absence.NOT_FOUND


def _unserved(kind: Kind) -> Resource:
    """A kind as a resource of which nobody knows more."""
    return Resource(kind.group, kind.api_version.rpartition("/")[2], "", kind.kind)


def _unreadable(resource: Resource, key: ObjectKey, answer: NotAnswered) -> DomainFailure:
    return DomainFailure(resource, key, "", f"cannot be read: {answer.message}", retryable=True)


def with_pods_counted(look: Look, snapshot: Snapshot, context: Context[HealthConfig]) -> Look:
    """The same, with the number of its pods where that is all that is left to tell whether it has rolled out."""
    if not isinstance(look, Observed) or isinstance(look.live, Absence) or not counts_pods(look.kind):
        return look
    selector = pods_of(look.live)
    if selector is None or object_progressing(look.kind, look.live) is not None:
        return look
    namespace = key_of(look.live).namespace
    if snapshot.holds(PODS):
        return replace(look, pod_count=len(snapshot.list(PODS, namespace=namespace, selector=selector)))
    question = ListQuestion(PODS, Cluster.TARGET, namespace, selector_query(selector), metadata_only=True)
    match context.answers.get(question):
        case None:
            return Unknown(question)
        case Found(pods):
            return replace(look, pod_count=len(pods))
        case NotAnswered() as answer:
            return _unreadable(PODS, ObjectKey(namespace, ""), answer)


def concluded(
    looks: Sequence[Look], evaluate: Callable[[Sequence[Observed]], Verdict], fine: Verdict
) -> Verdict | Plan:
    """What is to be said of objects; or the plan that asks for what has to be known first, or fails.

    The first object that gives cause decides, so that nothing is asked about those behind it. Otherwise everything that
    is not known is asked at once.

    Args:
        looks: the objects in the order in which they decide.
        evaluate: what to say of known ones.
        fine: what it says where none of them gives cause.
    """
    known: list[Observed] = []
    for look in looks:
        if not isinstance(look, Observed):
            break
        known.append(look)
    verdict = evaluate(known)
    if verdict != fine or len(known) == len(looks):
        return verdict
    obstacle = looks[len(known)]
    if isinstance(obstacle, DomainFailure):
        return Plan(failures=(obstacle,))
    unknown = [look for look in looks if isinstance(look, Unknown)]
    return Plan(
        questions=tuple(look.question for look in unknown if look.question is not None),
        kinds=tuple(look.kind for look in unknown if look.kind is not None),
    )
