"""Deploys and removes components by ManagedResources, step by step, for decisions of other controllers.

Everything is read live. The functions return why they failed, in the words of the API server; none: they succeeded.

Source: managed-resources §17.
"""

from collections.abc import Callable
from typing import Final

from returns.result import Failure

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    Resource,
    is_terminating,
    key_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.plan import Create, Delete, MergePatch, Update
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.builder.managed_resource import (
    desired_managed_resource,
    desired_secret,
    marked_garbage_collectable,
    secrets_to_delete,
    secrets_to_mark,
)

PERMISSIONS: Final = (
    Permission.of(SECRETS, "get", "create", "update", "patch", "delete"),
    Permission.of(MANAGED_RESOURCES, "get", "create", "update", "delete"),
)
"""The permissions of a controller that deploys components so."""


async def deploy(secret: Manifest, managed_resource: Manifest, reason: str) -> str | None:
    """Write the Secret with a component's objects, then the ManagedResource that refers to it.

    The Secrets that the ManagedResource referred to before are left to garbage collection.

    Args:
        secret: as `new_secret` makes it.
        managed_resource: as `new_for_shoot` and its like make it.
        reason: why it is deployed.
    """
    try:
        return await _deployed(secret, managed_resource, reason)
    except UnreadableError as error:
        return f"managed resource {key_of(managed_resource)}: {error}"


async def _deployed(secret: Manifest, managed_resource: Manifest, reason: str) -> str | None:
    key = key_of(managed_resource)
    stored_secret = await look(SECRETS, key_of(secret))
    if isinstance(stored_secret, NotAnswered):
        return stored_secret.message
    existing = await look(MANAGED_RESOURCES, key)
    if isinstance(existing, NotAnswered):
        return existing.message
    desired = desired_managed_resource(existing, managed_resource)
    if isinstance(desired, Failure):
        return f"managed resource {key}: {desired.failure()}"
    if problem := await _put(SECRETS, stored_secret, desired_secret(stored_secret, secret), reason):
        return problem
    marking = secrets_to_mark(existing, managed_resource)
    for name in (*marking.former, *marking.new):
        if problem := await _mark(ObjectKey(key.namespace, name), is_needed=name in marking.new):
            return problem
    return await _put(MANAGED_RESOURCES, existing, desired.unwrap(), reason)


async def remove(key: ObjectKey, reason: str, *, with_prefix: bool) -> str | None:
    """Delete the Secrets of a ManagedResource, then the ManagedResource itself.

    Args:
        key: of the ManagedResource.
        reason: why it is removed.
        with_prefix: whether the names of its Secrets are prefixed.
    """
    existing = await look(MANAGED_RESOURCES, key)
    if isinstance(existing, NotAnswered):
        return existing.message
    try:
        names = secrets_to_delete(existing, key.name, with_prefix=with_prefix)
    except UnreadableError as error:
        return f"managed resource {key}: {error}"
    for name in names:
        if problem := await delete(SECRETS, ObjectKey(key.namespace, name), reason):
            return problem
    if existing is None or is_terminating(existing):
        return None
    # Its version changes with every word about its state; another of that name, made since, has another uid.
    return await sent(Delete(MANAGED_RESOURCES, key, reason, uid_of(existing)))


async def delete(resource: Resource, key: ObjectKey, reason: str) -> str | None:
    """Delete an object, in whatever version; one that does not exist needs no deletion."""
    stored = await look(resource, key)
    if isinstance(stored, NotAnswered):
        return stored.message
    if stored is None or is_terminating(stored):
        return None
    return await sent(Delete(resource, key, reason, uid_of(stored)))


async def look(resource: Resource, key: ObjectKey) -> Manifest | NotAnswered | None:
    """An object as it is now; none if it is proven that it does not exist."""
    answer = await ObjectQuestion(resource, key, Cluster.TARGET)
    if isinstance(answer, Found):
        return answer.objects[0]
    return None if answer.is_not_found else answer


async def _mark(key: ObjectKey, *, is_needed: bool) -> str | None:
    """Leave a Secret to garbage collection, unless another one has taken its name since."""
    secret = await look(SECRETS, key)
    if isinstance(secret, NotAnswered):
        return secret.message
    if secret is None:
        return f'secrets "{key.name}" not found' if is_needed else None
    patch = merge_patch(secret, marked_garbage_collectable(secret))
    if not patch:
        return None
    return await sent(MergePatch(SECRETS, key, patch, "unused", resource_version_of(secret)))


async def _put(resource: Resource, existing: Manifest | None, desired: Manifest, reason: str) -> str | None:
    """Store an object as it is to be."""
    if existing == desired:
        return None
    write = Create if existing is None else Update
    return await sent(write(resource, desired, reason))


async def write(
    resource: Resource, key: ObjectKey, desired: Callable[[Manifest | None], Manifest], reason: str
) -> str | None:
    """Bring an object to what is desired of it, given how it is; none: it does not exist."""
    existing = await look(resource, key)
    if isinstance(existing, NotAnswered):
        return existing.message
    if existing is None:
        return await sent(Create(resource, desired(None), reason))
    patch, version = merge_patch(existing, desired(existing)), resource_version_of(existing)
    return await sent(MergePatch(resource, key, patch, reason, version)) if patch else None


async def sent(action: Create | Update | MergePatch | Delete) -> str | None:
    """Perform an action; a deletion of what does not exist is done."""
    error = (await action).error
    if error is None or (isinstance(action, Delete) and error.is_not_found):
        return None
    return error.message
