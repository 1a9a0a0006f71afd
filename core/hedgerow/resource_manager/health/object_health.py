"""Whether a live object is healthy, by the rules of its kind: small checks, of which the first that fails decides.

Only kinds that are named here, in exactly these versions, are checked; of any other it is enough to exist. A check
reads the object as it is: an absent number is zero, as the API server leaves zeros out.

Source: managed-resources §11.1, §12.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hedgerow.api.managed_resources import SKIP_HEALTH_CHECK
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Kind, Manifest, annotations_of, resource_version_of, uid_of
from hedgerow.machinery.reading import UnreadableError, integer_at, list_at, object_at, objects_at, text_at
from hedgerow.machinery.scalars import parse_int

Check: TypeAlias = Callable[[Manifest], str | None]

TRUE: Final = "True"
FALSE: Final = "False"
_GOOD_PHASES: Final = ("Running", "Succeeded")


def number_at(live: Manifest, *path: str) -> int:
    """The integer at a path; zero where it is absent."""
    return integer_at(live, *path) or 0


def replicas_of(live: Manifest) -> int:
    """How many replicas are asked for; one where nobody says."""
    replicas = integer_at(live, "spec", "replicas")
    return 1 if replicas is None else replicas


def status_condition(live: Manifest, condition_type: str) -> Mapping[str, Any] | None:
    """The first condition of a type in an object's status; none where there is none."""
    conditions = objects_at(live, "status", "conditions")
    return next((condition for condition in conditions if condition.get("type") == condition_type), None)


def missing(condition_type: str) -> str:
    """What is told of a condition that has to be there."""
    return f'condition "{condition_type}" is missing'


def absent_or_not(condition_type: str, expected: str) -> Check:
    """The condition has to be there, and to say what is expected."""

    def check(live: Manifest) -> str | None:
        condition = status_condition(live, condition_type)
        return missing(condition_type) if condition is None else _deviation(condition, expected)

    return check


def present_but_not(condition_type: str, expected: str) -> Check:
    """The condition need not be there, but has to say what is expected if it is."""

    def check(live: Manifest) -> str | None:
        condition = status_condition(live, condition_type)
        return None if condition is None else _deviation(condition, expected)

    return check


def _deviation(condition: Mapping[str, Any], expected: str) -> str | None:
    status = text_at(condition, "status") or ""
    if status == expected:
        return None
    reason, message = text_at(condition, "reason") or "", text_at(condition, "message") or ""
    invalid = f'condition "{condition["type"]}" has invalid status {status} (expected {expected})'
    return f"{invalid} due to {reason}: {message}"


def generation_is_outdated(live: Manifest) -> str | None:
    """The status has to be about the spec as it is now."""
    observed, current = number_at(live, "status", "observedGeneration"), number_at(live, "metadata", "generation")
    return f"observed generation outdated ({observed}/{current})" if observed < current else None


def too_few_replicas_are_ready(live: Manifest) -> str | None:
    """Every replica that is asked for has to be ready."""
    ready, wanted = number_at(live, "status", "readyReplicas"), replicas_of(live)
    return f"not enough ready replicas ({ready}/{wanted})" if ready < wanted else None


def lacks_minimum_availability(kind: str) -> Check:
    """Every replica has to be ready, if anybody says how many are asked for."""

    def check(live: Manifest) -> str | None:
        wanted = integer_at(live, "spec", "replicas")
        if wanted is None or number_at(live, "status", "readyReplicas") >= wanted:
            return None
        return f"{kind} does not have minimum availability"

    return check


def phase_is_bad(live: Manifest) -> str | None:
    """A pod has to run or to have succeeded; whether it is ready does not matter."""
    phase = text_at(live, "status", "phase") or ""
    if phase in _GOOD_PHASES:
        return None
    expected = " ".join(f'"{good}"' for good in _GOOD_PHASES)
    return f'pod is in invalid phase "{phase}" (expected one of [{expected}])'


def load_balancer_is_missing(live: Manifest) -> str | None:
    """A Service that asks for a load balancer has to have got one."""
    if text_at(live, "spec", "type") != "LoadBalancer" or list_at(live, "status", "loadBalancer", "ingress"):
        return None
    return "service is missing ingress status"


def is_skipped(live: Manifest) -> bool:
    """Whether somebody asked for an object's health not to count."""
    return annotations_of(live).get(SKIP_HEALTH_CHECK) == "true"


def too_few_pods_are_scheduled(live: Manifest) -> str | None:
    """Every node that wants a pod has to have one."""
    scheduled, desired = _count(live, "currentNumberScheduled"), _count(live, "desiredNumberScheduled")
    return f"not enough scheduled pods ({scheduled}/{desired})" if scheduled < desired else None


def pods_are_misscheduled(live: Manifest) -> str | None:
    """No node may have a pod that does not want one."""
    misscheduled = _count(live, "numberMisscheduled")
    return f"misscheduled pods found ({misscheduled})" if misscheduled > 0 else None


def too_many_pods_are_unavailable(live: Manifest) -> str | None:
    """Every pod has to be available, but for those that a rollout may take down."""
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
    """How many pods a rollout may take down at a time; none where the strategy does not say."""
    if text_at(live, "spec", "updateStrategy", "type") != "RollingUpdate":
        return 0
    allowed = object_at(live, "spec", "updateStrategy", "rollingUpdate").get("maxUnavailable")
    return _scaled(allowed, _count(live, "desiredNumberScheduled"))


def _scaled(value: Any, whole: int) -> int:
    """A number of pods as it is, or a percentage of the whole, rounded down; zero for what is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return 0
    return parse_int(value.replace("%", ""), 64).value_or(0) * whole // 100


@dataclass(frozen=True, slots=True)
class Healthy:
    """No rule of the object's kind is violated."""


@dataclass(frozen=True, slots=True)
class Unhealthy:
    """The first rule that is violated."""

    cause: str


@dataclass(frozen=True, slots=True)
class NotChecked:
    """There are no rules for the object, or it is exempt from them."""


@dataclass(frozen=True, slots=True)
class NotReadable:
    """The rules could not be asked, because a field that they read has another shape."""

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
    """The first rule of its kind that a live object violates, or that it violates none."""
    rules = RULES.get(kind)
    if rules is None or is_skipped(live):
        return NotChecked()
    try:
        cause = next((cause for rule in rules if (cause := rule(live)) is not None), None)
    except UnreadableError as error:
        return NotReadable(str(error))
    return Healthy() if cause is None else Unhealthy(cause)


def health_status_changed(kind: Kind) -> Callable[[Change], bool]:
    """The predicate that lets pass what may change whether objects of a kind are there and healthy.

    A kind without rules only has to be there, so no update of it passes. Another object of the same name, whose
    deletion nobody saw, is a deletion and a creation.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None or uid_of(old) != uid_of(new):
            return any(not is_skipped(version) for version in (old, new) if version is not None)
        return is_resync(old, new) or _differs_in_health(kind, old, new)

    return passes


def _differs_in_health(kind: Kind, old: Manifest, new: Manifest) -> bool:
    before, after = object_health(kind, old), object_health(kind, new)
    if isinstance(before, NotChecked) or isinstance(after, NotChecked):
        return False
    return isinstance(before, Healthy) is not isinstance(after, Healthy)


def is_resync(old: Manifest, new: Manifest) -> bool:
    """True if nothing has changed: it is the occasion to see what was missed."""
    return resource_version_of(old) == resource_version_of(new)
