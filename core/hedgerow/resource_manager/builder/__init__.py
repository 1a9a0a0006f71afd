"""Build ManagedResources for other controllers: a Secret with the objects, and a ManagedResource that names it.

Start with `Registry`, which serialises objects for a Secret, then `new_secret` and `new_for_shoot` or `new_for_seed`.
`desired_managed_resource` and `desired_secret` update existing ones. The exported names follow semantic versioning.
"""

from hedgerow.resource_manager.builder.managed_resource import (
    desired_managed_resource,
    desired_secret,
    health_problem,
    new_for_seed,
    new_for_shoot,
    new_managed_resource,
    progress_problem,
    secrets_to_delete,
)
from hedgerow.resource_manager.builder.secret import Registry, new_secret

__all__ = [
    "Registry",
    "desired_managed_resource",
    "desired_secret",
    "health_problem",
    "new_for_seed",
    "new_for_shoot",
    "new_managed_resource",
    "new_secret",
    "progress_problem",
    "secrets_to_delete",
]
