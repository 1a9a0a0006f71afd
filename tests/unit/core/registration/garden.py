"""Gardens whose seeds need extensions."""

from typing import Any

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.registrations import BACKUP_BUCKETS, BACKUP_ENTRIES
from hedgerow.machinery.objects import Manifest
from tests.unit.core.registration.objects import made, registration


def resource(kind: str, type_: str, **options: Any) -> dict[str, Any]:
    return {"kind": kind, "type": type_, **options}


def versioned(manifest: Manifest, version: str = "1", **metadata: Any) -> dict[str, Any]:
    """An object as an API server has stored it."""
    name = manifest["metadata"]["name"]
    return {
        **manifest,
        "metadata": {"uid": f"uid-{name}", "resourceVersion": version, **manifest["metadata"], **metadata},
    }


def shoot(
    name: str = "x",
    seed: str | None = "s",
    status: Manifest | None = None,
    namespace: str = "garden-a",
    **spec: Any,
) -> dict[str, Any]:
    assigned = {} if seed is None else {"seedName": seed}
    return made(
        SHOOTS,
        {"name": name, "namespace": namespace},
        spec={**assigned, **spec},
        **({} if status is None else {"status": status}),
    )


def bucket(name: str, type_: str, seed: str = "s") -> dict[str, Any]:
    return made(BACKUP_BUCKETS, {"name": name}, spec={"seedName": seed, "provider": {"type": type_}})


def entry(name: str, of: str, seed: str = "s") -> dict[str, Any]:
    return made(BACKUP_ENTRIES, {"name": name, "namespace": "garden-a"}, spec={"seedName": seed, "bucketName": of})


def domain_secret(name: str, role: str, domain: str = "", provider: str = "", seed: str = "s") -> dict[str, Any]:
    stated = {"dns.gardener.cloud/domain": domain, "dns.gardener.cloud/provider": provider}
    metadata = {
        "name": name,
        "namespace": f"seed-{seed}",
        "labels": {"gardener.cloud/role": role},
        "annotations": {annotation: text for annotation, text in stated.items() if text},
    }
    return made(SECRETS, metadata)


GOING: dict[str, Any] = {"deletionTimestamp": "2025-06-02T00:00:00Z", "finalizers": ["example.com/own"]}

P1 = registration(
    "p1",
    resource("BackupBucket", "b1"),
    resource("Extension", "g1", globallyEnabled=True),
    resource("Network", "n2", primary=False),
)
P2 = registration(
    "p2",
    resource("Network", "n2"),
    resource("ContainerRuntime", "c2"),
    policy="OnDemand",
    deploymentRefs=[{"name": "d"}],
)
P3 = registration(
    "p3", *(resource(kind, "x") for kind in ("ControlPlane", "Infrastructure", "Worker")), policy="OnDemand"
)
P4 = registration("p4", policy="Always")
P5 = registration("p5", policy="Always", seedSelector={"matchLabels": {"bar": "foo"}})
P6 = registration("p6")
P7 = registration("p7", policy="OnDemand")
P8 = registration("p8", policy="AlwaysExceptNoShoots")
ALL = (P1, P2, P3, P4, P5, P6, P7, P8)
"""The fixture of the specification (§4.6)."""
