"""Whether a workload still rolls out, and how many pods it selects while it does.

Source: managed-resources §13.
"""

from collections.abc import Mapping
from typing import Final

from hedgerow.api.kubernetes import DEPLOYMENTS
from hedgerow.machinery.objects import Kind, Manifest
from hedgerow.machinery.reading import UnreadableError, text_at, texts_at
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.health.checks import (
    TRUE,
    Check,
    generation_is_outdated,
    missing,
    number_at,
    replicas_of,
    status_condition,
)
from hedgerow.resource_manager.health.kinds import is_skipped

_ROLLED_OUT: Final = "NewReplicaSetAvailable"


def new_replica_set_is_not_available(live: Manifest) -> str | None:
    """A Deployment has rolled out once it says that its new ReplicaSet is available."""
    condition = status_condition(live, "Progressing")
    if condition is None:
        return missing("Progressing")
    if (condition.get("status"), condition.get("reason")) == (TRUE, _ROLLED_OUT):
        return None
    return text_at(condition, "message") or ""


def too_few_replicas_are_updated(live: Manifest) -> str | None:
    """Every replica that a StatefulSet asks for has to be of the new revision."""
    return _still_to_update(number_at(live, "status", "updatedReplicas"), replicas_of(live))


def too_few_pods_are_updated(live: Manifest) -> str | None:
    """Every node that wants a pod of a DaemonSet has to have one of the new revision."""
    updated, desired = "updatedNumberScheduled", "desiredNumberScheduled"
    return _still_to_update(number_at(live, "status", updated), number_at(live, "status", desired))


def _still_to_update(updated: int, wanted: int) -> str | None:
    return f"{updated} of {wanted} replica(s) have been updated" if updated < wanted else None


RULES: Final[Mapping[str, tuple[Check, ...]]] = {
    "Deployment": (generation_is_outdated, new_replica_set_is_not_available),
    "StatefulSet": (generation_is_outdated, too_few_replicas_are_updated),
    "DaemonSet": (generation_is_outdated, too_few_pods_are_updated),
}
"""By kind of the group `apps`."""


def rolls_out(kind: Kind) -> bool:
    """Whether objects of a kind roll out at all; they are read as `apps/v1`, whatever version is named."""
    return kind.group == "apps" and kind.kind in RULES


def counts_pods(kind: Kind) -> bool:
    """Whether it takes the number of pods to tell that an object has rolled out."""
    return kind.group == "apps" and kind.kind == DEPLOYMENTS.kind


def pods_of(deployment: Manifest) -> LabelSelector | None:
    """The pods that count for a Deployment, in its namespace and in any phase; none where nobody can read which.

    Match expressions do not count.
    """
    try:
        return LabelSelector(tuple(texts_at(deployment, "spec", "selector", "matchLabels").items()))
    except UnreadableError:
        return None


def object_progressing(kind: Kind, live: Manifest, pod_count: int | None = None) -> str | None:
    """What a live object still waits for, perhaps in no words; none once it has rolled out.

    Args:
        kind: what the object is.
        live: the object.
        pod_count: how many pods a Deployment selects; not compared where nobody has counted.
    """
    if not rolls_out(kind) or is_skipped(live):
        return None
    try:
        return _description(kind, live, pod_count)
    except UnreadableError as error:
        # Nobody can tell that it has rolled out.
        return str(error)


def _description(kind: Kind, live: Manifest, pod_count: int | None) -> str | None:
    for rule in RULES[kind.kind]:
        if (description := rule(live)) is not None:
            return description
    if counts_pods(kind) and pod_count is not None and pod_count != replicas_of(live):
        return "there are still non-terminated old pods"
    return None
