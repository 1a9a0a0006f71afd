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
from hedgerow.machinery.execution import concurrently
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.questions import Answer, Found, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.selectors import LabelSelector, selector_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.health.kinds import Absence, Observed
from hedgerow.resource_manager.health.object_progress import counts_pods, object_progressing, pods_of
from hedgerow.resource_manager.health.verdicts import Verdict

_DEFAULT_NAMESPACE: Final = "default"


Look: TypeAlias = Observed | DomainFailure
"""An object or its absence; or why it cannot be read."""


def _at_hand(kind: Kind, key: ObjectKey, resource: Resource | NotAnswered, snapshot: Snapshot) -> Look | None:
    """One object; none if it has to be asked for.

    Args:
        kind: what it is.
        key: as the status of its ManagedResource spells it.
        resource: as which resource the kind is served.
        snapshot: the world as it is at hand.
    """
    if isinstance(resource, NotAnswered):
        if resource.is_not_found:
            return Observed(kind, key, Absence.NOT_SERVED)
        return _unreadable(_unserved(kind), key, resource)
    live = snapshot.get(resource, _place(resource, key))
    return None if live is None else Observed(kind, key, live)


async def _live(kind: Kind, key: ObjectKey, resource: Resource | NotAnswered, snapshot: Snapshot) -> Look:
    """The same; what is not at hand is asked for."""
    look = _at_hand(kind, key, resource, snapshot)
    if look is not None or isinstance(resource, NotAnswered):
        return look or Observed(kind, key, Absence.NOT_SERVED)
    place = _place(resource, key)
    found = _found(await ObjectQuestion(resource, place, Cluster.TARGET))
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


def _pods_to_count(look: Look | None) -> LabelSelector | None:
    """The pods whose number is all that is left to tell whether an object has rolled out."""
    if not isinstance(look, Observed) or isinstance(look.live, Absence) or not counts_pods(look.kind):
        return None
    return None if object_progressing(look.kind, look.live) is not None else pods_of(look.live)


def _with_pods_at_hand(look: Look | None, snapshot: Snapshot) -> Look | None:
    """An object with the number of its pods where that matters; none if these have to be asked for."""
    selector = _pods_to_count(look)
    if selector is None or not isinstance(look, Observed) or isinstance(look.live, Absence):
        return look
    if not snapshot.holds(PODS):
        return None
    namespace = key_of(look.live).namespace
    return replace(look, pod_count=len(snapshot.list(PODS, namespace=namespace, selector=selector)))


async def _with_pods(look: Look, snapshot: Snapshot) -> Look:
    """The same; pods that are not at hand are asked for."""
    counted, selector = _with_pods_at_hand(look, snapshot), _pods_to_count(look)
    if counted is not None or selector is None or not isinstance(look, Observed) or isinstance(look.live, Absence):
        return counted or look
    namespace = key_of(look.live).namespace
    answer = await ListQuestion(PODS, Cluster.TARGET, namespace, selector_query(selector), metadata_only=True)
    if isinstance(answer, NotAnswered):
        return _unreadable(PODS, ObjectKey(namespace, ""), answer)
    return replace(look, pod_count=len(answer.objects))


async def concluded(
    objects: Sequence[tuple[Kind, ObjectKey]],
    snapshot: Snapshot,
    evaluate: Callable[[Sequence[Observed]], Verdict],
    fine: Verdict,
    *,
    counts_pods: bool = False,
) -> Verdict | DomainFailure:
    """What is to be said of objects; or why that cannot be found out.

    The first object that gives cause decides, so that nothing is asked about those behind it. Otherwise everything that
    is not known is asked at once.

    Args:
        objects: in the order in which they decide.
        snapshot: the world as it is at hand.
        evaluate: what to say of known ones.
        fine: what it says where none of them gives cause.
        counts_pods: whether the number of their pods matters.
    """
    kinds = tuple(dict.fromkeys(kind for kind, _ in objects))
    resources = await AtOnce(tuple(map(KindQuestion, kinds))) if kinds else ()
    served = dict(zip(kinds, resources, strict=True))

    def at_hand(kind: Kind, key: ObjectKey) -> Look | None:
        look = _at_hand(kind, key, served[kind], snapshot)
        return _with_pods_at_hand(look, snapshot) if counts_pods else look

    async def live(kind: Kind, key: ObjectKey) -> Look:
        look = await _live(kind, key, served[kind], snapshot)
        return await _with_pods(look, snapshot) if counts_pods else look

    known, obstacle = _known(at_hand(*each) for each in objects)
    verdict = evaluate(known)
    if verdict != fine or len(known) == len(objects):
        return verdict
    if isinstance(obstacle, DomainFailure):
        return obstacle
    known, obstacle = _known((*known, *await concurrently(live(*each) for each in objects[len(known) :])))
    verdict = evaluate(known)
    return obstacle if verdict == fine and isinstance(obstacle, DomainFailure) else verdict


def _known(looks: Iterable[Look | None]) -> tuple[Sequence[Observed], Look | None]:
    """The objects that are known up to the first that is not, and that one."""
    known: list[Observed] = []
    for look in looks:
        if not isinstance(look, Observed):
            return known, look
        known.append(look)
    return known, None
