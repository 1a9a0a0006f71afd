"""ConfigMaps and Secrets that are made anew for every change, and deleted once nothing uses them any more.

Annotations say what an object uses, see `hedgerow.api.reference_annotations`; `plan_gc` decides from these what is
garbage, and `garbage_collector` deletes it. What stands here follows semantic versioning.
"""

from hedgerow.resource_manager.garbage_collection.controller import (
    CANDIDATES,
    MINIMUM_LIFETIME,
    GarbageCollectorConfig,
    garbage_collector,
    plan_gc,
    user_resources,
)

__all__ = ["CANDIDATES", "MINIMUM_LIFETIME", "GarbageCollectorConfig", "garbage_collector", "plan_gc", "user_resources"]
