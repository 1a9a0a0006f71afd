"""What the conditions of a ManagedResource say about its objects: healthy or not, rolled out or not.

The first object that gives cause decides, in the order of the ManagedResource's status. A cached object is taken as it
is. An object that is not cached may have been created a moment ago: it is missing only if the cluster says so.

Source: managed-resources §6.2, §11.2, §13.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Final

from hedgerow.api.events import event_block, message_with_ages, warnings_question
from hedgerow.api.kubernetes import PODS
from hedgerow.api.managed_resources import RESOURCES_HEALTHY, RESOURCES_PROGRESSING
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, find, get_or_init, merge, updated
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.questions import Found, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.selectors import selector_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce, Now, concurrently
from hedgerow.resource_manager.health.object_health import NotReadable, Unhealthy, object_health
from hedgerow.resource_manager.health.object_progress import counts_pods, object_progressing, pods_of

_SERVICE: Final = Kind("v1", "Service")


class Absence(Enum):
    """Why there is no live object."""

    NOT_FOUND = "the object does not exist"
    NOT_SERVED = "the cluster does not know the kind"


@dataclass(frozen=True, slots=True)
class Observed:
    """An object that a ManagedResource manages, as it is in the target cluster."""

    kind: Kind
    """Stands beside the object, as those out of a list do not name it."""
    key: ObjectKey
    live: Manifest | Absence
    pod_count: int | None = None
    """The number of pods that a Deployment selects; none: not counted."""

    def __str__(self) -> str:
        """As messages name it: the kind, then namespace and name even if the namespace is empty."""
        return f'{self.kind.kind} "{self.key.namespace}/{self.key.name}"'


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a condition has to say."""

    type: str
    status: ConditionStatus
    reason: str
    message: str
    service: ObjectKey | None = None
    """The unhealthy Service whose Warning events may tell more, if any."""

    def with_events(self, events: Iterable[Manifest], now: datetime) -> "Verdict":
        """The verdict with the latest Warning events of the Service."""
        block = event_block(events, _SERVICE, self.service, now) if self.service else ""
        return replace(self, message=f"{self.message}\n\n{block}") if block else self


HEALTHY: Final = Verdict(RESOURCES_HEALTHY, ConditionStatus.TRUE, "ResourcesHealthy", "All resources are healthy.")
ROLLED_OUT: Final = Verdict(
    RESOURCES_PROGRESSING, ConditionStatus.FALSE, "ResourcesRolledOut", "All resources have been fully rolled out."
)


def evaluate_health(objects: Iterable[Observed]) -> Verdict:
    """What `ResourcesHealthy` has to say; objects behind the first that gives cause are not read."""
    return next((verdict for observed in objects if (verdict := _health_verdict(observed))), HEALTHY)


def _health_verdict(observed: Observed) -> Verdict | None:
    kind, key, service = observed.kind, observed.key, None
    if isinstance(observed.live, Absence):
        reason = f"{kind.kind}Missing"
        message = f'Required {kind.kind} "{key.name}" in namespace "{key.namespace}" is missing'
        if observed.live is Absence.NOT_SERVED:
            message = f'{message}: no matches for kind "{kind.kind}" in version "{kind.api_version}"'
        return Verdict(RESOURCES_HEALTHY, ConditionStatus.FALSE, reason, message)
    match object_health(kind, observed.live):
        case Unhealthy(cause):
            reason, message = f"{kind.kind}Unhealthy", f"{observed} is unhealthy: {cause}"
            service = key_of(observed.live) if kind == _SERVICE else None
        case NotReadable(cause):
            reason, message = "HealthCheckError", f"Error executing health check for {observed}: {cause}"
        case _:
            return None
    return Verdict(RESOURCES_HEALTHY, ConditionStatus.FALSE, reason, message, service)


def evaluate_progress(objects: Iterable[Observed]) -> Verdict:
    """What `ResourcesProgressing` has to say; a missing object does not roll out."""
    return next((verdict for observed in objects if (verdict := _progress_verdict(observed))), ROLLED_OUT)


def _progress_verdict(observed: Observed) -> Verdict | None:
    kind, live = observed.kind, observed.live
    description = None if isinstance(live, Absence) else object_progressing(kind, live, observed.pod_count)
    if description is None:
        return None
    message = f"{observed} is progressing: {description}"
    return Verdict(RESOURCES_PROGRESSING, ConditionStatus.TRUE, f"{kind.kind}Progressing", message)


def recorded(stored: Sequence[Condition], verdict: Verdict, now: datetime) -> tuple[Condition, ...]:
    """The conditions of a ManagedResource with a verdict; equal to the stored ones if they have it."""
    old = get_or_init(stored, verdict.type, now)
    return merge(stored, updated(old, verdict.status, verdict.reason, verdict.message, now=now))


async def with_warnings(verdict: Verdict, managed_resource: Manifest) -> Verdict:
    """The verdict with the Warning events of the unhealthy Service, if they can be read."""
    answer = await warnings_question(_SERVICE, verdict.service) if verdict.service is not None else None
    if not isinstance(answer, Found):
        return verdict
    events, stored = answer.objects, find(conditions_of(managed_resource), verdict.type)
    message = message_with_ages(lambda now: verdict.with_events(events, now).message, stored, await Now())
    return replace(verdict, message=message)


async def concluded(
    objects: Sequence[tuple[Kind, ObjectKey]],
    snapshot: Snapshot,
    evaluate: Callable[[Sequence[Observed]], Verdict],
    fine: Verdict,
    *,
    with_pods: bool = False,
) -> Verdict | Failure:
    """The verdict on objects, or why an object that decides cannot be read.

    Nothing is asked about objects behind the first cached one that gives cause. Otherwise all objects that are not
    cached are read at once.

    Args:
        objects: in the order in which they decide.
        snapshot: of the target cluster.
        evaluate: returns the verdict on known objects.
        fine: its verdict if none of them gives cause.
        with_pods: true if the number of their pods matters.
    """
    kinds = tuple(dict.fromkeys(kind for kind, _ in objects))
    resources = await AtOnce(tuple(map(KindQuestion, kinds))) if kinds else ()
    served = dict(zip(kinds, resources, strict=True))

    def cached(kind: Kind, key: ObjectKey) -> Observed | Failure | None:
        found = _cached(kind, key, served[kind], snapshot)
        counted = _counted(found, snapshot) if with_pods and isinstance(found, Observed) else found
        return None if isinstance(counted, (ObjectQuestion, ListQuestion)) else counted

    async def live(kind: Kind, key: ObjectKey) -> Observed | Failure:
        found = _cached(kind, key, served[kind], snapshot)
        if isinstance(found, ObjectQuestion):
            answer = await found
            if isinstance(answer, NotAnswered) and not answer.is_not_found:
                return _unreadable(found.resource, found.key, answer)
            objects = answer.objects if isinstance(answer, Found) else ()
            found = Observed(kind, key, next(iter(objects), Absence.NOT_FOUND))
        if isinstance(found, Failure) or not with_pods:
            return found
        counted = _counted(found, snapshot)
        if isinstance(counted, Observed):
            return counted
        pods = await counted
        if isinstance(pods, NotAnswered):
            return _unreadable(PODS, ObjectKey(counted.namespace, ""), pods)
        return replace(found, pod_count=len(pods.objects))

    known, obstacle = _known(cached(*each) for each in objects)
    verdict = evaluate(known)
    if verdict != fine or len(known) == len(objects):
        return verdict
    if isinstance(obstacle, Failure):
        return obstacle
    known, obstacle = _known((*known, *await concurrently(live(*each) for each in objects[len(known) :])))
    verdict = evaluate(known)
    return obstacle if verdict == fine and isinstance(obstacle, Failure) else verdict


def _known(looks: Iterable[Observed | Failure | None]) -> tuple[Sequence[Observed], Failure | None]:
    """The objects up to the first that is not known, and why it is not, if it cannot be read."""
    known: list[Observed] = []
    for look in looks:
        if not isinstance(look, Observed):
            return known, look
        known.append(look)
    return known, None


def _cached(
    kind: Kind, key: ObjectKey, resource: Resource | NotAnswered, snapshot: Snapshot
) -> Observed | Failure | ObjectQuestion:
    """An object, or the question for it if it is not cached. The key of a cluster-scoped one may have a namespace."""
    if isinstance(resource, NotAnswered):
        if resource.is_not_found:
            return Observed(kind, key, Absence.NOT_SERVED)
        unserved = Resource(kind.group, kind.api_version.rpartition("/")[2], "", kind.kind)
        return _unreadable(unserved, key, resource)
    place = ObjectKey((key.namespace or "default") if resource.namespaced else "", key.name)
    live = snapshot.get(resource, place)
    return ObjectQuestion(resource, place, Cluster.TARGET) if live is None else Observed(kind, key, live)


def _counted(observed: Observed, snapshot: Snapshot) -> Observed | ListQuestion:
    """An object with the number of its pods, or the question for them; counted only if nothing else decides."""
    live = observed.live
    if isinstance(live, Absence) or not counts_pods(observed.kind):
        return observed
    namespace, selector = key_of(live).namespace, pods_of(live)
    if selector is None or object_progressing(observed.kind, live) is not None:
        return observed
    if not snapshot.has_synced(PODS):
        return ListQuestion(PODS, Cluster.TARGET, namespace, selector_query(selector), metadata_only=True)
    return replace(observed, pod_count=len(snapshot.list(PODS, namespace=namespace, selector=selector)))


def _unreadable(resource: Resource, key: ObjectKey, answer: NotAnswered) -> Failure:
    return retryable_failure(resource, key, f"cannot be read: {answer.message}")
