"""A process that is attacked in four ways at once, for five minutes: what it keeps, and whether it recovers.

The loads, each of which may be put on it alone:

* `secrets`: ten Secrets of some hundred bytes that stand for very much, and are changed all the time.
* `probes`: 150 clients ask `/healthz` without end, while each answer of the API server is 1.5 s late.
* `connections`: 9 000 connections to the ports for probes and metrics bring half a request each, again and again, and
  100 clients send one byte a second.
* `reviews`: ten reviews of 6.9 MB at a time for a webhook whose caches are not complete.

Everything is enabled in the process, and the cluster is that of `whole-process`. Its API server is reached by way of a
gateway, which adds the latency and refuses to list nodes. Before, during and after the loads two clients
ask steadily: one for `/healthz` without the check of the API server, which anybody has to wait for, and one for reviews
that add a token to a pod. So figures under load are compared with those of the same process without.
"""

import contextlib
import http.client
import itertools
import json
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import brotli

from benchmarks.bare_client import send_all
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure
from benchmarks.latency import behind, lease_transitions
from benchmarks.launch import Command
from benchmarks.load_generator import UID, Load, RunningLoad, SlowGateway
from benchmarks.managed_landscape import made, merged, removed
from benchmarks.managed_steady import settle
from benchmarks.managed_watch import WORKING
from benchmarks.process import ResourceManager
from benchmarks.whole_process import CONTROLLERS, DELIVERED, WEBHOOKS, fill
from hedgerow.admission import creation as asked_to_create
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.documents.budget import MOST_BYTES
from hedgerow.machinery.objects import Resource
from hedgerow_adapters.registrations.dispatch import review_document
from tests.control_plane import ControlPlane
from tests.e2e.admission_server.clients import issue
from tests.e2e.managed_resources.manifests import managed_resource, named
from tests.e2e.managed_resources.urls import Manifest

SECONDS: Final = 300
"""How long the loads last."""
CALM: Final = 20
"""Seconds of each measurement without load."""
REST: Final = 120
"""Seconds after the loads until the process has to be as before: connections without requests are kept for 90 s."""
LATENCY: Final = 1.5
CHANGED_EVERY: Final = 2.0
"""Seconds from one change of all hostile Secrets to the next."""
HOSTILE: Final = 10
ASKERS: Final = 150
HALF_SENT: Final = 9_000
SLOW: Final = 100
ROUND: Final = 30
"""Seconds in which so many half-sent requests arrive."""
LONG: Final = "86400"
"""Seconds: loads are ended, and do not end by themselves."""
LARGE: Final = 6_900_000
"""Bytes of a large review."""
MOST_MEMORY: Final = 300
MOST_MEMORY_OF_REVIEWS: Final = 256
"""MiB, where large reviews are the only load."""
MOST_OF_USUAL: Final = 3
"""How many times its usual time a review may take."""
MOST_OF_PROBES: Final = 100
"""Milliseconds."""
AS_BEFORE: Final = 110
"""Percent."""
NAMESPACE: Final = "hostile"
ACCOUNT: Final = "bare"
SMALL_REVIEWS: Final = "/webhooks/mount-projected-service-account-token?timeout=10s"
LARGE_REVIEWS: Final = "/webhooks/system-components-config?timeout=6s"
PROBES: Final = "/healthz?exclude=apiserver-healthz"


class Found(NamedTuple):
    """What the two steady clients measured, and what the process held at the end."""

    probes: Load
    reviews: Load
    memory: float
    files: int


@dataclass(frozen=True, slots=True)
class Target:
    """The process under attack, and where its cluster and the documents for its webhooks are."""

    plane: ControlPlane
    gateway: SlowGateway
    process: ResourceManager
    folder: Path

    def probe_url(self, path: str) -> str:
        """Where it answers probes."""
        return f"http://127.0.0.1:{self.process.health_port}{path}"

    def review_url(self, path: str) -> str:
        """Where it answers reviews."""
        return f"https://127.0.0.1:{self.process.webhook_port}{path}"

    def observe(self, seconds: float) -> Found:
        """Ask steadily for so long: 20 probes and 50 reviews a second, from 10 connections each."""
        duration = ("-seconds", str(seconds), "-connections", "10")
        answers = ("-body", str(self.folder / "small.json"), "-answer", str(self.folder / "answer.json"))
        probes = RunningLoad("requests", "-url", self.probe_url(PROBES), "-interval", "500ms", *duration)
        url = self.review_url(SMALL_REVIEWS)
        reviews = RunningLoad("requests", "-url", url, "-interval", "200ms", *answers, *duration)
        asked = Load.of(probes.report()), Load.of(reviews.report())
        self.process.require_running()
        return Found(*asked, self.process.memory(), self.process.open_files())


def measure(command: Command, loads: Collection[str] = (), seconds: int = SECONDS) -> Iterator[Figure]:
    """Put loads on a process, and measure it before, meanwhile and after.

    Args:
        command: how the process is started.
        loads: names of loads; none: all.
        seconds: how long they last.
    """
    chosen = [name for name in LOADS if name in loads] or [*LOADS]
    what = "hostile load" if len(chosen) == len(LOADS) else f"hostile {', '.join(chosen)}"
    with _target(command, chosen) as target:
        before = target.observe(CALM)
        with ExitStack() as stack:
            for name in chosen:
                stack.enter_context(LOADS[name](target))
            meanwhile = target.observe(seconds)
        target.gateway.delay(0)
        target.gateway.serve()
        peak, transitions = target.process.peak_memory(), lease_transitions(target.plane)
        time.sleep(REST)
        after = target.observe(CALM)
        errors = target.process.count_lines("error")
    most = MOST_MEMORY_OF_REVIEWS if chosen == ["reviews"] else MOST_MEMORY
    usual = before.reviews.p99
    yield Figure.at_most(f"{what}, {seconds} s: times that the lease was lost", transitions, "", 0)
    yield Figure.at_most(f"{what}: peak of memory ({before.memory:.0f} MiB before)", peak, "MiB", most)
    yield Figure.at_most(f"{what}: 99 % of probes within", meanwhile.probes.p99, "ms", MOST_OF_PROBES)
    yield Figure(f"{what}: longest probe", meanwhile.probes.longest, "ms")
    yield Figure.at_most(
        f"{what}: 99 % of reviews within ({usual:.2f} ms before)", meanwhile.reviews.p99, "ms", MOST_OF_USUAL * usual
    )
    yield Figure(f"{what}: longest review", meanwhile.reviews.longest, "ms")
    for name, found in (("before", before), ("meanwhile", meanwhile), ("after", after)):
        failed = found.probes.failures + found.reviews.failures
        count = found.probes.requests + found.reviews.requests
        why = found.probes.first_failure or found.reviews.first_failure
        yield Figure.at_most(f"{what}: failed of {count} probes and reviews {name} {why}".rstrip(), failed, "", 0)
    yield Figure(f"{what}: errors in the log", errors)
    yield from _recovered(what, before, after)


def _recovered(what: str, before: Found, after: Found) -> Iterator[Figure]:
    pairs = {
        "memory": (before.memory, after.memory, "MiB"),
        "p50 of probes": (before.probes.p50, after.probes.p50, "ms"),
        "p50 of reviews": (before.reviews.p50, after.reviews.p50, "ms"),
        "open files": (before.files, after.files, ""),
    }
    for name, (old, new, unit) in pairs.items():
        compared = f"{old:.2f} to {new:.2f} {unit}".rstrip()
        yield Figure.at_most(f"{what}: {name} afterwards, {compared}", 100 * new / old, "% of before", AS_BEFORE)


@contextmanager
def _target(command: Command, loads: Collection[str]) -> Iterator[Target]:
    with (
        TemporaryDirectory(prefix="hedgerow-benchmark-") as name,
        ControlPlane() as plane,
        SlowGateway.before(plane) as gateway,
    ):
        folder = Path(name)
        certificate = issue(folder)
        fill(plane)
        _prepare(plane, folder)
        if "reviews" in loads:
            gateway.refuse("/api/v1/nodes")
        kubeconfig = str(behind(gateway, plane, folder))
        with ResourceManager.at_work(
            command,
            "hostile",
            plane,
            certificate=certificate,
            controllers=CONTROLLERS,
            webhooks=WEBHOOKS,
            kubeconfig=kubeconfig,
        ) as process:
            target = Target(plane, gateway, process, folder)
            settle(plane, process, DELIVERED)
            process.time_of("Controller works", WORKING)
            _learn_answer(target)
            wait_for_calm(plane)
            yield target


def _prepare(plane: ControlPlane, folder: Path) -> None:
    """Make what the loads are about, and the reviews that are sent."""
    plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    account = named("v1", "ServiceAccount", NAMESPACE, ACCOUNT, automountServiceAccountToken=False)
    plane.create_all([(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", account)])
    pod = named("v1", "Pod", NAMESPACE, "app", spec={"serviceAccountName": ACCOUNT, "containers": [{"name": "app"}]})
    _write_review(folder / "small.json", PODS, pod)
    texts = {**pod, "filler": ["x" * 1000] * (LARGE // 1003)}
    _write_review(folder / "texts.json", PODS, texts)
    lists = {**pod, "filler": [["x" * 40]] * (LARGE // 45)}
    _write_review(folder / "lists.json", PODS, lists)


def _write_review(file: Path, resource: Resource, manifest: Mapping[str, Any]) -> None:
    document = review_document(asked_to_create(resource, dict(manifest)))
    document["request"]["uid"] = UID
    file.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")


def _learn_answer(target: Target) -> None:
    """Keep what the process answers without load: it has to answer the same under load."""
    body = (target.folder / "small.json").read_bytes()
    context = ssl.create_default_context(cafile=target.folder / "tls.crt")
    connection = http.client.HTTPSConnection("127.0.0.1", target.process.webhook_port, context=context)
    connection.request("POST", SMALL_REVIEWS, body, {"Content-Type": "application/json"})
    with contextlib.closing(connection):
        answer = connection.getresponse().read()
    if not json.loads(answer)["response"].get("patch"):
        raise AssertionError(f"expected a patch, got {answer!r}")
    (target.folder / "answer.json").write_bytes(answer)


# The loads.


@contextmanager
def _secrets(target: Target) -> Iterator[None]:
    """Deliver hostile Secrets, and change each of them every two seconds."""
    names = [f"hostile-{number}" for number in range(HOSTILE)]
    secrets = [_hostile_secret(name, number) for number, name in enumerate(names)]
    managed = [managed_resource(NAMESPACE, name, name, class_name=DELIVERED.class_name) for name in names]
    over = threading.Event()

    def change() -> None:
        for number in itertools.count():
            if over.wait(CHANGED_EVERY):
                return
            send_all(target.plane, [merged(each, _changed(each, number)) for each in secrets])

    send_all(target.plane, [made(each) for each in (*secrets, *managed)])
    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        send_all(target.plane, [removed(each) for each in managed])


def _hostile_secret(name: str, number: int) -> Manifest:
    """Values of which each alone is within the limits of what is decoded: nodes, or bytes."""
    nodes = {f"values-{each}.yaml.br": _packed(b"a: [" + b"1," * 90_000 + b"1]\n") for each in range(6)}
    size = {f"lines-{each}.yaml.br": _packed(b"\n" * (MOST_BYTES // 2)) for each in range(3)}
    return named("v1", "Secret", NAMESPACE, name, type="Opaque", data=nodes if number % 2 else size)


def _changed(secret: Manifest, number: int) -> Manifest:
    """A patch that makes a whole value another one."""
    key = next(iter(secret["data"]))
    return {"data": {key: _packed(b"a: [" + b"1," * (90_000 - number) + b"1]\n")}}


def _packed(text: bytes) -> str:
    return b64encode(brotli.compress(text, quality=5)).decode()


@contextmanager
def _probes(target: Target) -> Iterator[None]:
    """Ask for the health of the process, which asks a slow API server."""
    target.gateway.delay(LATENCY)
    options = ("-connections", str(ASKERS))
    with _beside(("requests", "-url", target.probe_url("/healthz"), *options)):
        yield


@contextmanager
def _connections(target: Target) -> Iterator[None]:
    """Open connections that never bring a whole request."""
    ports = (target.process.health_port, target.process.metrics_port)
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    rounds = ("-period", f"{ROUND}s")
    half_sent = [("crowd", "-url", url, "-connections", str(HALF_SENT // 2), *rounds) for url in urls]
    slow = [("crowd", "-url", url, "-connections", str(SLOW // 2), "-interval", "1s", *rounds) for url in urls]
    with _beside(*half_sent, *slow):
        yield


@contextmanager
def _reviews(target: Target) -> Iterator[None]:
    """Send large reviews, each connection one after the other."""
    options = ("-connections", "5", "-interval", "2s")
    url = target.review_url(LARGE_REVIEWS)
    bodies = [str(target.folder / name) for name in ("texts.json", "lists.json")]
    with _beside(*(("requests", "-url", url, "-body", body, *options) for body in bodies)):
        yield


@contextmanager
def _beside(*loads: Sequence[str]) -> Iterator[None]:
    """Loads that end with the block."""
    running = [RunningLoad(*arguments, "-seconds", LONG) for arguments in loads]
    try:
        yield
    finally:
        for each in running:
            each.end()


LOADS: Final[Mapping[str, Callable[[Target], AbstractContextManager[None]]]] = {
    "secrets": _secrets,
    "probes": _probes,
    "connections": _connections,
    "reviews": _reviews,
}
