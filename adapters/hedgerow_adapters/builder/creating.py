"""Hands over objects: writes the Secret that holds them, then the ManagedResource that refers to it.

Source: managed-resources §17.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from returns.result import Failure, Result

from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.resource_manager.builder import Registry, new_for_seed, new_for_shoot, new_managed_resource, new_secret
from hedgerow.resource_manager.builder.secret import unstructured_data
from hedgerow_adapters.builder.asking import NotDone
from hedgerow_adapters.builder.managed_resource import reconcile, reconcile_secret
from hedgerow_adapters.files import render_sorted_yaml
from hedgerow_adapters.protocol.transport import Transport

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_LEFT_TO_THE_MANAGER: Final = MappingProxyType({"keepObjects": False, "forceOverwriteAnnotations": False})


def new_registry() -> Registry:
    """A registry without objects, which writes them as YAML with sorted keys."""
    return Registry(lambda manifest: render_sorted_yaml(manifest).encode())


async def create(
    transport: Transport,
    key: ObjectKey,
    data: Mapping[str, bytes],
    *,
    with_prefix: bool = True,
    labels: Mapping[str, str] = _NOTHING,
    spec: Mapping[str, Any] = _NOTHING,
) -> Result[Manifest, NotDone]:
    """The ManagedResource as it is stored, once it and the Secret with its objects are as they are wanted.

    Args:
        transport: leads to the cluster of the ManagedResource.
        key: of the ManagedResource.
        data: its objects, as a registry serialises them.
        with_prefix: whether the name of the Secret is prefixed.
        labels: of the ManagedResource itself.
        spec: its further fields, by the names that manifests know them by, such as `class` and `keepObjects`.
    """
    secret = new_secret(*key, data, with_prefix=with_prefix)
    wanted = new_managed_resource(*key, secret_names=[key_of(secret).name], labels=labels, **spec)
    return await _written(transport, secret, wanted)


async def create_for_seed(
    transport: Transport, key: ObjectKey, data: Mapping[str, bytes], *, keep_objects: bool
) -> Result[Manifest, NotDone]:
    """As `create`, of objects that belong into the seed itself.

    Args:
        transport: leads to the seed.
        key: of the ManagedResource.
        data: its objects, as a registry serialises them.
        keep_objects: whether they outlive it.
    """
    secret = new_secret(*key, data, with_prefix=True)
    wanted = new_for_seed(*key, secret_names=[key_of(secret).name], keep_objects=keep_objects)
    return await _written(transport, secret, wanted)


async def create_for_shoot(
    transport: Transport, key: ObjectKey, data: Mapping[str, bytes], *, origin: str, keep_objects: bool
) -> Result[Manifest, NotDone]:
    """As `create`, of objects that belong into a shoot.

    Args:
        transport: leads to the seed that the shoot's control plane is in.
        key: of the ManagedResource.
        data: its objects, as a registry serialises them.
        origin: who makes it; `gardener` for the core.
        keep_objects: whether the objects outlive it.
    """
    secret = new_secret(*key, data, with_prefix=True)
    wanted = new_for_shoot(*key, secret_names=[key_of(secret).name], origin=origin, keep_objects=keep_objects)
    return await _written(transport, secret, wanted)


async def create_from_unstructured(
    transport: Transport,
    key: ObjectKey,
    objects: Sequence[Manifest],
    *,
    with_prefix: bool = True,
    spec: Mapping[str, Any] = _NOTHING,
) -> Result[Manifest, NotDone]:
    """As `create`, of objects as they are: they do not outlive it, and keep what others annotate them with.

    Args:
        transport: leads to the cluster of the ManagedResource.
        key: of the ManagedResource.
        objects: of any kind.
        with_prefix: whether the name of the Secret is prefixed.
        spec: further fields of the ManagedResource, by the names that manifests know them by.
    """
    data = unstructured_data(key.name, objects)
    return await create(transport, key, data, with_prefix=with_prefix, spec={**_LEFT_TO_THE_MANAGER, **spec})


async def _written(transport: Transport, secret: Manifest, wanted: Manifest) -> Result[Manifest, NotDone]:
    kept = await reconcile_secret(transport, secret)
    if isinstance(kept, Failure):
        return kept.alt(lambda problem: problem.during("could not create or update secret of managed resources"))
    stored = await reconcile(transport, wanted)
    return stored.alt(lambda problem: problem.during("could not create or update managed resource"))
