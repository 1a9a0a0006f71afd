"""ControllerInstallations from cold: from the start of the seed's process until each says that it is installed.

Garden and seed are two API servers. The resource manager of the seed runs already. Beside it, in the same run and on
the same servers, Helm renders as many charts, two at a time, and then the bare client sends what has to be written for
them: finalizer and two statuses of each installation to the garden; Namespace, Secret and ManagedResource to the seed,
and what the resource manager writes to apply that. Then the process is started once more.

Each round has a Seed of its own, and the objects of the bare client are of a class of nobody.
"""

import base64
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from benchmarks.audit_times import creations, writes
from benchmarks.bare_client import send_all, send_chains
from benchmarks.charts import ARCHIVE, OBJECTS, objects, raw_renderings
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.managed_landscape import bare_writes, made
from benchmarks.managed_watch import WORKING, ObjectWatch, Seen
from benchmarks.prepared import Prepared
from benchmarks.process import ResourceManager, listening, total
from benchmarks.rsyslog_process import change, creation
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.api.registrations import (
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    INSTALLATION_NAME,
    INSTALLED,
    SEED_NAMESPACE,
)
from hedgerow.machinery.conditions import condition_status
from hedgerow.machinery.objects import Manifest
from hedgerow.registration.chart_deployment import extension_namespace
from hedgerow.registration.installations import FINALIZER
from hedgerow.resource_manager.builder.managed_resource import new_managed_resource
from hedgerow.resource_manager.builder.secret import new_secret
from tests.control_plane import ControlPlane
from tests.control_plane.processes import free_ports
from tests.e2e.managed_resources.landscape import Delivery
from tests.e2e.registration.landscape import Landscape
from tests.e2e.servers.build import HELM, build

COUNT: Final = 50
ROUNDS: Final = 3
AGAINST_RAW: Final = 1.3
IDLE: Final = 1.0
CONTROLLERS: Final = ("controllerinstallation", "controllerinstallation-care", "controllerinstallation-required")
_INSTALLATIONS_PATH: Final = f"/apis/{CONTROLLER_INSTALLATIONS.api_version}/{CONTROLLER_INSTALLATIONS.plural}"


class Convergence(NamedTuple):
    """One cold start."""

    delivered: float
    """Seconds from the start of the process until the last ManagedResource was stored."""
    installed: float
    """Seconds until the last installation said so."""
    processor: float
    peak_memory: float
    of_resources: float = 0
    """Processor seconds of the resource manager until all was calm."""


class Resync(NamedTuple):
    """One start with nothing to do."""

    writes: int
    renderings: int
    seconds: float
    """Until every controller had looked at every installation."""


class CountedHelm:
    """The real Helm behind a script that counts how often it runs."""

    def __init__(self, folder: Path) -> None:
        self._runs = folder / "runs"
        self._runs.touch()
        self.binary = folder / "helm"
        real = build(HELM) / "helm"
        self.binary.write_text(f'#!/bin/sh\necho >> "{self._runs}"\nexec "{real}" "$@"\n', encoding="utf-8")
        self.binary.chmod(0o755)

    @property
    def runs(self) -> int:
        """How often it has run."""
        return self._runs.stat().st_size


def measure(command: Command, count: int = COUNT, rounds: int = ROUNDS) -> Iterator[Figure]:
    """The time against that of renderings and raw writes, and what a start with nothing to do costs."""
    rendering, own, raw, cold, resyncs = (
        list[float](),
        list[float](),
        list[float](),
        list[Convergence](),
        list[Resync](),
    )
    with (
        ControlPlane() as garden,
        ControlPlane() as seed,
        TemporaryDirectory(prefix="hedgerow-benchmark-") as folder,
        ResourceManager.at_work(command, "installed", seed, controllers={"resourceClass": "seed"}) as resources,
    ):
        landscape, helm = Landscape(garden, seed), CountedHelm(Path(folder))
        landscape.define()
        resources.time_of("Controller works", WORKING)

        def write(name: str) -> None:
            rendering.append(count / raw_renderings(str(build(HELM) / "helm"), count))
            of_seed, of_resources = _write_raw(landscape, name, count)
            own.append(of_seed)
            raw.append(of_seed + of_resources)

        def converge(name: str) -> None:
            processor = resources.processor_seconds()
            converged = _converge(command, landscape, helm, name, count)
            cold.append(converged._replace(of_resources=resources.processor_seconds() - processor))
            resyncs.append(_resync(command, landscape, helm, name, count))

        for number in range(rounds + 1):
            # Who comes second finds servers with more history, so each is second as often as the other.
            for work in (write, converge) if number % 2 else (converge, write):
                name = f"{work.__name__}-{number}"
                _register(landscape, name, count)
                work(name)
            if number == 0:  # an API server takes its time over the first objects of every kind
                for measured in (rendering, own, raw, cold, resyncs):
                    measured.clear()
    mine = Convergence(*map(statistics.median, zip(*cold, strict=True)))
    what = f"{count} installations of {OBJECTS} objects"
    yield Figure(f"{what}: renderings on two cores", statistics.median(rendering), "s")
    yield Figure(f"{what}: raw writes of the process", statistics.median(own), "s")
    yield Figure(f"{what}: raw writes, with those of the resource manager", statistics.median(raw), "s")
    yield Figure(f"{what}: process start to last ManagedResource", mine.delivered, "s")
    yield _ratio(f"{what}: the same", [each.delivered for each in cold], rendering, own)
    yield Figure(f"{what}: process start to last Installed", mine.installed, "s")
    yield _ratio(f"{what}: the same", [each.installed for each in cold], rendering, raw)
    yield Figure(f"{what}: processor time of the process", mine.processor, "s")
    yield Figure(f"{what}: processor time of the resource manager", mine.of_resources, "s")
    yield Figure(f"{what}: peak memory", mine.peak_memory, "MiB")
    yield Figure.at_most("started again: writes", max(each.writes for each in resyncs), "", 0)
    yield Figure.at_most("started again: runs of Helm", max(each.renderings for each in resyncs), "", 0)
    yield Figure("started again: process start to all looked at", statistics.median(r.seconds for r in resyncs), "s")


def _ratio(what: str, seconds: list[float], rendering: list[float], raw: list[float]) -> Figure:
    ratio = statistics.median(one / (two + three) for one, two, three in zip(seconds, rendering, raw, strict=True))
    return Figure.at_most(f"{what}, against renderings and raw writes", ratio, "", AGAINST_RAW)


def _register(landscape: Landscape, name: str, count: int) -> None:
    """Make a Seed of a name, and what is to be installed there."""
    landscape.add_seed(name)
    plane = landscape.garden.control_plane
    send_all(plane, (creation(CONTROLLER_REGISTRATIONS, _registration(name, number)) for number in range(count)))
    send_all(plane, (creation(CONTROLLER_INSTALLATIONS, _installation(name, number)) for number in range(count)))
    wait_for_calm(plane, IDLE)
    wait_for_calm(landscape.seed.control_plane, IDLE)


def _registration(seed: str, number: int) -> Manifest:
    config = {"chart": base64.b64encode(ARCHIVE).decode(), "values": {"number": number}}
    spec = {
        "resources": [{"kind": "Extension", "type": f"{seed}-{number}"}],
        "deployment": {"type": "helm", "providerConfig": config},
    }
    return {"metadata": {"name": f"{seed}-{number}"}, "spec": spec}


def _installation(seed: str, number: int) -> Manifest:
    name = f"{seed}-{number}"
    return {"metadata": {"name": name}, "spec": {"registrationRef": {"name": name}, "seedRef": {"name": seed}}}


@contextmanager
def _at_work(command: Command, landscape: Landscape, helm: CountedHelm, seed: str) -> Iterator[ResourceManager]:
    ports = free_ports(3)
    server = {"healthProbes": listening(ports[0]), "metrics": listening(ports[1])}
    configuration = landscape.seed_extensions(helm.binary, seedConfig={"metadata": {"name": seed}}, server=server)
    with ResourceManager.running(command, "installations", "seed-extensions", configuration, ports) as process:
        yield process


def _converge(command: Command, landscape: Landscape, helm: CountedHelm, seed: str, count: int) -> Convergence:
    watch = ObjectWatch.from_now_on(landscape.garden.control_plane, _INSTALLATIONS_PATH)
    since, runs = landscape.seed.control_plane.audit_position(), helm.runs
    installed = set[str]()

    def all_are_installed(seen: Seen) -> bool:
        if condition_status(seen.object, INSTALLED) == "True":
            installed.add(seen.object["metadata"]["name"])
        return len(installed) == count

    began = time.perf_counter()
    with _at_work(command, landscape, helm, seed) as process:
        seconds = watch.first_that(all_are_installed) - began
        processor, peak = process.processor_seconds(), process.peak_memory()
        made_ones = creations(landscape.seed.control_plane, since=since)
        delivered = max(each.stored for each in made_ones if each.resource == "managedresources") - process.began
        wait_for_calm(landscape.garden.control_plane, IDLE)
        wait_for_calm(landscape.seed.control_plane, IDLE)
    if helm.runs - runs != count:
        raise AssertionError(f"Helm has run {helm.runs - runs} times for {count} installations")
    return Convergence(delivered, seconds, processor, peak)


def _resync(command: Command, landscape: Landscape, helm: CountedHelm, seed: str, count: int) -> Resync:
    planes = [landscape.garden.control_plane, landscape.seed.control_plane]
    for plane in planes:
        wait_for_calm(plane, IDLE)
    positions, runs = [plane.audit_position() for plane in planes], helm.runs
    with _at_work(command, landscape, helm, seed) as process:
        process.wait_for(lambda: _has_looked_at(process, count), "has not looked at all installations")
        seconds = time.time() - process.began
        for plane in planes:
            wait_for_calm(plane, IDLE)
    written = sum(writes(plane, since=since) for plane, since in zip(planes, positions, strict=True))
    return Resync(written, helm.runs - runs, seconds)


def _has_looked_at(process: ResourceManager, count: int) -> bool:
    samples = process.metrics()
    done = (total(samples, "controller_runtime_reconcile_total", controller=name) for name in CONTROLLERS)
    return all(each >= count for each in done)


def _write_raw(landscape: Landscape, seed: str, count: int) -> tuple[float, float]:
    """Seconds for what the process of the seed writes, and for what the resource manager does."""
    names = [f"{seed}-{number}" for number in range(count)]
    deliveries, seed_plane = [_delivery(name) for name in names], landscape.seed.control_plane
    delivered, applied = [], []
    for name, delivery in zip(names, deliveries, strict=True):
        managed_resource, *others = bare_writes(delivery)
        namespace = creation(NAMESPACES, {"metadata": {"name": extension_namespace(name)}})
        delivered.append((namespace, made(delivery.secret), managed_resource))
        applied.append(others)
    own = send_chains(landscape.garden.control_plane, [_writes_to_garden(name) for name in names])
    own += send_chains(seed_plane, delivered)
    return own, send_chains(seed_plane, applied)


def _writes_to_garden(name: str) -> tuple[Prepared, ...]:
    installation = {"metadata": {"name": name}}
    valid = [_condition("Valid", "True"), _condition(INSTALLED, "False")]
    installed = [valid[0], *(_condition(type_, "True") for type_ in ("Healthy", INSTALLED, "Progressing"))]
    return (
        change(CONTROLLER_INSTALLATIONS, installation, {"metadata": {"finalizers": [FINALIZER]}}),
        *(
            change(CONTROLLER_INSTALLATIONS, installation, {"status": {"conditions": conditions}}, "/status")
            for conditions in (valid, installed)
        ),
    )


def _delivery(name: str) -> Delivery:
    delivered = objects(extension_namespace(name), name)
    data = {f"test_templates_{each['metadata']['name']}.yaml": json.dumps(each).encode() for each in delivered}
    secret = dict(new_secret(SEED_NAMESPACE, name, data, with_prefix=False))
    managed_resource = new_managed_resource(
        SEED_NAMESPACE,
        name,
        secret_names=[secret["metadata"]["name"]],
        labels={INSTALLATION_NAME: name},
        **{"class": "nobody"},
    )
    return Delivery(dict(managed_resource), secret, tuple(delivered))


def _condition(type_: str, status: str) -> dict[str, Any]:
    times = dict.fromkeys(("lastTransitionTime", "lastUpdateTime"), "2026-01-01T00:00:00Z")
    message = "The controller was successfully installed in the seed cluster."
    return {"type": type_, "status": status, "reason": "InstallationSuccessful", "message": message, **times}
