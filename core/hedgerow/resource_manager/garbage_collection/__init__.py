"""ConfigMaps and Secrets that are made anew for every change, and deleted once nothing uses them any more.

Objects say by annotations what they use; `inject_annotations` writes these, `plan_gc` decides from them what is
garbage, and `garbage_collector` deletes it. What stands here follows semantic versioning.
"""

from hedgerow.resource_manager.garbage_collection.annotations import annotation_key, kind_from_annotation_key
from hedgerow.resource_manager.garbage_collection.controller import GarbageCollectorConfig, garbage_collector
from hedgerow.resource_manager.garbage_collection.injection import inject_annotations
from hedgerow.resource_manager.garbage_collection.references import Reference, pod_references
from hedgerow.resource_manager.garbage_collection.unused import CANDIDATES, MINIMUM_LIFETIME, plan_gc, user_resources

__all__ = [
    "CANDIDATES",
    "MINIMUM_LIFETIME",
    "GarbageCollectorConfig",
    "Reference",
    "annotation_key",
    "garbage_collector",
    "inject_annotations",
    "kind_from_annotation_key",
    "plan_gc",
    "pod_references",
    "user_resources",
]
