"""What may be wrong with a DaemonSet: pods on too few nodes, on wrong nodes, or too many that are not available.

Source: managed-resources §12.
"""

from typing import Any

from hedgerow.machinery.go_syntax import parse_int
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at, text_at
from hedgerow.resource_manager.health.checks import number_at


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
