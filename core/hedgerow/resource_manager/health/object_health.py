"""Whether a live object is healthy: the first violated check of its kind decides.

Kinds are checked in exactly the versions of the table; any other object only has to exist. An absent number is zero, as
the API server leaves zeros out.

Source: managed-resources §11.1, §12.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from hedgerow.api.managed_resources import SKIP_HEALTH_CHECK
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Kind, Manifest, annotations_of, resource_version_of, uid_of
from hedgerow.machinery.reading import UnreadableError, integer_at, list_at, object_at, objects_at, text_at
from hedgerow.machinery.scalars import parse_int

Check: TypeAlias = Callable[[Manifest], str | None]

TRUE: Final = "True"
FALSE: Final = "False"


def number_at(live: Manifest, *path: str) -> int:
    """The integer at a path; zero if it is absent."""
    return integer_at(live, *path) or 0


def replicas_of(live: Manifest) -> int:
    """The desired number of replicas; one by default."""
    replicas = integer_at(live, "spec", "replicas")
    return 1 if replicas is None else replicas


def status_condition(live: Manifest, condition_type: str) -> Mapping[str, Any] | None:
    """The first condition of a type in an object's status, if any."""
    conditions = objects_at(live, "status", "conditions")
    return next((condition for condition in conditions if condition.get("type") == condition_type), None)


def missing(condition_type: str) -> str:
    """The text about a condition that must be there."""
    return f'condition "{condition_type}" is missing'


def condition_is_not(condition_type: str, expected: str, *, may_be_absent: bool) -> Check:
    """The check that a condition has a status."""

    def check(live: Manifest) -> str | None:
        condition = status_condition(live, condition_type)
        if condition is None:
            return None if may_be_absent else missing(condition_type)
        status = text_at(condition, "status") or ""
        if status == expected:
            return None
        reason, message = text_at(condition, "reason") or "", text_at(condition, "message") or ""
        invalid = f'condition "{condition_type}" has invalid status {status} (expected {expected})'
        return f"{invalid} due to {reason}: {message}"

    return check


absent_or_not: Final = partial(condition_is_not, may_be_absent=False)
present_but_not: Final = partial(condition_is_not, may_be_absent=True)


def generation_is_outdated(live: Manifest) -> str | None:
    """The status must be about the current spec."""
    observed, current = number_at(live, "status", "observedGeneration"), number_at(live, "metadata", "generation")
    return f"observed generation outdated ({observed}/{current})" if observed < current else None


def too_few_replicas_are_ready(live: Manifest) -> str | None:
    """Every desired replica must be ready."""
    ready, wanted = number_at(live, "status", "readyReplicas"), replicas_of(live)
    return f"not enough ready replicas ({ready}/{wanted})" if ready < wanted else None


def lacks_minimum_availability(kind: str) -> Check:
    """The check that every replica is ready, if their number is set."""

    def check(live: Manifest) -> str | None:
        wanted = integer_at(live, "spec", "replicas")
        if wanted is None or number_at(live, "status", "readyReplicas") >= wanted:
            return None
        return f"{kind} does not have minimum availability"

    return check


def phase_is_bad(live: Manifest) -> str | None:
    """A pod must run or have succeeded; it need not be ready."""
    phase = text_at(live, "status", "phase") or ""
    if phase in {"Running", "Succeeded"}:
        return None
    return f'pod is in invalid phase "{phase}" (expected one of ["Running" "Succeeded"])'


def load_balancer_is_missing(live: Manifest) -> str | None:
    """A Service of type LoadBalancer must have one."""
    if text_at(live, "spec", "type") != "LoadBalancer" or list_at(live, "status", "loadBalancer", "ingress"):
        return None
    return "service is missing ingress status"


def is_skipped(live: Manifest) -> bool:
    """True if an annotation exempts an object from checks."""
    return annotations_of(live).get(SKIP_HEALTH_CHECK) == "true"


def too_few_pods_are_scheduled(live: Manifest) -> str | None:
    """Every desired pod must be scheduled."""
    scheduled, desired = _count(live, "currentNumberScheduled"), _count(live, "desiredNumberScheduled")
    return f"not enough scheduled pods ({scheduled}/{desired})" if scheduled < desired else None


def pods_are_misscheduled(live: Manifest) -> str | None:
    """No pod may be on a node that should have none."""
    misscheduled = _count(live, "numberMisscheduled")
    return f"misscheduled pods found ({misscheduled})" if misscheduled > 0 else None


def too_many_pods_are_unavailable(live: Manifest) -> str | None:
    """Every pod must be available, except for those that a rollout may take down."""
    unavailable, scheduled = _count(live, "numberUnavailable"), _count(live, "currentNumberScheduled")
    is_rolling = _count(live, "updatedNumberScheduled") < _count(live, "desiredNumberScheduled")
    allowed = _max_unavailable(live) if is_rolling else 0
    if unavailable <= allowed:
        return None
    limit = f", only max. {allowed} unavailable pods allowed" if is_rolling else ""
    return f"too many unavailable pods found ({unavailable}/{scheduled}{limit})"


def _count(live: Manifest, field: str) -> int:
    return number_at(live, "status", field)


def _max_unavailable(live: Manifest) -> int:
    """The number of pods that a rollout may take down at a time; a percentage is rounded down."""
    if text_at(live, "spec", "updateStrategy", "type") != "RollingUpdate":
        return 0
    allowed = object_at(live, "spec", "updateStrategy", "rollingUpdate").get("maxUnavailable")
    if isinstance(allowed, str):
        return parse_int(allowed.replace("%", ""), 64).value_or(0) * _count(live, "desiredNumberScheduled") // 100
    return allowed if isinstance(allowed, int) and not isinstance(allowed, bool) else 0


@dataclass(frozen=True, slots=True)
class Healthy:
    """No check of the object's kind is violated."""


@dataclass(frozen=True, slots=True)
class Unhealthy:
    """The first violated check."""

    cause: str


@dataclass(frozen=True, slots=True)
class NotChecked:
    """There are no checks of the kind, or the object is exempt."""


@dataclass(frozen=True, slots=True)
class NotReadable:
    """A field that a check reads has another type."""

    cause: str


ObjectHealth: TypeAlias = Healthy | Unhealthy | NotChecked | NotReadable

_CUSTOM_RESOURCE_DEFINITION: Final = (
    absent_or_not("NamesAccepted", TRUE),
    absent_or_not("Established", TRUE),
    present_but_not("Terminating", FALSE),
)

RULES: Final[Mapping[Kind, tuple[Check, ...]]] = {
    Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"): _CUSTOM_RESOURCE_DEFINITION,
    Kind("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"): _CUSTOM_RESOURCE_DEFINITION,
    Kind("apps/v1", "Deployment"): (
        generation_is_outdated,
        absent_or_not("Available", TRUE),
        present_but_not("Progressing", TRUE),
        present_but_not("ReplicaFailure", FALSE),
    ),
    Kind("apps/v1", "StatefulSet"): (generation_is_outdated, too_few_replicas_are_ready),
    Kind("apps/v1", "DaemonSet"): (
        generation_is_outdated,
        too_few_pods_are_scheduled,
        pods_are_misscheduled,
        too_many_pods_are_unavailable,
    ),
    Kind("apps/v1", "ReplicaSet"): (generation_is_outdated, lacks_minimum_availability("ReplicaSet")),
    Kind("v1", "ReplicationController"): (generation_is_outdated, lacks_minimum_availability("ReplicationController")),
    Kind("batch/v1", "Job"): (present_but_not("Failed", FALSE),),
    Kind("v1", "Pod"): (phase_is_bad,),
    Kind("v1", "Service"): (load_balancer_is_missing,),
}


def object_health(kind: Kind, live: Manifest) -> ObjectHealth:
    """The first check of its kind that a live object violates, or that it violates none."""
    rules = RULES.get(kind)
    if rules is None or is_skipped(live):
        return NotChecked()
    try:
        cause = next((cause for rule in rules if (cause := rule(live)) is not None), None)
    except UnreadableError as error:
        return NotReadable(str(error))
    return Healthy() if cause is None else Unhealthy(cause)


def health_status_changed(kind: Kind) -> Callable[[Change], bool]:
    """The predicate of changes that may change whether objects of a kind exist and are healthy.

    Updates of a kind without checks do not pass. An update to another uid is a deletion and a creation.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None or uid_of(old) != uid_of(new):
            return any(not is_skipped(version) for version in (old, new) if version is not None)
        if is_resync(old, new):
            return True
        before, after = object_health(kind, old), object_health(kind, new)
        is_checked = not isinstance(before, NotChecked) and not isinstance(after, NotChecked)
        return is_checked and isinstance(before, Healthy) is not isinstance(after, Healthy)

    return passes


def is_resync(old: Manifest, new: Manifest) -> bool:
    """True if nothing has changed: the object is checked in case an event was missed."""
    return resource_version_of(old) == resource_version_of(new)
