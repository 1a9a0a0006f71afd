"""Writes the Secrets of ManagedResources, and hands them over to garbage collection.

Source: managed-resources §17.
"""

from collections.abc import Sequence

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, resource_version_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.resource_manager.builder import desired_secret
from hedgerow.resource_manager.builder.managed_resource import marked_garbage_collectable
from hedgerow_adapters.builder.asking import NotDone, ask, read, unless_absent, unless_overtaken, write
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Transport


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


async def mark(
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


def _nothing(_stored: Manifest) -> None:
    """The stored object is of no interest."""
