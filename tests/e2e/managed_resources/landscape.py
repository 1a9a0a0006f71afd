"""Landscapes of ManagedResources with three objects each, the same ones every time, for tests and benchmarks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.e2e.managed_resources import manifests as of
from tests.e2e.managed_resources.urls import Manifest

OBJECTS: Final = 3
"""Objects of each ManagedResource."""
EVERY_DEFINITION: Final = 40
"""Of so many ManagedResources one brings a kind of its own and an object of it, where definitions are asked for."""


@dataclass(frozen=True)
class Delivery:
    """A ManagedResource with what belongs to it."""

    managed_resource: Manifest
    secret: Manifest
    objects: tuple[Manifest, ...]


def landscape(
    count: int, namespace: str, *, class_name: str = "", namespaces: int = 1, definitions: bool = False
) -> Iterator[Delivery]:
    """So many ManagedResources of mixed kinds.

    Args:
        count: how many.
        namespace: where they are; the beginning of cluster-wide names, too.
        class_name: their class.
        namespaces: over how many namespaces they are spread, as `namespace_of` names them.
        definitions: whether some bring definitions of custom resources along.
    """
    for number in range(count):
        home = namespace_of(namespace, number, namespaces)
        yield delivery(
            home,
            f"part-{number}",
            *_objects(home, number, definitions=definitions),
            class_name=class_name,
        )


def namespace_of(namespace: str, number: int, namespaces: int = 1) -> str:
    """Where the ManagedResource of a number is."""
    return namespace if namespaces == 1 else f"{namespace}-{number % namespaces}"


def delivery(namespace: str, name: str, *objects: Manifest, class_name: str = "") -> Delivery:
    """A ManagedResource with one Secret that has these objects."""
    secret = of.secret_of(namespace, f"managedresource-{name}", objects)
    managed = of.managed_resource(namespace, name, secret["metadata"]["name"], class_name=class_name)
    return Delivery(managed, secret, objects)


def _objects(namespace: str, number: int, *, definitions: bool) -> tuple[Manifest, ...]:
    name, wide = f"part-{number}", f"{namespace}:part-{number}"
    if definitions and number % EVERY_DEFINITION == EVERY_DEFINITION - 1:
        kind = f"Kind{namespace.replace('-', '')}{number}"
        return (
            of.custom_object(kind, namespace, name),
            of.custom_definition(kind),
            of.config_map(namespace, name),
        )
    match number % 5:
        case 0:
            return (
                of.config_map(namespace, name),
                of.config_map(namespace, f"{name}-fixed", immutable=True),
                of.plain_secret(namespace, name),
            )
        case 1:
            return (
                of.service_account(namespace, name),
                of.cluster_role(wide),
                of.cluster_role_binding(wide, wide, namespace, name),
            )
        case 2:
            return (
                of.deployment(namespace, name),
                of.service(namespace, name),
                of.network_policy(namespace, name),
            )
        case 3:
            return (of.config_map(namespace, name), of.job(namespace, name), of.service_account(namespace, name))
        case _:
            return (
                of.deployment(namespace, name),
                of.autoscaler(namespace, name),
                of.disruption_budget(namespace, name),
            )
