"""Objects of a garden and of a seed."""

from typing import Any

from hedgerow.api.gardener import EXTENSIONS, SHOOTS
from hedgerow.api.kubernetes import DEPLOYMENTS
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
    Kind(SHOOTS, fields=None, has_status=True, has_generation=True),
    Kind(BACKUP_BUCKETS),
    Kind(BACKUP_ENTRIES),
    *(Kind(each) for each in EXTENSION_KINDS.values() if each != EXTENSIONS),
    Kind(EXTENSIONS, fields=None, has_status=True, has_generation=True),
)

SHOOT = ObjectKey("garden-a", "x")
SHOOT_NAMESPACE = "shoot--a--x"


def shoot(
    *,
    extensions: tuple[Manifest, ...] = (),
    seed: str | None = "s",
    former: str | None = None,
    namespace: str | None = SHOOT_NAMESPACE,
    hibernation: Manifest | None = None,
    **metadata: Any,
) -> dict[str, Any]:
    spec = {"seedName": seed, "extensions": [*extensions], "hibernation": hibernation}
    return made(
        SHOOTS,
        {"namespace": SHOOT.namespace, "name": SHOOT.name, **metadata},
        spec={**_stated(spec), "provider": {"type": "p", "workers": [{"name": "w"}]}},
        status=_stated({"seedName": former, "technicalID": namespace}),
    )


def extension(name: str, *, type_: str | None = None, error: str | None = None, **metadata: Any) -> dict[str, Any]:
    return made(
        EXTENSIONS,
        {"namespace": SHOOT_NAMESPACE, "name": name, **metadata},
        spec={"type": type_ or name},
        **({"status": {"lastError": {"description": error}}} if error else {}),
    )


def kube_apiserver(*, replicas: int = 1, available: int = 1) -> dict[str, Any]:
    labels = {"app": "kube-apiserver"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return made(
        DEPLOYMENTS,
        {"namespace": SHOOT_NAMESPACE, "name": "kube-apiserver"},
        spec={"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod},
        status={"availableReplicas": available},
    )


def _stated(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
