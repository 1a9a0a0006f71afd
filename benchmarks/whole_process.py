"""The process as it is deployed, with every controller and webhook, in a cluster in which nothing happens.

The cluster holds 2 000 network policies, 200 ManagedResources with 600 objects, 500 pods, and 50 nodes that are ready.
"""

import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.audit_times import writes
from benchmarks.bare_client import send_all
from benchmarks.cluster import Size, create_policies, wait_for_calm
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.managed_landscape import Landscape, made
from benchmarks.managed_steady import settle
from benchmarks.managed_watch import WORKING
from benchmarks.prepared import Prepared, creation, creation_of_namespace
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane
from tests.e2e.admission_server.clients import issue
from tests.e2e.managed_resources.definition import define_managed_resources

SIZE: Final = Size(namespaces=20, services=1_000)
DELIVERED: Final = Landscape(count=200, namespaces=10, class_name="resources")
PODS: Final = 500
NODES: Final = 50
STARTS: Final = 3
STRETCH: Final = 300
"""Seconds in which nobody changes anything."""
SETTLED: Final = 90.0
"""Seconds after which a process that has begun has looked at everything, and has tried every managed object once."""
POLL: Final = 0.01
CONTROLLERS: Final[dict[str, Any]] = {
    "garbageCollector": {"enabled": True},
    "kubeletCSRApprover": {"enabled": True, "machineNamespace": "garden"},
    "networkPolicy": {"enabled": True},
    "node": {"enabled": True},
    "tokenInvalidator": {"enabled": True},
    "tokenRequestor": {"enabled": True, "sourceNamespaces": ["garden"]},
}
WEBHOOKS: Final[dict[str, Any]] = {
    "crdDeletionProtection": {"enabled": True},
    "endpointSliceHints": {"enabled": True},
    "extensionValidation": {"enabled": True},
    "highAvailabilityConfig": {"enabled": True},
    "kubernetesServiceHost": {"enabled": True, "host": "api.example.com"},
    "podSchedulerName": {"enabled": True},
    "podTopologySpreadConstraints": {"enabled": True},
    "projectedTokenMount": {"enabled": True},
    "seccompProfile": {"enabled": True},
    "systemComponentsConfig": {"enabled": True},
    "tokenInvalidator": {"enabled": True},
}


def measure(command: Command, seconds: int = STRETCH) -> Iterator[Figure]:
    """Memory, processor time and writes of the idle process, and how long it takes until it is ready."""
    with TemporaryDirectory(prefix="hedgerow-benchmark-") as folder, ControlPlane() as plane:
        certificate = issue(Path(folder))
        fill(plane)
        with _at_work(command, plane, certificate) as process:
            settle(plane, process, DELIVERED)
        ready = statistics.median(_start(command, plane, certificate) for _ in range(STARTS))
        with _at_work(command, plane, certificate) as process:
            process.time_of("Controller works", WORKING)
            wait_for_calm(plane)
            time.sleep(SETTLED)
            position, processor = plane.audit_position(), process.processor_seconds()
            time.sleep(seconds)
            processor, written = process.processor_seconds() - processor, writes(plane, since=position)
            memory, peak = process.memory(), process.peak_memory()
    yield Figure.at_most("everything enabled: process start to ready", ready, "s", 3)
    yield Figure.at_most("everything enabled: memory of the idle process", memory, "MiB", 110)
    yield Figure("everything enabled: peak memory", peak, "MiB")
    yield Figure.at_most("everything enabled: share of a processor", 100 * processor / seconds, "%", 1)
    yield Figure.at_most(f"everything enabled: writes in {seconds} s", written, "", 0)


@contextmanager
def _at_work(command: Command, plane: ControlPlane, certificate: Path) -> Iterator[ResourceManager]:
    with ResourceManager.at_work(
        command, "whole-process", plane, certificate=certificate, controllers=CONTROLLERS, webhooks=WEBHOOKS
    ) as process:
        yield process


def _start(command: Command, plane: ControlPlane, certificate: Path) -> float:
    with _at_work(command, plane, certificate) as process:
        while not process.is_ready():
            process.require_running()
            time.sleep(POLL)
        return time.time() - process.began


def fill(plane: ControlPlane) -> None:
    """Everything but the ManagedResources; the policies are as the process wants them."""
    define_managed_resources(plane)
    send_all(plane, (creation_of_namespace(SIZE.namespace(number)) for number in range(SIZE.namespaces)))
    send_all(plane, (creation(SIZE.service(number)) for number in range(SIZE.services)))
    send_all(plane, create_policies(SIZE))
    send_all(plane, (Prepared("POST", "/api/v1/nodes", json.dumps(_node(number)).encode()) for number in range(NODES)))
    send_all(plane, (made(_pod(number)) for number in range(PODS)))


def _node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    addresses = [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": f"10.0.0.{number}"}]
    return {"metadata": {"name": name, "labels": {"pool": "a"}}, "status": {"addresses": addresses}}


def _pod(number: int) -> dict[str, Any]:
    spec = {"nodeName": f"node-{number % NODES}", "containers": [{"name": "app", "image": "app:1"}]}
    metadata = {"name": f"pod-{number}", "namespace": SIZE.namespace(number), "labels": {"app": f"svc-{number}"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
