"""How fast and how steadily the high availability webhook answers over HTTPS, while its certificate is replaced too."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.deployment import deployment, namespace
from benchmarks.figures import Figure
from benchmarks.launch import REPOSITORY, Command
from benchmarks.load_generator import UID, Load, load
from benchmarks.webhook_process import CONFIG
from hedgerow.admission import creation
from hedgerow.admission.high_availability import WorkloadFacts, decide
from hedgerow.admission.review import V1, answer
from hedgerow.api.kubernetes import DEPLOYMENTS
from hedgerow_adapters.protocol import json_codec
from hedgerow_adapters.registrations.dispatch import review_document
from tests.e2e.admission_server.clients import issue, swap

PATH: Final = "/webhooks/high-availability-config?timeout=10s"
SECONDS: Final = 10
RATES: Final = {1: 1900, 16: 2600, 64: 3000}
"""Goals: reviews per second by connections."""
MANY: Final = 100_000
ROTATION: Final = 5
ROTATIONS: Final = 24
PATIENCE: Final = 600
KIBIBYTES_PER_MEBIBYTE: Final = 1024


@dataclass(frozen=True, slots=True)
class Server:
    """A process that serves the webhook, and the folder of its certificate and of the documents."""

    url: str
    pid: int
    folder: Path

    def load(self, *options: str) -> Load:
        """Put load on it; an answer that is not the expected one ends the measurement."""
        came_of_it = load(self.url, self.folder, *options)
        if came_of_it.failures:
            raise AssertionError(f"{came_of_it.failures} reviews failed: {came_of_it.first_failure}")
        return came_of_it

    def memory(self) -> float:
        """Resident, in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        lines = dict(line.split(":", 1) for line in status.splitlines())
        return int(lines["VmRSS"].split()[0]) / KIBIBYTES_PER_MEBIBYTE


def measure(command: Command, seconds: int = SECONDS, rotations: int = ROTATIONS) -> Iterator[Figure]:
    """Reviews per second and latencies by connections, what memory does, and how many requests a rotation costs."""
    with _serving(command) as server:
        server.load("-seconds", "2", "-connections", "16")
        for connections, goal in RATES.items():
            came_of_it = server.load("-seconds", str(seconds), "-connections", str(connections))
            what = f"reviews over HTTPS, {connections} connection{'s' if connections > 1 else ''}"
            yield Figure.at_least(what, came_of_it.per_second, "reviews/s", goal)
            if connections == 1:
                yield Figure.at_most(f"{what}: half of them within", came_of_it.p50, "ms", 0.5)
            yield tail(what, connections, came_of_it)
        before = server.memory()
        server.load("-seconds", str(PATIENCE), "-connections", "16", "-requests", str(MANY))
        yield Figure.at_most(f"memory that {MANY} reviews leave behind", server.memory() - before, "MiB", 5)
        yield Figure("memory of the process", server.memory(), "MiB")
        yield _rotated(server, rotations)


def tail(what: str, connections: int, came_of_it: Load) -> Figure:
    """The latency that 99 % of reviews stay below."""
    name = f"{what}: 99 % of them within"
    if connections == 16:  # noqa: PLR2004 -- the row that has a goal
        return Figure.at_most(name, came_of_it.p99, "ms", 15)
    return Figure(name, came_of_it.p99, "ms")


def _rotated(server: Server, rotations: int) -> Figure:
    """Replace pair and authority again and again while clients ask that trust those in use and the next ones."""
    bundle = server.folder / "ca.crt"
    pairs = [server.folder / "pair"]
    _write(bundle, pairs)
    options = ["-connections", "16", "-per-connection", "25", "-ca", str(bundle), "-seconds", str(rotations * ROTATION)]
    outcome: list[Load] = []
    loading = threading.Thread(target=lambda: outcome.append(load(server.url, server.folder, *options)))
    loading.start()
    for number in range(1, rotations):
        began = time.monotonic()
        pairs.append(issue(server.folder / f"pair-{number}"))
        _write(bundle, pairs[-2:])
        time.sleep(1)
        swap(server.folder / "mount", pairs[-1])
        time.sleep(max(0.0, began + ROTATION - time.monotonic()))
    loading.join()
    (came_of_it,) = outcome
    what = f"failed of {came_of_it.requests} reviews on {came_of_it.handshakes} connections, {rotations - 1} rotations"
    return Figure.at_most(what, came_of_it.failures, "", 0)


def _write(bundle: Path, pairs: list[Path]) -> None:
    """A bundle that nobody ever reads half of."""
    complete = bundle.with_suffix(".new")
    complete.write_text("".join((pair / "tls.crt").read_text(encoding="ascii") for pair in pairs), encoding="ascii")
    complete.rename(bundle)


@contextlib.contextmanager
def _serving(command: Command) -> Iterator[Server]:
    with TemporaryDirectory(prefix="hedgerow-benchmark-") as name:
        folder = Path(name)
        swap(folder / "mount", issue(folder / "pair"))
        _write_documents(folder)
        line = command.line_of("admission", "benchmarks.webhook_process", str(folder / "mount"))
        with subprocess.Popen(
            line, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None  # noqa: S101 -- for the type checker
            assert process.stdin is not None  # noqa: S101 -- for the type checker
            yield Server(f"https://127.0.0.1:{process.stdout.readline().strip()}{PATH}", process.pid, folder)
            process.stdin.close()


def _write_documents(folder: Path) -> None:
    """What is asked, as an API server would, and what is to be answered."""
    request = creation(DEPLOYMENTS, deployment())
    question = review_document(request)
    question["request"]["uid"] = UID
    decision = decide(request, WorkloadFacts(namespace()), CONFIG)
    (folder / "review.json").write_bytes(json_codec.encode(question))
    (folder / "answer.json").write_bytes(json_codec.encode(answer(V1, UID, decision, json_codec.encode)))
