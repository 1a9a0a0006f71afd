"""Build ManagedResources for other controllers: a Secret with the objects, and a ManagedResource that names it.

Start with `Registry`, which serialises objects for a Secret, then `new_secret` and `new_for_shoot` or `new_for_seed`.
`desired_managed_resource` and `desired_secret` update existing ones. The exported names follow semantic versioning.
"""

from hedgerow.resource_manager.managed_resources.builder.changes import (
    Marking,
    desired_managed_resource,
    desired_secret,
    keep_objects_patch,
    marked_garbage_collectable,
    secrets_to_delete,
    secrets_to_mark,
)
from hedgerow.resource_manager.managed_resources.builder.judging import (
    CONFIGURATION_PROBLEM,
    any_of_class,
    deletion_problem,
    error_codes,
    health_problem,
    progress_problem,
    still_exists,
)
from hedgerow.resource_manager.managed_resources.builder.managed_resource import (
    new_for_seed,
    new_for_shoot,
    new_managed_resource,
)
from hedgerow.resource_manager.managed_resources.builder.registry import Registry, file_name
from hedgerow.resource_manager.managed_resources.builder.secret import (
    new_secret,
    secret_name,
    unstructured_data,
    with_labels,
)
from hedgerow.resource_manager.managed_resources.builder.uniqueness import make_unique

__all__ = [
    "CONFIGURATION_PROBLEM",
    "Marking",
    "Registry",
    "any_of_class",
    "deletion_problem",
    "desired_managed_resource",
    "desired_secret",
    "error_codes",
    "file_name",
    "health_problem",
    "keep_objects_patch",
    "make_unique",
    "marked_garbage_collectable",
    "new_for_seed",
    "new_for_shoot",
    "new_managed_resource",
    "new_secret",
    "progress_problem",
    "secret_name",
    "secrets_to_delete",
    "secrets_to_mark",
    "still_exists",
    "unstructured_data",
    "with_labels",
]
