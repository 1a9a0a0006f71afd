"""What is known of the live objects that a ManagedResource manages, and what has to be asked to know more.

An object that is at hand is taken as it is. That one is not at hand proves nothing, even where its kind is watched: the
watch may be behind who has just created it. So it counts as missing only once the cluster has said so.

Source: managed-resources §11.2, §13.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Kind, ObjectKey, Resource, key_of
from hedgerow.machinery.questions import Answer, Found, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.selectors import selector_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce, concurrently
from hedgerow.resource_manager.health.object_progress import counts_pods, object_progressing, pods_of
from hedgerow.resource_manager.health.verdicts import Absence, Observed, Verdict

_DEFAULT_NAMESPACE: Final = "default"

Look: TypeAlias = Observed | Failure
"""An object or its absence; or why it cannot be read."""


async def concluded(
    objects: Sequence[tuple[Kind, ObjectKey]],
    snapshot: Snapshot,
    evaluate: Callable[[Sequence[Observed]], Verdict],
    fine: Verdict,
    *,
    with_pods: bool = False,
) -> Verdict | Failure:
    """What is to be said of objects; or why that cannot be found out.

    The first object that gives cause decides, so that nothing is asked about those behind it. Otherwise everything that
    is not known is asked at once.

    Args:
        objects: in the order in which they decide.
        snapshot: the world as it is at hand.
        evaluate: what to say of known ones.
        fine: what it says where none of them gives cause.
        with_pods: whether the number of their pods matters.
    """
    kinds = tuple(dict.fromkeys(kind for kind, _ in objects))
    resources = await AtOnce(tuple(map(KindQuestion, kinds))) if kinds else ()
    served = dict(zip(kinds, resources, strict=True))

    def at_hand(kind: Kind, key: ObjectKey) -> Look | None:
        look = _at_hand(kind, key, served[kind], snapshot)
        if isinstance(look, ObjectQuestion):
            return None
        counted = _counted(look, snapshot) if with_pods else look
        return None if isinstance(counted, tuple) else counted

    async def live(kind: Kind, key: ObjectKey) -> Look:
        look = _at_hand(kind, key, served[kind], snapshot)
        if isinstance(look, ObjectQuestion):
            look = _found(kind, key, look, await look)
        counted = _counted(look, snapshot) if with_pods else look
        if not isinstance(counted, tuple):
            return counted
        observed, question = counted
        answer = await question
        if isinstance(answer, NotAnswered):
            return _unreadable(PODS, ObjectKey(question.namespace, ""), answer)
        return replace(observed, pod_count=len(answer.objects))

    known, obstacle = _known(at_hand(*each) for each in objects)
    verdict = evaluate(known)
    if verdict != fine or len(known) == len(objects):
        return verdict
    if isinstance(obstacle, Failure):
        return obstacle
    known, obstacle = _known((*known, *await concurrently(live(*each) for each in objects[len(known) :])))
    verdict = evaluate(known)
    return obstacle if verdict == fine and isinstance(obstacle, Failure) else verdict


def _known(looks: Iterable[Look | None]) -> tuple[Sequence[Observed], Look | None]:
    """The objects that are known up to the first that is not, and that one."""
    known: list[Observed] = []
    for look in looks:
        if not isinstance(look, Observed):
            return known, look
        known.append(look)
    return known, None


def _at_hand(kind: Kind, key: ObjectKey, resource: Resource | NotAnswered, snapshot: Snapshot) -> Look | ObjectQuestion:
    """One object, or the question for it where it is not at hand.

    Args:
        kind: what it is.
        key: as the status of its ManagedResource spells it, where one that is in no namespace may have one.
        resource: as which resource the kind is served.
        snapshot: the world as it is at hand.
    """
    if isinstance(resource, NotAnswered):
        if resource.is_not_found:
            return Observed(kind, key, Absence.NOT_SERVED)
        unserved = Resource(kind.group, kind.api_version.rpartition("/")[2], "", kind.kind)
        return _unreadable(unserved, key, resource)
    place = ObjectKey((key.namespace or _DEFAULT_NAMESPACE) if resource.namespaced else "", key.name)
    live = snapshot.get(resource, place)
    return ObjectQuestion(resource, place, Cluster.TARGET) if live is None else Observed(kind, key, live)


def _found(kind: Kind, key: ObjectKey, question: ObjectQuestion, answer: Answer) -> Look:
    match answer:
        case Found((live, *_)):
            return Observed(kind, key, live)
        case NotAnswered() if not answer.is_not_found:
            return _unreadable(question.resource, question.key, answer)
        case _:
            return Observed(kind, key, Absence.NOT_FOUND)


def _counted(look: Look, snapshot: Snapshot) -> Look | tuple[Observed, ListQuestion]:
    """An object with the number of its pods, or beside the question for them.

    They are counted only if their number is all that is left to tell whether the object has rolled out.
    """
    if not isinstance(look, Observed) or isinstance(look.live, Absence) or not counts_pods(look.kind):
        return look
    namespace, selector = key_of(look.live).namespace, pods_of(look.live)
    if selector is None or object_progressing(look.kind, look.live) is not None:
        return look
    if not snapshot.has_synced(PODS):
        return look, ListQuestion(PODS, Cluster.TARGET, namespace, selector_query(selector), metadata_only=True)
    return replace(look, pod_count=len(snapshot.list(PODS, namespace=namespace, selector=selector)))


def _unreadable(resource: Resource, key: ObjectKey, answer: NotAnswered) -> Failure:
    return Failure(resource, key, Problem("", f"cannot be read: {answer.message}"), retryable=True)
