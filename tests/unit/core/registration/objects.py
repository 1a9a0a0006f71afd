"""Objects of a garden and of a seed."""

from typing import Any

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    EXTENSION_KINDS,
    SEEDS,
)
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow_adapters.memory.kinds import Kind
from hedgerow_adapters.memory.shapes import anything

BEFORE = "2025-06-01T00:00:00Z"
"""Long before the clocks of tests."""


def made(resource: Resource, metadata: Manifest, **sections: Any) -> dict[str, Any]:
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {**metadata}, **sections}


def seed(name: str = "s", **sections: Any) -> dict[str, Any]:
    return made(SEEDS, {"name": name}, **sections)


def deployment(name: str = "d", type_: str = "helm") -> dict[str, Any]:
    return made(CONTROLLER_DEPLOYMENTS, {"name": name}, type=type_)


def registration(name: str = "r", *resources: Manifest, **deployed: Any) -> dict[str, Any]:
    spec = {"resources": [*resources], **({"deployment": deployed} if deployed else {})}
    return made(CONTROLLER_REGISTRATIONS, {"name": name}, spec=spec)


def installation(
    name: str = "i",
    *,
    registration: str = "r",
    seed: str = "s",
    deployment: str | None = "d",
    conditions: tuple[Manifest, ...] = (),
    **metadata: Any,
) -> dict[str, Any]:
    spec: dict[str, Any] = {"registrationRef": {"name": registration}, "seedRef": {"name": seed}}
    if deployment is not None:
        spec["deploymentRef"] = {"name": deployment}
    return made(
        CONTROLLER_INSTALLATIONS,
        {"name": name, **metadata},
        spec=spec,
        **({"status": {"conditions": [*conditions]}} if conditions else {}),
    )


def managed_resource(name: str = "i", *conditions: Manifest, observed: int = 1, **metadata: Any) -> dict[str, Any]:
    labels = {"controllerinstallation-name": name}
    return made(
        MANAGED_RESOURCES,
        {"name": name, "namespace": "garden", "generation": 1, "labels": labels, **metadata},
        spec={"class": "seed", "secretRefs": []},
        status={"observedGeneration": observed, "conditions": [*conditions]},
    )


def condition(type_: str, status: str, message: str = "m", reason: str = "R") -> dict[str, Any]:
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": BEFORE,
        "lastUpdateTime": BEFORE,
    }


KEY = ObjectKey("", "i")
KINDS = (
    Kind(CONTROLLER_INSTALLATIONS, has_status=True),
    Kind(CONTROLLER_REGISTRATIONS),
    Kind(CONTROLLER_DEPLOYMENTS, fields={"type": anything, "providerConfig": anything}),
    Kind(SEEDS, has_status=True),
    Kind(MANAGED_RESOURCES, has_status=True, has_generation=True),
    Kind(SHOOTS, has_status=True),
    Kind(BACKUP_BUCKETS),
    Kind(BACKUP_ENTRIES),
    *map(Kind, EXTENSION_KINDS.values()),
)
