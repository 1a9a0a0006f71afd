"""Build ManagedResources for other controllers: a Secret with the objects, and a ManagedResource that names it.

Start with `Registry`, which serialises objects for a Secret, then `new_secret` and `new_for_shoot` or `new_for_seed`.
`desired_managed_resource` and `desired_secret` update existing ones. The exported names follow semantic versioning.
"""

from hedgerow.resource_manager.builder.managed_resource import (
    CONFIGURATION_PROBLEM,
    Marking,
    any_of_class,
    deletion_problem,
    desired_managed_resource,
    desired_secret,
    error_codes,
    health_problem,
    keep_objects_patch,
    marked_garbage_collectable,
    new_for_seed,
    new_for_shoot,
    new_managed_resource,
    progress_problem,
    secrets_to_delete,
    secrets_to_mark,
    still_exists,
)
from hedgerow.resource_manager.builder.secret import (
    Registry,
    file_name,
    make_unique,
    new_secret,
    secret_name,
    unstructured_data,
    with_labels,
)

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
