"""How long the plan for a seed takes, without any I/O."""

import statistics
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.figures import Figure
from hedgerow.api.gardener import SHOOTS
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS, SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Create
from hedgerow.registration.planning import InstallationPlan, PlanningConfig, plan_installations
from hedgerow.registration.seed_controller import seed_controller, seed_inputs
from tests.snapshots import snapshot_over

SHOOT_COUNT = 1000
REGISTRATION_COUNT = 50
RUNS = 21
CONTROLLER = seed_controller(PlanningConfig())


def measure() -> Iterator[Figure]:
    """Milliseconds of processor time of a plan that creates every installation, and of one that finds nothing to do."""
    installations: list[Manifest] = []
    what = f"plan for a seed, {SHOOT_COUNT} shoots, {REGISTRATION_COUNT} registrations"
    cold, seconds = _planned(installations)
    yield Figure.at_most(f"{what}, all to create", seconds * 1000, "ms", 50)
    installations += (_stored(action.manifest) for action in cold.actions if isinstance(action, Create))
    settled, seconds = _planned(installations)
    if len(installations) != REGISTRATION_COUNT or settled.actions or settled.failures:
        raise AssertionError(f"a settled seed asks for {len(settled.actions)} writes")
    yield Figure.at_most(f"{what}, nothing to do", seconds * 1000, "ms", 50)


def _planned(installations: list[Manifest]) -> tuple[InstallationPlan, float]:
    world: dict[Resource, list[Manifest]] = {
        SEEDS: [_seed()],
        CONTROLLER_REGISTRATIONS: [_registration(number) for number in range(REGISTRATION_COUNT)],
        SHOOTS: [_shoot(number) for number in range(SHOOT_COUNT)],
        CONTROLLER_INSTALLATIONS: installations,
    }
    snapshot = snapshot_over(CONTROLLER, world)
    seed = snapshot.get(SEEDS, ObjectKey("", "seed"), Cluster.SOURCE)
    if seed is None:
        raise AssertionError("there is a Seed")
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        plan_installations(seed_inputs(seed, snapshot), PlanningConfig())
        times.append(time.process_time() - began)
    return plan_installations(seed_inputs(seed, snapshot), PlanningConfig()), statistics.median(times)


def _stored(manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "uid": "uid", "resourceVersion": "1"}}


def _seed() -> dict[str, Any]:
    spec = {
        "provider": {"type": "p0", "region": "eu-1", "zones": ["a", "b", "c"]},
        "backup": {"provider": "p0"},
        "dns": {"provider": {"type": "p0"}},
        "networks": {"pods": "100.96.0.0/11", "services": "100.64.0.0/13", "ipFamilies": ["IPv4"]},
    }
    return {"metadata": {"name": "seed", "uid": "seed", "resourceVersion": "1"}, "spec": spec}


_OF_A_PROVIDER = ("BackupBucket", "BackupEntry", "ControlPlane", "DNSRecord", "Infrastructure", "Network", "Worker")


def _registration(number: int) -> dict[str, Any]:
    """The first tenth serve providers, the next tenth operating systems, the others an Extension each."""
    resources: list[dict[str, Any]]
    if number < REGISTRATION_COUNT // 10:
        resources = [{"kind": kind, "type": f"p{number}"} for kind in _OF_A_PROVIDER]
    elif number < REGISTRATION_COUNT // 5:
        resources = [{"kind": kind, "type": f"o{number % 5}"} for kind in ("OperatingSystemConfig", "ContainerRuntime")]
    else:
        resources = [{"kind": "Extension", "type": f"e{number}", "globallyEnabled": number % 10 == 0}]
    deployment = {"type": "helm", "providerConfig": {"chart": "A" * 10_000, "values": {"number": str(number)}}}
    metadata = {"name": f"extension-{number}", "uid": f"uid-{number}", "resourceVersion": "1"}
    return {"metadata": metadata, "spec": {"resources": resources, "deployment": deployment}}


def _shoot(number: int) -> dict[str, Any]:
    worker = {
        "name": "w",
        "machine": {"type": "large", "image": {"name": f"o{number % 5}"}},
        "cri": {"name": "containerd", "containerRuntimes": [{"type": f"o{number % 5}"}]},
        "minimum": 1,
        "maximum": 3,
    }
    spec = {
        "seedName": "seed",
        "provider": {"type": f"p{number % 5}", "workers": [{**worker, "name": f"w{each}"} for each in range(3)]},
        "networking": {"type": f"p{number % 5}"},
        "extensions": [{"type": f"e{10 + (number * 7 + each) % 40}"} for each in range(4)],
        "dns": {"domain": f"s{number}.example.com", "providers": [{"type": "p1", "primary": True}]},
    }
    return {
        "metadata": {"name": f"s{number}", "namespace": f"garden-{number % 50}", "uid": str(number)},
        "spec": spec,
        "status": {"seedName": "seed"},
    }
