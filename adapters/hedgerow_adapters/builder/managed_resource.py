"""Writes, deletes, looks for and waits for ManagedResources, and hands their Secrets over to garbage collection.

Who waits looks every two seconds. A deadline is a reading of the event loop's clock, so that several waits can share
one.

Source: managed-resources §17.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, resource_version_of, uid_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.questions import itself
from hedgerow.resource_manager import builder
from hedgerow.resource_manager.builder import managed_resource
from hedgerow.resource_manager.builder.secret import unstructured_data
from hedgerow_adapters.builder.asking import (
    PATIENCE,
    NotDone,
    NotDoneError,
    absence_is_fine,
    answered,
    ask,
    during,
    read,
    write,
)
from hedgerow_adapters.kubernetes.live_reads import ListRefusedError, whole_list
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError

INTERVAL: Final = 2.0
"""Seconds between one look and the next."""
Wait: TypeAlias = Callable[..., Coroutine[Any, Any, Result[None, NotDone]]]
"""One of the functions below that wait for a single ManagedResource."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def new_registry() -> builder.Registry:
    """A registry without objects, which writes them as YAML with sorted keys."""
    return builder.Registry(lambda manifest: sorted_yaml(manifest).encode())


@answered
async def create(
    transport: Transport,
    key: ObjectKey,
    data: Mapping[str, bytes],
    *,
    with_prefix: bool = True,
    labels: Mapping[str, str] = _NOTHING,
    spec: Mapping[str, Any] = _NOTHING,
) -> Manifest:
    """The ManagedResource as it is stored, once it and the Secret with its objects are as they are wanted.

    The `data` are its objects, as a registry serialises them. The `spec` holds its further fields by the names that
    manifests know them by, such as `class` and `keepObjects`.
    """
    return await _both(
        transport, key, data, partial(builder.new_managed_resource, labels=labels, **spec), with_prefix=with_prefix
    )


@answered
async def create_for_seed(
    transport: Transport, key: ObjectKey, data: Mapping[str, bytes], *, keep_objects: bool
) -> Manifest:
    """As `create`, of objects that belong into the seed itself; `keep_objects`: they outlive the ManagedResource."""
    return await _both(transport, key, data, partial(builder.new_for_seed, keep_objects=keep_objects))


@answered
async def create_for_shoot(
    transport: Transport, key: ObjectKey, data: Mapping[str, bytes], *, origin: str, keep_objects: bool
) -> Manifest:
    """As `create_for_seed`, of objects for the shoot; the `origin` says who makes it: `gardener` for the core."""
    return await _both(transport, key, data, partial(builder.new_for_shoot, origin=origin, keep_objects=keep_objects))


@answered
async def create_from_unstructured(
    transport: Transport,
    key: ObjectKey,
    objects: Sequence[Manifest],
    *,
    with_prefix: bool = True,
    spec: Mapping[str, Any] = _NOTHING,
) -> Manifest:
    """As `create`, of objects as they are: they do not outlive it, and keep what others annotate them with."""
    fields = {"keepObjects": False, "forceOverwriteAnnotations": False, **spec}
    wanted = partial(builder.new_managed_resource, labels={}, **fields)
    return await _both(transport, key, unstructured_data(key.name, objects), wanted, with_prefix=with_prefix)


@answered
async def reconcile(transport: Transport, wanted: Manifest) -> Manifest:
    """The ManagedResource as it is stored, once it is as wanted and its Secrets are left to garbage collection.

    Labels and annotations that it has stay; the spec is replaced as a whole. What is wanted is as `new_for_seed` and
    its like make it, and its Secrets exist.
    """
    return await _managed_resource(transport, wanted)


@answered
async def reconcile_secret(transport: Transport, wanted: Manifest) -> Manifest:
    """The Secret as it is stored, once labels, annotations, data and immutability are as `new_secret` makes them."""
    return await _secret(transport, wanted)


@answered
async def delete(transport: Transport, key: ObjectKey, *, with_prefix: bool) -> None:
    """Ask for the deletion of the Secrets, whose names may be prefixed, and of their ManagedResource, if they exist."""
    with during(f"could not get managed resource '{key}'"):
        stored = await read(transport, MANAGED_RESOURCES, key)
    for name in builder.secrets_to_delete(stored, key.name, with_prefix=with_prefix):
        secret = ObjectKey(key.namespace, name)
        with during(f"could not delete secret '{secret}' of managed resource"), absence_is_fine():
            await ask(transport, requests.delete, SECRETS, secret)
    if stored is not None:
        # Another ManagedResource of that name, made since, refers to other Secrets.
        with during(f"could not delete managed resource '{key}'"), absence_is_fine():
            await ask(transport, requests.delete, MANAGED_RESOURCES, key, uid=uid_of(stored))


@answered
async def set_keep_objects(transport: Transport, key: ObjectKey, *, keep: bool) -> None:
    """Let the objects of a ManagedResource outlive it, or no longer; one that does not exist is fine."""
    with absence_is_fine():
        patch = managed_resource.keep_objects_patch(keep=keep)
        await ask(transport, requests.merge_patch, MANAGED_RESOURCES, key, patch)


@answered
async def exist(transport: Transport, resource_class: str | None) -> bool:
    """Whether there is a ManagedResource, in any namespace, of exactly that class; none: one that names no class."""
    try:
        everything = await whole_list(transport, partial(requests.list_page, MANAGED_RESOURCES), PATIENCE, itself)
    except ListRefusedError as refused:
        raise NotDoneError(NotDone(refused.error.message, refused.error)) from refused
    except TransportError as lost:
        raise NotDoneError(NotDone(str(lost), is_late=True)) from lost
    return managed_resource.any_of_class(everything, resource_class)


@answered
async def wait_until_healthy(transport: Transport, key: ObjectKey, *, deadline: float) -> None:
    """Wait until a ManagedResource is applied and healthy; a refused look ends the wait."""
    await _reached(transport, key, deadline, builder.health_problem)


@answered
async def wait_until_healthy_and_not_progressing(transport: Transport, key: ObjectKey, *, deadline: float) -> None:
    """Wait until a ManagedResource is healthy and rolled out; a refused look ends the wait."""
    await _reached(transport, key, deadline, builder.progress_problem)


@answered
async def wait_until_deleted(transport: Transport, key: ObjectKey, *, deadline: float) -> None:
    """Wait until a ManagedResource is gone with all that it does not keep; the failure says what holds it up."""
    exists = managed_resource.still_exists(key)
    with absence_is_fine():
        await _reached(transport, key, deadline, lambda _seen: exists, managed_resource.deletion_problem)


async def wait_for_all(
    wait: Wait, transport: Transport, keys: Iterable[ObjectKey], *, deadline: float
) -> Result[None, tuple[NotDone, ...]]:
    """Whether the wait succeeds for each ManagedResource before one deadline, or all that failed, in their order."""
    async with asyncio.TaskGroup() as group:
        waits = [group.create_task(wait(transport, key, deadline=deadline)) for key in keys]
    problems = tuple(end.failure() for each in waits if isinstance(end := each.result(), Failure))
    return Failure(problems) if problems else Success(None)


async def _reached(
    transport: Transport,
    key: ObjectKey,
    deadline: float,
    problem_with: Callable[[Manifest], str | None],
    too_late: Callable[[Manifest, str], str] = lambda _seen, problem: problem,
) -> None:
    late = f"managed resource {key} could not be read in time"
    try:
        async with asyncio.timeout_at(deadline):
            while True:
                seen = await ask(transport, requests.get, MANAGED_RESOURCES, key)
                if (problem := problem_with(seen)) is None:
                    return
                late = too_late(seen, problem)
                await asyncio.sleep(INTERVAL)
    except TimeoutError:
        raise NotDoneError(NotDone(late, is_late=True)) from None


async def _both(
    transport: Transport,
    key: ObjectKey,
    data: Mapping[str, bytes],
    wanted: Callable[..., Manifest],
    *,
    with_prefix: bool = True,
) -> Manifest:
    secret = builder.new_secret(*key, data, with_prefix=with_prefix)
    made = wanted(*key, secret_names=[key_of(secret).name])
    with during("could not create or update secret of managed resources"):
        await _secret(transport, secret)
    with during("could not create or update managed resource"):
        return await _managed_resource(transport, made)


async def _secret(transport: Transport, wanted: Manifest) -> Manifest:
    stored = await read(transport, SECRETS, key_of(wanted))
    return await write(transport, SECRETS, stored, builder.desired_secret(stored, wanted))


async def _managed_resource(transport: Transport, wanted: Manifest) -> Manifest:
    stored = await read(transport, MANAGED_RESOURCES, key_of(wanted))
    desired = builder.desired_managed_resource(stored, wanted)
    if isinstance(desired, Failure):
        raise NotDoneError(NotDone(desired.failure()))
    namespace, marking = key_of(wanted).namespace, managed_resource.secrets_to_mark(stored, wanted)
    for name in marking.former:
        with during("marking old secrets as garbage collectable"), absence_is_fine():
            await _mark(transport, ObjectKey(namespace, name))
    for name in marking.new:
        with during("marking new secrets as garbage collectable"):
            await _mark(transport, ObjectKey(namespace, name))
    return await write(transport, MANAGED_RESOURCES, stored, desired.unwrap())


async def _mark(transport: Transport, key: ObjectKey) -> None:
    """Mark a Secret for garbage collection; its values are not read."""
    metadata = partial(Request, "GET", accept=requests.METADATA)
    secret = await ask(transport, lambda: metadata(requests.object_path(SECRETS, key)))
    if patch := merge_patch(secret, managed_resource.marked_garbage_collectable(secret)):
        # Another Secret of that name, made since, may be meant to stay.
        version = resource_version_of(secret)
        await ask(transport, requests.merge_patch, SECRETS, key, patch, resource_version=version)
