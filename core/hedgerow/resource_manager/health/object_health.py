"""Whether a live object is healthy, by the rules of its kind.

Only kinds that are named here, in exactly these versions, are checked; of any other it is enough to exist.

Source: managed-resources §12.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from hedgerow.machinery.objects import Kind, Manifest
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.health.checks import (
    FALSE,
    TRUE,
    Check,
    absent_or_not,
    generation_is_outdated,
    lacks_minimum_availability,
    load_balancer_is_missing,
    phase_is_bad,
    present_but_not,
    too_few_replicas_are_ready,
)
from hedgerow.resource_manager.health.daemon_sets import (
    pods_are_misscheduled,
    too_few_pods_are_scheduled,
    too_many_pods_are_unavailable,
)
from hedgerow.resource_manager.health.kinds import is_skipped


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
    Kind("apps/v1", "StatefulSet"): (
        generation_is_outdated,
        too_few_replicas_are_ready,
    ),
    Kind("apps/v1", "DaemonSet"): (
        generation_is_outdated,
        too_few_pods_are_scheduled,
        pods_are_misscheduled,
        too_many_pods_are_unavailable,
    ),
    Kind("apps/v1", "ReplicaSet"): (
        generation_is_outdated,
        lacks_minimum_availability("ReplicaSet"),
    ),
    Kind("v1", "ReplicationController"): (
        generation_is_outdated,
        lacks_minimum_availability("ReplicationController"),
    ),
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
