"""How long pods of a workload stay on a Node that is not ready or not reachable, unless the workload says so itself.

Source: webhooks-and-tokens §5.6.
"""

from collections.abc import Sequence
from typing import Any, Final

from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.high_availability.context import HAContext
from hedgerow.api.kubernetes import NOT_READY, UNREACHABLE
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import list_at, objects_at, with_value

NO_EXECUTE: Final = "NoExecute"
_TOLERATIONS: Final = ("spec", "template", "spec", "tolerations")


def with_default_tolerations(workload: Manifest, context: HAContext) -> Manifest:
    """The workload with the tolerations that it lacks."""
    existing = objects_at(workload, *_TOLERATIONS)
    missing = default_tolerations(existing, context.config)
    return with_value(workload, _TOLERATIONS, [*list_at(workload, *_TOLERATIONS), *missing]) if missing else workload


def default_tolerations(existing: Sequence[Manifest], config: HighAvailabilityConfig) -> list[dict[str, Any]]:
    """The tolerations that have to come to those that exist; for taints that these already name there is none."""
    defaults = ((NOT_READY, config.not_ready_seconds), (UNREACHABLE, config.unreachable_seconds))
    return [
        {"key": taint, "operator": "Exists", "effect": NO_EXECUTE, "tolerationSeconds": seconds}
        for taint, seconds in defaults
        if seconds is not None and not any(names(each, taint) for each in existing)
    ]


def names(toleration: Manifest, taint: str) -> bool:
    """Whether a toleration is about eviction by a taint, however it goes on; one without a key is about no taint."""
    return toleration.get("key") == taint and (toleration.get("effect") or NO_EXECUTE) == NO_EXECUTE
