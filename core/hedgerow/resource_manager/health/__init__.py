"""Whether what ManagedResources deliver is healthy and has rolled out.

Start with `object_health`, which judges one live object, or with `evaluate_health` and `evaluate_progress`, which judge
the objects of a ManagedResource. `health_controller` and `progressing_controller` have the status say so. What stands
here follows semantic versioning.
"""

from hedgerow.resource_manager.health.controller import HealthConfig, health_controller, progressing_controller
from hedgerow.resource_manager.health.object_health import (
    Healthy,
    NotChecked,
    NotReadable,
    ObjectHealth,
    Unhealthy,
    object_health,
)
from hedgerow.resource_manager.health.object_progress import object_progressing

__all__ = [
    "HealthConfig",
    "Healthy",
    "NotChecked",
    "NotReadable",
    "ObjectHealth",
    "Unhealthy",
    "health_controller",
    "object_health",
    "object_progressing",
    "progressing_controller",
]
