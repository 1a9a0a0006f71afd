"""What Workers must fulfil.

Source: webhooks-and-tokens §9.7.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.admission.extension_validation.checks import (
    Check,
    below,
    each,
    immutable,
    one_of_if_present,
    present,
    required,
    value_at,
)
from hedgerow.admission.extension_validation.kind import Kind, extension
from hedgerow.admission.extension_validation.shape import BYTES, DURATION, QUANTITY, TEXT
from hedgerow.machinery.failures import Problem, invalid
from hedgerow.machinery.names import label_key_problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.scalars import parse_quantity

ARCHITECTURES: Final = ("amd64", "arm64")
COUNTED_RESOURCES: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
"""Resources of Kubernetes itself that are counted, not measured."""


def is_counted(resource: str) -> bool:
    """Whether there can only be a whole number of a resource."""
    return resource in COUNTED_RESOURCES or is_extended(resource)


def is_extended(resource: str) -> bool:
    """Whether a resource is of a kind that Kubernetes itself knows nothing about, such as `nvidia.com/gpu`."""
    own = "/" not in resource or "kubernetes.io/" in resource or resource.startswith("requests.")
    return not own and label_key_problem(f"requests.{resource}") is None


def capacity(pool: Manifest, where: str) -> Iterator[Problem]:
    """A machine has no negative amount of anything, and whole numbers of what is counted."""
    amounts = value_at(pool, "nodeTemplate.capacity") or {}
    for resource in sorted(amounts):
        path, amount = below(where, f"nodeTemplate.capacity.{resource}"), amounts[resource]
        quantity = parse_quantity(0 if amount is None else amount).unwrap()
        if quantity.is_negative:
            yield invalid(path, amount, "must be greater than or equal to 0")
        if is_counted(resource) and not quantity.is_whole:
            yield invalid(path, amount, "must be an integer")


OF_POOL: Final[tuple[Check, ...]] = (
    required("machineType"),
    required("machineImage.name"),
    required("machineImage.version"),
    one_of_if_present("architecture", ARCHITECTURES),
    required("name"),
    present("userData"),
    capacity,
)

WORKER: Final[Kind] = extension(
    "workers",
    "Worker",
    required("spec.type"),
    required("spec.region"),
    required("spec.secretRef.name"),
    each("spec.pools", *OF_POOL),
    fields={
        "spec.region": TEXT,
        "spec.secretRef.name": TEXT,
        "spec.pools[].machineType": TEXT,
        "spec.pools[].machineImage.name": TEXT,
        "spec.pools[].machineImage.version": TEXT,
        "spec.pools[].architecture": TEXT,
        "spec.pools[].name": TEXT,
        "spec.pools[].userData": BYTES,
        "spec.pools[].nodeTemplate.capacity{}": QUANTITY,
        "spec.pools[].machineControllerManager.machineDrainTimeout": DURATION,
        "spec.pools[].machineControllerManager.machineHealthTimeout": DURATION,
        "spec.pools[].machineControllerManager.machineCreationTimeout": DURATION,
    },
    immutable_fields=(immutable("spec.region"),),
)
