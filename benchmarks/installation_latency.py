"""One more Shoot: the time until the installation of the extension that only it needs is stored.

The process of the garden is idle. The time begins when the request that creates the Shoot reaches the API server, and
ends when the installation is stored, both by the audit log. Beside it, a client in the process's place creates the
installation, which it knows. Every Shoot is deleted before the next, and its installation with it.
"""

import base64
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from benchmarks.audit_times import creations
from benchmarks.bare_client import send_all
from benchmarks.charts import ARCHIVE
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure, percentile
from benchmarks.launch import Command
from benchmarks.managed_watch import ObjectWatch
from benchmarks.policy_watch import SlimConnection
from benchmarks.prepared import Prepared
from benchmarks.process import ResourceManager, listening
from benchmarks.rsyslog_process import creation
from hedgerow.api.gardener import SHOOTS
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow_adapters.protocol.requests import object_path
from tests.control_plane import ControlPlane
from tests.control_plane.processes import free_ports
from tests.e2e.registration.landscape import SEED, Landscape

REGISTRATIONS: Final = 50
SHOOTS_BESIDE: Final = 100
SAMPLES: Final = 200
WARM_UP: Final = 20
PAUSE: Final = 0.05
"""Seconds between a change and the next, so that everybody is idle again."""
NAMESPACE: Final = "garden-live"
_PATH: Final = f"/apis/{CONTROLLER_INSTALLATIONS.api_version}/{CONTROLLER_INSTALLATIONS.plural}"


def measure(command: Command, samples: int = SAMPLES) -> Iterator[Figure]:
    """Medians and 99th percentiles."""
    with ControlPlane() as garden, ControlPlane() as seed:
        landscape = Landscape(garden, seed)
        landscape.define()
        landscape.garden.create(NAMESPACES, NAMESPACE)
        send_all(garden, (creation(CONTROLLER_REGISTRATIONS, _registration(each)) for each in range(REGISTRATIONS)))
        send_all(garden, (creation(SHOOTS, _shoot(f"beside-{each}")) for each in range(SHOOTS_BESIDE)))
        ports = free_ports(3)
        server = {"healthProbes": listening(ports[0]), "metrics": listening(ports[1])}
        configuration = landscape.controller_manager(server=server)
        with ResourceManager.running(command, "installation-latency", "controller-manager", configuration, ports) as p:
            p.wait_for(p.is_ready, "is not ready")
            wait_for_calm(garden, 1)
            processor = p.processor_seconds()
            live = _sample(garden, samples, lambda _number: None)
            processor = 1000 * (p.processor_seconds() - processor) / (WARM_UP + samples)
        client = SlimConnection(garden)

        def react(number: int) -> None:
            client.send(creation(CONTROLLER_INSTALLATIONS, _installation(number)))

        bare = _sample(garden, samples, react)
    what = f"{REGISTRATIONS} registrations, {SHOOTS_BESIDE} Shoots: new Shoot to its installation stored"
    yield Figure.at_most(f"{what}, p50", percentile(live, 50), "ms", 15)
    yield Figure(f"{what}, p99", percentile(live, 99), "ms")
    yield Figure("processor time of the process for a Shoot that comes and goes", processor, "ms")
    yield Figure("bare client that knows the installation, p50", percentile(bare, 50), "ms")
    yield Figure("bare client that knows the installation, p99", percentile(bare, 99), "ms")


def _sample(plane: ControlPlane, samples: int, react: Callable[[int], None]) -> list[float]:
    """Milliseconds of each sample; the reaction creates the installation where no process does."""
    client, since, watch = SlimConnection(plane), plane.audit_position(), ObjectWatch.from_now_on(plane, _PATH)
    for number in range(WARM_UP + samples):
        shoot = _shoot("live", _name(number))
        appear, vanish = creation(SHOOTS, shoot), Prepared("DELETE", object_path(SHOOTS, key_of(shoot)))
        time.sleep(PAUSE)
        client.send(appear)
        react(number)
        stored: dict[str, Any] = {}

        def is_there(seen: Any, number: int = number, stored: dict[str, Any] = stored) -> bool:
            stored.update(seen.object)
            return bool(seen.type == "ADDED" and seen.object["spec"]["registrationRef"]["name"] == _name(number))

        watch.first_that(is_there)
        time.sleep(PAUSE)
        client.send(vanish)
        if stored["metadata"]["name"] == _name(number):
            client.send(Prepared("DELETE", object_path(CONTROLLER_INSTALLATIONS, key_of(stored))))
        watch.first_that(lambda seen: seen.type == "DELETED")
    wait_for_calm(plane)
    return _latencies(plane, since)[WARM_UP:]


def _latencies(plane: ControlPlane, since: int) -> list[float]:
    began, latencies = 0.0, []
    for made in creations(plane, since=since):
        if made.resource == "shoots":
            began = made.received
        elif made.resource == "controllerinstallations":
            latencies.append(1000 * (made.stored - began))
    return latencies


def _name(number: int) -> str:
    return f"extension-{number % REGISTRATIONS}"


def _registration(number: int) -> Manifest:
    spec = {
        "resources": [{"kind": "Extension", "type": _name(number)}],
        "deployment": {"type": "helm", "providerConfig": {"chart": base64.b64encode(ARCHIVE).decode()}},
    }
    return {"metadata": {"name": _name(number)}, "spec": spec}


def _shoot(name: str, *extensions: str) -> Manifest:
    spec = {"seedName": SEED, "provider": {"type": "aws"}, "extensions": [{"type": each} for each in extensions]}
    return {"metadata": {"namespace": NAMESPACE, "name": name}, "spec": spec}


def _installation(number: int) -> Manifest:
    spec = {"registrationRef": {"name": _name(number)}, "seedRef": {"name": SEED}}
    return {"metadata": {"name": _name(number)}, "spec": spec}
