"""What the high availability webhook adds to the creation of a Deployment, as a client of the API server sees it.

One connection sends dry runs of one Deployment, in turn to a namespace about which the API server asks the process, to
one about which it asks somebody who has the same answer ready, and to one about which it asks nobody; so all three see
the machine in the same state. The second tells how much of it is what the API server does about any webhook. Every
answer is compared with what the API server makes of the Deployment that the rules alone would have made.
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
from benchmarks.ready_answer import UID, ready_answer
from hedgerow.admission import Mutated, creation
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig
from hedgerow.admission.high_availability import WorkloadFacts, decide
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.admission.review import V1BETA1, answer
from hedgerow.api.kubernetes import DEPLOYMENTS
from hedgerow_adapters.protocol import json_codec
from tests.control_plane import ControlPlane, wait_until
from tests.e2e.admission_server.clients import issue

READY: Final = "ready"
NOBODY: Final = "nobody"
WHERE: Final = {NAMESPACE: "with the webhook", READY: "with an answer that is ready", NOBODY: "without a webhook"}
"""The namespaces, and who is asked about them."""
CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
CONFIG: Final = HighAvailabilityConfig()
SAMPLES: Final = 1000
WARM_UP: Final = 100
PATIENCE: Final = 30.0
MILLISECONDS: Final = 1000


def measure(command: Command, samples: int = SAMPLES) -> Iterator[Figure]:
    """What lies between the medians with and without the webhook, and what they are."""
    decision = decide(creation(DEPLOYMENTS, deployment()), WorkloadFacts(namespace()), CONFIG)
    if not isinstance(decision, Mutated):
        raise AssertionError(f"expected the Deployment to be changed, got {decision}")  # noqa: TRY004 -- a check of the benchmark itself
    # That is the version which registrations prefer.
    ready = json_codec.encode(answer(V1BETA1, UID, decision, json_codec.encode))
    with TemporaryDirectory(prefix="hedgerow-benchmark-") as name, ControlPlane() as plane:
        certificate = issue(Path(name))
        for manifest in (namespace(), {"metadata": {"name": READY}}, {"metadata": {"name": NOBODY}}):
            _create(plane, "/api/v1/namespaces", manifest)
        with (
            ResourceManager.at_work(command, "admission-latency", plane, certificate=certificate) as process,
            ready_answer(certificate, ready) as ready_port,
        ):
            process.wait_for(process.is_ready, "is not ready")
            _register(plane, NAMESPACE, process.webhook_port, certificate)
            _register(plane, READY, ready_port, certificate)
            latencies = _sample(plane, decision.object, samples)
    yield from _figures(latencies)


def _figures(latencies: Mapping[str, list[float]]) -> Iterator[Figure]:
    what = "dry-run creation through the API server"
    asked, ready, nobody = (percentile(latencies[where], 50) for where in WHERE)
    yield Figure.at_most(f"{what}: what the webhook adds, p50", asked - nobody, "ms", 1.5)
    yield Figure(f"{what}: of which an answer that is ready adds", ready - nobody, "ms")
    for where, who in WHERE.items():
        for percent in (50, 99):
            yield Figure(f"{what} {who}, p{percent}", percentile(latencies[where], percent), "ms")


def _register(plane: ControlPlane, where: str, port: int, certificate: Path) -> None:
    """Have the API server ask whoever is at a port about a namespace."""
    config = AdmissionConfig(high_availability_config=CONFIG)
    authority = (certificate / "tls.crt").read_bytes()
    for manifest in build_webhook_configurations(Mode.RUNTIME, "", "default", authority, config):
        for webhook in manifest["webhooks"]:
            service = webhook["clientConfig"].pop("service")
            webhook["clientConfig"]["url"] = f"https://127.0.0.1:{port}{urlsplit(service['path']).path}"
            webhook["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": where}}
        _create(plane, CONFIGURATIONS, {**manifest, "metadata": {**manifest["metadata"], "name": where}})


def _sample(plane: ControlPlane, changed: Mapping[str, Any], samples: int) -> Mapping[str, list[float]]:
    """Milliseconds of each creation, by namespace."""
    client = SlimConnection(plane)
    requests = {where: _dry_run(where, deployment()) for where in WHERE}
    expected = dict.fromkeys(WHERE, _timed(client, _dry_run(NOBODY, changed))[1])
    expected[NOBODY] = _timed(client, requests[NOBODY])[1]
    # The API server takes up a new registration some moments later.
    wait_until(
        lambda: all(_timed(client, requests[where])[1] == expected[where] for where in WHERE),
        timeout=PATIENCE,
        otherwise=lambda: AssertionError("the API server does not ask, or is not answered as expected"),
    )
    latencies: dict[str, list[float]] = {where: [] for where in WHERE}
    for _ in range(WARM_UP + samples):
        for where, request in requests.items():
            milliseconds, spec = _timed(client, request)
            if spec != expected[where]:
                raise AssertionError(f"{request.path} was answered with {spec}")
            latencies[where].append(milliseconds)
    return {where: values[WARM_UP:] for where, values in latencies.items()}


def _timed(client: SlimConnection, request: Prepared) -> tuple[float, Any]:
    """Milliseconds until the whole answer was there, and the specification in it."""
    began = time.perf_counter()
    content = client.open(request).read()
    ended = time.perf_counter()
    return (ended - began) * MILLISECONDS, json.loads(content)["spec"]


def _dry_run(where: str, manifest: Mapping[str, Any]) -> Prepared:
    body = {**manifest, "metadata": {**manifest["metadata"], "namespace": where}}
    return Prepared("POST", f"/apis/apps/v1/namespaces/{where}/deployments?dryRun=All", json.dumps(body).encode())


def _create(plane: ControlPlane, path: str, manifest: Mapping[str, Any]) -> None:
    status, content = plane.request("POST", path, manifest)
    if status != http.client.CREATED:
        raise AssertionError(f"{path}: {status} {content}")
