"""The time that a kubelet waits for the approval of the certificate that it serves with, one after the other.

The time begins directly before the request that creates the CertificateSigningRequest is sent, and ends when a watch of
the measuring client has brought it approved. Each request is for the same Node, which has one Machine. The very first
is told apart: only then the process loads what it reads certificate requests with. Beside it the same is measured with
a client in the process's place that knows the verdict beforehand, and sends what has to be sent for it: three
questions and the approval.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure, percentile
from benchmarks.launch import Command
from benchmarks.managed_watch import ObjectWatch, Seen
from benchmarks.policy_watch import SlimConnection
from benchmarks.prepared import Prepared
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane
from tests.e2e.kubelets import CSRS, Kubelet, kubelet_users, let_kubelets_ask
from tests.e2e.machines import define_machines, machine, machines_in
from tests.kubelet_requests import csr_manifest, kubelet_request

SAMPLES: Final = 200
GOAL: Final = 20
"""Milliseconds."""
PAUSE: Final = 0.015
"""Seconds between a verdict and the next request, so that everybody is idle again."""
MILLISECONDS: Final = 1000
NODE: Final = "worker-1"
USER: Final = f"system:node:{NODE}"
NAMESPACE: Final = "default"
ADDRESSES: Final = (("Hostname", "worker-1.example.com"), ("InternalIP", "10.1.2.3"))
WORKING: Final = "kubelet-csr-approver"


def measure(command: Command, samples: int = SAMPLES) -> Iterator[Figure]:
    """Median and 99th percentile."""
    with ControlPlane(users=kubelet_users(NODE)) as plane:
        _prepare(plane)
        controllers = {"kubeletCSRApprover": {"enabled": True, "machineNamespace": NAMESPACE}}
        with ResourceManager.at_work(command, "kubelet-certificates", plane, controllers=controllers) as process:
            process.time_of("Controller works", WORKING)
            wait_for_calm(plane)
            first, *waits = _waits(plane, "csr", samples + 1, lambda _created: None)
        _, *bare = _waits(plane, "bare", samples + 1, _Approver(plane).approve)
    what = "new CertificateSigningRequest to approved"
    yield Figure(f"{what}, the very first", first, "ms")
    yield Figure.at_most(f"{what}, p50 of {samples}", percentile(waits, 50), "ms", GOAL)
    yield Figure(f"{what}, p99", percentile(waits, 99), "ms")
    yield Figure(f"{what}, bare client that knows the verdict, p50", percentile(bare, 50), "ms")
    yield Figure(f"{what}, bare client that knows the verdict, p99", percentile(bare, 99), "ms")


def _waits(plane: ControlPlane, prefix: str, samples: int, react: Callable[[bytes], None]) -> list[float]:
    """Milliseconds until each request is approved; what was created is passed to the reaction."""
    kubelet, watch, waits = SlimConnection(plane, USER), ObjectWatch.from_now_on(plane, CSRS), []
    names = [[address for kind, address in ADDRESSES if kind == wanted] for wanted in ("Hostname", "InternalIP")]
    for number in range(samples):
        manifest = csr_manifest(f"{prefix}-{number}", kubelet_request(NODE, *names))
        request = Prepared("POST", CSRS, json.dumps(manifest).encode())
        time.sleep(PAUSE)
        began = time.perf_counter()
        react(kubelet.open(request).read())
        waits.append((watch.first_that(_is_approved) - began) * MILLISECONDS)
    return waits


class _Approver:
    """Approves whatever is created, after it has asked what somebody would ask who decides."""

    def __init__(self, plane: ControlPlane) -> None:
        self._connection = SlimConnection(plane)

    def approve(self, created: bytes) -> None:
        self._connection.send(Prepared("GET", f"/api/v1/nodes/{NODE}"))
        self._connection.send(Prepared("GET", "/api/v1/namespaces/default/services/kubernetes"))
        self._connection.send(Prepared("GET", f"{machines_in(NAMESPACE)}?labelSelector=node%3D{NODE}"))
        csr = json.loads(created)
        csr["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "Known", "message": "known"}]}
        path = f"{CSRS}/{csr['metadata']['name']}/approval"
        self._connection.send(Prepared("PUT", path, json.dumps(csr).encode()))


def _prepare(plane: ControlPlane) -> None:
    let_kubelets_ask(plane)
    Kubelet(plane, NODE).register(ADDRESSES)
    define_machines(plane)
    plane.create_all([(machines_in(NAMESPACE), machine(NAMESPACE, "m-1", node=NODE))])


def _is_approved(seen: Seen) -> bool:
    """Whether an event brings a verdict, which has to be the right one."""
    conditions = seen.object["status"].get("conditions", ())
    if any(condition["type"] == "Denied" for condition in conditions):
        raise AssertionError(conditions)
    return bool(conditions)
