"""What is said of a ManagedResource once its objects have been looked at: healthy or not, rolled out or not.

The first object that gives cause decides, in the order of the ManagedResource's status, so objects may be looked up one
by one until then. An object out of a list does not say what it is, so its kind is told beside it.

Source: managed-resources §6.2, §11.2, §13.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Final

from hedgerow.api.events import event_block, warnings_question
from hedgerow.api.managed_resources import RESOURCES_HEALTHY, RESOURCES_PROGRESSING
from hedgerow.machinery.conditions import Condition, ConditionStatus, get_or_init, merge, updated
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.questions import ListQuestion
from hedgerow.resource_manager.health.object_health import NotReadable, Unhealthy, object_health
from hedgerow.resource_manager.health.object_progress import object_progressing, rolls_out

_SERVICE: Final = Kind("v1", "Service")


class Absence(Enum):
    """Why there is no live object."""

    NOT_FOUND = "the object does not exist"
    NOT_SERVED = "the cluster does not know the kind"


@dataclass(frozen=True, slots=True)
class Observed:
    """One object that a ManagedResource manages, and what the target cluster shows of it."""

    kind: Kind
    key: ObjectKey
    live: Manifest | Absence
    pod_count: int | None = None
    """How many pods a Deployment selects; none: nobody has counted."""

    @classmethod
    def existing(cls, live: Manifest, pod_count: int | None = None) -> "Observed":
        """A live object that says itself what it is."""
        return cls(Kind.of(live), key_of(live), live, pod_count)

    def __str__(self) -> str:
        """As messages name it: the kind, then namespace and name even where the namespace is empty."""
        return f'{self.kind.kind} "{self.key.namespace}/{self.key.name}"'


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a condition is to say from now on."""

    type: str
    status: ConditionStatus
    reason: str
    message: str
    service: ObjectKey | None = None
    """The Service whose Warning events may tell more; none where no Service is to blame."""

    @property
    def question(self) -> ListQuestion | None:
        """What has to be asked to tell more; none where nothing does."""
        return None if self.service is None else warnings_question(_SERVICE, self.service)

    def with_events(self, events: Iterable[Manifest], now: datetime) -> "Verdict":
        """The verdict that also tells the latest Warning events of the Service that is to blame."""
        block = event_block(events, _SERVICE, self.service, now) if self.service else ""
        return replace(self, message=f"{self.message}\n\n{block}") if block else self


HEALTHY: Final = Verdict(RESOURCES_HEALTHY, ConditionStatus.TRUE, "ResourcesHealthy", "All resources are healthy.")
ROLLED_OUT: Final = Verdict(
    RESOURCES_PROGRESSING, ConditionStatus.FALSE, "ResourcesRolledOut", "All resources have been fully rolled out."
)


def evaluate_health(objects: Iterable[Observed]) -> Verdict:
    """What the condition `ResourcesHealthy` is to say; objects behind the first that gives cause are not asked for."""
    return next((verdict for observed in objects if (verdict := _health_verdict(observed))), HEALTHY)


def _health_verdict(observed: Observed) -> Verdict | None:
    if isinstance(observed.live, Absence):
        return _unhealthy(f"{observed.kind.kind}Missing", _missing(observed, observed.live))
    match object_health(observed.kind, observed.live):
        case Unhealthy(cause):
            verdict = _unhealthy(f"{observed.kind.kind}Unhealthy", f"{observed} is unhealthy: {cause}")
            return replace(verdict, service=key_of(observed.live)) if observed.kind == _SERVICE else verdict
        case NotReadable(cause):
            return _unhealthy("HealthCheckError", f"Error executing health check for {observed}: {cause}")
        case _:
            return None


def _missing(observed: Observed, absence: Absence) -> str:
    kind, key = observed.kind, observed.key
    message = f'Required {kind.kind} "{key.name}" in namespace "{key.namespace}" is missing'
    if absence is Absence.NOT_FOUND:
        return message
    return f'{message}: no matches for kind "{kind.kind}" in version "{kind.api_version}"'


def _unhealthy(reason: str, message: str) -> Verdict:
    return Verdict(RESOURCES_HEALTHY, ConditionStatus.FALSE, reason, message)


def evaluate_progress(objects: Iterable[Observed]) -> Verdict:
    """What the condition `ResourcesProgressing` is to say; what is missing does not roll out."""
    return next((verdict for observed in objects if (verdict := _progress_verdict(observed))), ROLLED_OUT)


def _progress_verdict(observed: Observed) -> Verdict | None:
    if isinstance(observed.live, Absence) or not rolls_out(observed.kind):
        return None
    description = object_progressing(observed.kind, observed.live, observed.pod_count)
    if description is None:
        return None
    reason, message = f"{observed.kind.kind}Progressing", f"{observed} is progressing: {description}"
    return Verdict(RESOURCES_PROGRESSING, ConditionStatus.TRUE, reason, message)


def recorded(stored: Sequence[Condition], verdict: Verdict, now: datetime) -> tuple[Condition, ...]:
    """The conditions of a ManagedResource that say what a verdict says; equal to the stored ones if they did before."""
    old = get_or_init(stored, verdict.type, now)
    return merge(stored, updated(old, verdict.status, verdict.reason, verdict.message, now=now))
