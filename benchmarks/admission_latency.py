"""What the high availability webhook adds to the creation of a Deployment, as a client of the API server sees it.

One connection sends dry runs of one Deployment, in turn to a namespace whose workloads the API server asks the process
about and to one where it asks nobody; so both see the machine in the same state. Every answer is compared with what the
API server makes of the Deployment that the rules alone would have made.
"""

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.deployment import NAMESPACE, deployment, namespace
from benchmarks.figures import Figure, percentile
from benchmarks.launch import Command
from benchmarks.policy_watch import SlimConnection
from benchmarks.prepared import Prepared
from benchmarks.process import ResourceManager
from hedgerow.admission import Allowed, creation
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig
from hedgerow.admission.high_availability import Facts, review
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.admission.resources import DEPLOYMENTS
from tests.control_plane import ControlPlane, wait_until
from tests.e2e.admission_server.clients import issue

ELSEWHERE: Final = "unconsidered"
CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
CONFIG: Final = HighAvailabilityConfig()
SAMPLES: Final = 1000
WARM_UP: Final = 100
PATIENCE: Final = 30.0
MILLISECONDS: Final = 1000


def measure(command: Command, samples: int = SAMPLES) -> Iterator[Figure]:
    """Medians with and without the webhook, and what lies between them."""
    with TemporaryDirectory(prefix="hedgerow-benchmark-") as name, ControlPlane() as plane:
        certificate = issue(Path(name))
        _create(plane, "/api/v1/namespaces", namespace())
        _create(plane, "/api/v1/namespaces", {"metadata": {"name": ELSEWHERE}})
        with ResourceManager.at_work(command, "admission-latency", plane, certificate=certificate) as process:
            process.wait_for(process.is_ready, "is not ready")
            _register(plane, process.webhook_port, certificate)
            asked, unasked = _sample(plane, samples)
    what = "dry-run creation through the API server, one connection"
    added = percentile(asked, 50) - percentile(unasked, 50)
    yield Figure.at_most(f"{what}: what the webhook adds, p50", added, "ms", 1.5)
    for which, values in (("without the webhook", unasked), ("with it", asked)):
        for percent in (50, 99):
            yield Figure(f"{what}, {which}, p{percent}", percentile(values, percent), "ms")


def _register(plane: ControlPlane, port: int, certificate: Path) -> None:
    config = AdmissionConfig(high_availability_config=CONFIG)
    authority = (certificate / "tls.crt").read_bytes()
    for manifest in build_webhook_configurations(Mode.RUNTIME, "", "default", authority, config):
        for webhook in manifest["webhooks"]:
            service = webhook["clientConfig"].pop("service")
            webhook["clientConfig"]["url"] = f"https://127.0.0.1:{port}{urlsplit(service['path']).path}"
        _create(plane, CONFIGURATIONS, manifest)


def _sample(plane: ControlPlane, samples: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each creation, with the webhook and without it."""
    client = SlimConnection(plane)
    before = deployment()
    asked, unasked = _dry_run(NAMESPACE, before), _dry_run(ELSEWHERE, before)
    changed = _milliseconds(client, _dry_run(ELSEWHERE, _changed(before)))[1]
    unchanged = _milliseconds(client, unasked)[1]
    # The API server takes up a new registration some moments later.
    wait_until(
        lambda: _milliseconds(client, asked)[1] == changed,
        timeout=PATIENCE,
        otherwise=lambda: AssertionError("the API server does not ask, or is not answered as expected"),
    )
    latencies: tuple[list[float], list[float]] = ([], [])
    for _ in range(WARM_UP + samples):
        for request, expected, values in zip((asked, unasked), (changed, unchanged), latencies, strict=True):
            milliseconds, spec = _milliseconds(client, request)
            if spec != expected:
                raise AssertionError(f"{request.path} was answered with {spec}")
            values.append(milliseconds)
    return latencies[0][WARM_UP:], latencies[1][WARM_UP:]


def _milliseconds(client: SlimConnection, request: Prepared) -> tuple[float, Any]:
    """How long the answer took, and the specification in it."""
    began = time.perf_counter()
    answer = client.open(request).read()
    ended = time.perf_counter()
    return (ended - began) * MILLISECONDS, json.loads(answer)["spec"]


def _changed(manifest: dict[str, Any]) -> dict[str, Any]:
    """What the rules make of the Deployment, by themselves."""
    decision = review(creation(DEPLOYMENTS, manifest), Facts(namespace()), CONFIG)
    if not isinstance(decision, Allowed) or decision.object is None:
        raise AssertionError(f"expected the Deployment to be changed, got {decision}")
    return dict(decision.object)


def _dry_run(where: str, manifest: dict[str, Any]) -> Prepared:
    body = {**manifest, "metadata": {**manifest["metadata"], "namespace": where}}
    return Prepared("POST", f"/apis/apps/v1/namespaces/{where}/deployments?dryRun=All", json.dumps(body).encode())


def _create(plane: ControlPlane, path: str, manifest: Mapping[str, Any]) -> None:
    status, answer = plane.request("POST", path, manifest)
    if status != http.client.CREATED:
        raise AssertionError(f"{path}: {status} {answer}")
