"""A slow API server: errors of a process whose answers come late, while watches show its writes at once.

A gateway holds every answer back and hands watch events on as they come. So each write is seen before it is answered,
which is the hardest case for telling own writes from those of others.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import yaml

from benchmarks.audit_times import creations
from benchmarks.cluster import SMALL, Size, cluster, wait_for_policies
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.load_generator import SlowGateway, built
from benchmarks.process import ResourceManager, total
from tests.control_plane import ControlPlane

LATENCIES: Final = (3.0, 0.0, 0.3, 1.0)
"""Seconds that are added to every answer; what takes longest begins first."""
LEASE: Final = "/apis/coordination.k8s.io/v1/namespaces/default/leases/gardener-resource-manager"


def measure(command: Command, size: Size = SMALL) -> Iterator[Figure]:
    """Errors, policies that were written more than once, and the time until all policies are stored."""
    built()
    # A process that waits for answers leaves the machine to the others.
    with ThreadPoolExecutor(max_workers=2) as pool:
        for figures in pool.map(lambda seconds: _measure(command, size, seconds), LATENCIES):
            yield from figures


def _measure(command: Command, size: Size, seconds: float) -> Sequence[Figure]:
    with cluster(size) as plane, SlowGateway.before(plane) as gateway:
        gateway.delay(seconds)
        return [*_figures(command, size, plane, gateway, seconds)]


def _figures(
    command: Command, size: Size, plane: ControlPlane, gateway: SlowGateway, seconds: float
) -> Iterator[Figure]:
    what, since = f"{size}, answers {seconds:g} s late", plane.audit_position()
    with TemporaryDirectory(prefix="hedgerow-benchmark-") as folder:
        kubeconfig = behind(gateway, plane, Path(folder))
        with ResourceManager.at_work(command, f"latency-{seconds:g}", plane, kubeconfig=str(kubeconfig)) as process:
            wait_for_policies(plane, size.policies, still=process.require_running)
            process.wait_for(lambda: is_idle(process), "still has keys to work on")
            errors = total(process.metrics(), "controller_runtime_reconcile_errors_total")
            lines = process.count_lines("error", "warning")
            began = process.time_of("Starting workers")
            transitions = lease_transitions(plane)
    stored = [made.stored for made in creations(plane, since=since) if made.resource == "networkpolicies"]
    yield Figure.at_most(f"{what}: turns that failed", errors, "", 0)
    yield Figure.at_most(f"{what}: warnings and errors in the log", lines, "", 0)
    yield Figure.at_most(f"{what}: policies that were sent twice", len(stored) - size.policies, "", 0)
    yield Figure.at_most(f"{what}: times that the lease was lost", transitions, "", 0)
    yield Figure(f"{what}: start of the workers to last policy", max(stored) - began, "s")


def is_idle(process: ResourceManager) -> bool:
    """Whether no key is worked on or waits for it."""
    samples = process.metrics()
    return total(samples, "workqueue_depth") + total(samples, "controller_runtime_active_workers") == 0


def lease_transitions(plane: ControlPlane) -> int:
    """How often the lease has changed hands."""
    _, lease = plane.request("GET", LEASE)
    return int(lease["spec"].get("leaseTransitions", 0))


def behind(gateway: SlowGateway, plane: ControlPlane, folder: Path) -> Path:
    """A kubeconfig that leads to the gateway."""
    document = yaml.safe_load(plane.kubeconfig().read_text(encoding="utf-8"))
    document["clusters"][0]["cluster"] = {"server": gateway.url}
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")
    kubeconfig.chmod(0o600)
    return kubeconfig
