"""What may be wrong with a live object, one small check each.

A check answers with what is wrong, as a user reads it, or with nothing. It reads the object as it is: an absent number
is zero, as the API server leaves zeros out.

Source: managed-resources §12.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import integer_at, list_at, objects_at, text_at

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
