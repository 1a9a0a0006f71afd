"""Whether what ManagedResources deliver is healthy and has rolled out.

Start with `object_health`, which judges one live object, or with `evaluate_health` and `evaluate_progress`, which judge
the objects of a ManagedResource. `health_controller` and `progressing_controller` have the status say so. What stands
here follows semantic versioning.
"""

from hedgerow.resource_manager.health.changes import health_status_changed, progress_changed
from hedgerow.resource_manager.health.config import HealthConfig
from hedgerow.resource_manager.health.controller import health_controller
from hedgerow.resource_manager.health.eligibility import Turn, calls_for_judgement, turn_of
from hedgerow.resource_manager.health.kinds import Absence, Observed
from hedgerow.resource_manager.health.object_health import (
    Healthy,
    NotChecked,
    NotReadable,
    ObjectHealth,
    Unhealthy,
    object_health,
)
from hedgerow.resource_manager.health.object_progress import counts_pods, object_progressing, pods_of, rolls_out
from hedgerow.resource_manager.health.ownership import owner_chain
from hedgerow.resource_manager.health.progress_controller import progressing_controller
from hedgerow.resource_manager.health.verdicts import Verdict, evaluate_health, evaluate_progress, recorded

__all__ = [
    "Absence",
    "HealthConfig",
    "Healthy",
    "NotChecked",
    "NotReadable",
    "ObjectHealth",
    "Observed",
    "Turn",
    "Unhealthy",
    "Verdict",
    "calls_for_judgement",
    "counts_pods",
    "evaluate_health",
    "evaluate_progress",
    "health_controller",
    "health_status_changed",
    "object_health",
    "object_progressing",
    "owner_chain",
    "pods_of",
    "progress_changed",
    "progressing_controller",
    "recorded",
    "rolls_out",
    "turn_of",
]
