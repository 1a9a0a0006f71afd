"""Create ManagedResources for objects, and wait for them: functions for controllers and tools, called with a transport.

A registry serialises objects. `create_for_seed`, `create_for_shoot`, `create` and `create_from_unstructured` write the
result into a Secret, and a ManagedResource that names it; `reconcile` and `reconcile_secret` write one of the two. The
core's `builder` decides the content. Nothing is sent where nothing changes. Every function can be cancelled and called
again. The exported names follow semantic versioning.

Example:
    async def hand_over(transport: Transport, objects: list[Manifest]) -> str:
        key = ObjectKey("garden", "dashboards")
        match new_registry().add(*objects):
            case Failure(problem):
                return problem
            case Success(registry):
                made = await create_for_seed(transport, key, registry.serialized(), keep_objects=False)
        if isinstance(made, Failure):
            return f"not handed over: {made.failure()}"
        deadline = asyncio.get_running_loop().time() + 120
        healthy = await wait_until_healthy(transport, key, deadline=deadline)
        return str(healthy.failure()) if isinstance(healthy, Failure) else f"{key} is healthy"
"""

from hedgerow_adapters.builder.asking import NotDone
from hedgerow_adapters.builder.managed_resource import (
    create,
    create_for_seed,
    create_for_shoot,
    create_from_unstructured,
    delete,
    exist,
    new_registry,
    reconcile,
    reconcile_secret,
    set_keep_objects,
    wait_for_all,
    wait_until_deleted,
    wait_until_healthy,
    wait_until_healthy_and_not_progressing,
)

__all__ = [
    "NotDone",
    "create",
    "create_for_seed",
    "create_for_shoot",
    "create_from_unstructured",
    "delete",
    "exist",
    "new_registry",
    "reconcile",
    "reconcile_secret",
    "set_keep_objects",
    "wait_for_all",
    "wait_until_deleted",
    "wait_until_healthy",
    "wait_until_healthy_and_not_progressing",
]
