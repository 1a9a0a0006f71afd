"""Writes, deletes and looks for ManagedResources and their Secrets, which are handed over to garbage collection.

Source: managed-resources §17.
"""

from collections.abc import Sequence
from functools import partial

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, resource_version_of, uid_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.resource_manager.builder import desired_managed_resource, desired_secret, secrets_to_delete
from hedgerow.resource_manager.builder.managed_resource import (
    any_of_class,
    keep_objects_patch,
    marked_garbage_collectable,
    secrets_to_mark,
)
from hedgerow_adapters.builder.asking import PATIENCE, NotDone, ask, read, unless_absent, unless_overtaken, write
from hedgerow_adapters.kubernetes.live_reads import ListRefusedError, itself, whole_list
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError


async def reconcile(transport: Transport, wanted: Manifest) -> Result[Manifest, NotDone]:
    """The ManagedResource as it is stored, once it is as wanted and its Secrets are left to garbage collection.

    Labels and annotations that it has stay; the spec is replaced as a whole.

    Args:
        transport: leads to the cluster of the ManagedResource.
        wanted: as `new_for_seed` and its like make it; the Secrets that it refers to exist.
    """
    return await unless_overtaken(partial(_attempt, transport, wanted))


async def _attempt(transport: Transport, wanted: Manifest) -> Result[Manifest, NotDone]:
    existing = await read(transport, MANAGED_RESOURCES, key_of(wanted))
    if isinstance(existing, Failure):
        return existing
    stored = existing.unwrap()
    desired = desired_managed_resource(stored, wanted)
    if isinstance(desired, Failure):
        return desired.alt(NotDone)
    marked = await _mark_secrets(transport, stored, wanted)
    if isinstance(marked, Failure):
        return marked
    return await write(transport, MANAGED_RESOURCES, stored, desired.unwrap())


async def _mark_secrets(transport: Transport, existing: Manifest | None, wanted: Manifest) -> Result[None, NotDone]:
    namespace, marking = key_of(wanted).namespace, secrets_to_mark(existing, wanted)
    former = await _mark_all(transport, namespace, marking.former, may_be_absent=True)
    if isinstance(former, Failure):
        return former.alt(lambda problem: problem.during("marking old secrets as garbage collectable"))
    new = await _mark_all(transport, namespace, marking.new, may_be_absent=False)
    return new.alt(lambda problem: problem.during("marking new secrets as garbage collectable"))


async def reconcile_secret(transport: Transport, wanted: Manifest) -> Result[Manifest, NotDone]:
    """The Secret as it is stored, once it is as wanted: labels, annotations, data and immutability are those alone.

    Args:
        transport: leads to the cluster of the ManagedResource.
        wanted: as `new_secret` makes it.
    """

    async def attempt() -> Result[Manifest, NotDone]:
        existing = await read(transport, SECRETS, key_of(wanted))
        if isinstance(existing, Failure):
            return existing
        stored = existing.unwrap()
        return await write(transport, SECRETS, stored, desired_secret(stored, wanted))

    return await unless_overtaken(attempt)


async def _mark_all(
    transport: Transport, namespace: str, names: Sequence[str], *, may_be_absent: bool
) -> Result[None, NotDone]:
    """Whether all of the Secrets are marked for garbage collection now; those that were already are left alone."""
    for name in names:
        marked = await _mark(transport, ObjectKey(namespace, name))
        if may_be_absent:
            marked = unless_absent(marked)
        if isinstance(marked, Failure):
            return marked
    return Success(None)


async def _mark(transport: Transport, key: ObjectKey) -> Result[None, NotDone]:
    read_metadata = await ask(transport, _metadata, key)
    if isinstance(read_metadata, Failure):
        return read_metadata
    secret: Manifest = read_metadata.unwrap()
    patch = merge_patch(secret, marked_garbage_collectable(secret))
    if not patch:
        return Success(None)
    # Another Secret of that name, made since, may be meant to stay.
    version = resource_version_of(secret)
    return (await ask(transport, requests.merge_patch, SECRETS, key, patch, resource_version=version)).map(_nothing)


def _metadata(key: ObjectKey) -> Request:
    """The request for a Secret without its values."""
    return Request("GET", requests.object_path(SECRETS, key), accept=requests.METADATA)


async def delete(transport: Transport, key: ObjectKey, *, with_prefix: bool) -> Result[None, NotDone]:
    """Whether the deletion of the Secrets, and then of their ManagedResource, was asked for; what is gone is done.

    Args:
        transport: leads to the cluster of the ManagedResource.
        key: of the ManagedResource.
        with_prefix: whether the names of its Secrets are prefixed.
    """
    return await unless_overtaken(partial(_attempt_deletion, transport, key, with_prefix=with_prefix))


async def _attempt_deletion(transport: Transport, key: ObjectKey, *, with_prefix: bool) -> Result[None, NotDone]:
    existing = await read(transport, MANAGED_RESOURCES, key)
    if isinstance(existing, Failure):
        return existing.alt(lambda problem: problem.during(f"could not get managed resource '{key}'"))
    stored = existing.unwrap()
    for name in secrets_to_delete(stored, key.name, with_prefix=with_prefix):
        deleted = await _delete_secret(transport, ObjectKey(key.namespace, name))
        if isinstance(deleted, Failure):
            return deleted
    if stored is None:
        return Success(None)
    # Another ManagedResource of that name, made since, refers to other Secrets.
    answer = await ask(transport, requests.delete, MANAGED_RESOURCES, key, uid=uid_of(stored))
    what = f"could not delete managed resource '{key}'"
    return unless_absent(answer).map(_nothing).alt(lambda problem: problem.during(what))


async def _delete_secret(transport: Transport, key: ObjectKey) -> Result[None, NotDone]:
    answer = await ask(transport, requests.delete, SECRETS, key)
    what = f"could not delete secret '{key}' of managed resource"
    return unless_absent(answer).map(_nothing).alt(lambda problem: problem.during(what))


async def set_keep_objects(transport: Transport, key: ObjectKey, *, keep: bool) -> Result[None, NotDone]:
    """Whether the objects of a ManagedResource now outlive it, or no longer do; one that does not exist is fine."""
    patch = keep_objects_patch(keep=keep)
    return unless_absent(await ask(transport, requests.merge_patch, MANAGED_RESOURCES, key, patch)).map(_nothing)


async def exist(transport: Transport, resource_class: str | None) -> Result[bool, NotDone]:
    """Whether there is a ManagedResource, in any namespace, of exactly that class; none: one that names no class."""
    try:
        everything = await whole_list(transport, partial(requests.list_page, MANAGED_RESOURCES), PATIENCE, itself)
    except ListRefusedError as refused:
        return Failure(NotDone(refused.error.message, refused.error))
    except TransportError as lost:
        return Failure(NotDone(str(lost), is_late=True))
    return Success(any_of_class(everything, resource_class))


def _nothing(_stored: Manifest | None) -> None:
    """The stored object is of no interest."""
