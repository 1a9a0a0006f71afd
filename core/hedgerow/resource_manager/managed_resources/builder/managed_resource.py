"""The ManagedResources that producers make for shoots and for seeds.

Source: managed-resources §17.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from hedgerow.api.gardener import NO_CLEANUP, SEED_SYSTEM_COMPONENT
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import secret_refs
from hedgerow.machinery.objects import Manifest

ORIGIN: Final = "origin"
"""Label that says who made a ManagedResource for a shoot."""
SEED_CLASS: Final = "seed"
_SHOOT_NAMESPACE: Final = "shoot-"

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def new_managed_resource(
    namespace: str, name: str, *, secret_names: Sequence[str], labels: Mapping[str, str] = _NONE, **spec: Any
) -> Manifest:
    """A ManagedResource of the objects in some Secrets.

    Args:
        namespace: of the Secrets too.
        name: its own.
        secret_names: the Secrets in their order.
        labels: its own; those of its objects are a part of the spec.
        spec: further fields, by the names that manifests know them by.
    """
    metadata = {"namespace": namespace, "name": name} | ({"labels": dict(labels)} if labels else {})
    return {
        "apiVersion": MANAGED_RESOURCES.api_version,
        "kind": MANAGED_RESOURCES.kind,
        "metadata": metadata,
        "spec": {"secretRefs": secret_refs(secret_names), **spec},
    }


def new_for_shoot(
    namespace: str, name: str, *, secret_names: Sequence[str], origin: str, keep_objects: bool
) -> Manifest:
    """A ManagedResource whose objects belong into a shoot, and are not cleaned up when that is deleted.

    It has no class: the resource manager of the shoot looks after it.

    Args:
        namespace: of the shoot's control plane.
        name: its own.
        secret_names: the Secrets in their order.
        origin: who makes it; `gardener` for the core.
        keep_objects: whether the objects outlive it.
    """
    return new_managed_resource(
        namespace,
        name,
        secret_names=secret_names,
        labels={ORIGIN: origin},
        injectLabels=dict([NO_CLEANUP]),
        keepObjects=keep_objects,
    )


def new_for_seed(namespace: str, name: str, *, secret_names: Sequence[str], keep_objects: bool) -> Manifest:
    """A ManagedResource whose objects belong into the seed itself.

    It counts as a component of the seed's system, unless it stands in the namespace of a shoot.

    Args:
        namespace: its own.
        name: its own.
        secret_names: the Secrets in their order.
        keep_objects: whether the objects outlive it.
    """
    labels = _NONE if namespace.startswith(_SHOOT_NAMESPACE) else dict([SEED_SYSTEM_COMPONENT])
    return new_managed_resource(
        namespace,
        name,
        secret_names=secret_names,
        labels=labels,
        **{"class": SEED_CLASS, "keepObjects": keep_objects},
    )
