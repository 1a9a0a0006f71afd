"""`hedgerow run` as a process that is measured: its start, processor time, memory, and metrics."""

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final, Self

import yaml
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from benchmarks.launch import REPOSITORY, Command
from tests.control_plane import ControlPlane, ServerError, wait_until
from tests.control_plane.processes import free_ports

PATIENCE: Final = 120.0
STOP_PATIENCE: Final = 30.0
LOG_TAIL: Final = 2000
KIBIBYTES_PER_MEBIBYTE: Final = 1024
PROCESSOR_CLOCK: Final = 2
"""In the last bits of the number by which Linux knows a process's clock; that in /proc ticks only each 10 ms."""
WORKING: Final = "networkpolicy"


class ResourceManager:
    """A running process, with the default configuration and whatever a measurement adds to its client connection."""

    def __init__(self, process: subprocess.Popen[bytes], began: float, log: Path, ports: Sequence[int]) -> None:
        self.began: Final = began
        """When it was started, in seconds of Unix time."""
        self._process = process
        self._log = log
        self.health_port, self.metrics_port, self.webhook_port = ports

    @classmethod
    @contextmanager
    def at_work(
        cls,
        command: Command,
        name: str,
        plane: ControlPlane,
        *,
        certificate: Path | None = None,
        controllers: Mapping[str, Any] | None = None,
        webhooks: Mapping[str, Any] = MappingProxyType({"highAvailabilityConfig": {"enabled": True}}),
        blocks: Path | None = None,
        election: Mapping[str, str] = MappingProxyType({}),
        **connection: Any,
    ) -> Iterator[Self]:
        """A process that is started now and ends, in good order, with the block.

        Args:
            command: how it is started.
            name: what it works at.
            plane: its cluster.
            certificate: a folder with one, by which it serves webhooks; none: it serves nothing.
            controllers: what it runs; none: the network policy controller.
            webhooks: which ones it serves, if any.
            election: fields for `leaderElection`.
            blocks: a file in which the blocks of its event loop are noted; none: they are not.
            connection: fields for `sourceClientConnection`.
        """
        ports = free_ports(3)
        content = _configuration(plane, ports, connection)
        content["leaderElection"] |= election
        content["controllers"] = controllers or {"networkPolicy": {"enabled": True}}
        if certificate is not None:
            content["server"]["webhooks"] = listening(ports[2]) | {"tls": {"serverCertDir": str(certificate)}}
            content["webhooks"] = dict(webhooks)
        with cls.running(command, name, "resource-manager", content, ports, blocks=blocks) as process:
            yield process

    @classmethod
    @contextmanager
    def running(
        cls,
        command: Command,
        name: str,
        component: str,
        configuration: Mapping[str, Any],
        ports: Sequence[int],
        *,
        blocks: Path | None = None,
    ) -> Iterator[Self]:
        """A process of a component with a configuration that names these ports: for probes, metrics, webhooks."""
        with TemporaryDirectory(prefix="hedgerow-benchmark-") as folder:
            config, log = Path(folder, "config.yaml"), Path(folder, "log")
            config.write_text(yaml.safe_dump(configuration), encoding="utf-8")
            arguments = ("run", component, "--config", str(config))
            if blocks is None:
                line = command.line(name, *arguments)
            else:
                line = command.line_of(name, "benchmarks.watched_loop", str(blocks), *arguments)
            environment = {name: value for name, value in os.environ.items() if not name.endswith("KUBECONFIG")}
            with log.open("wb") as output:
                began = time.time()
                process = subprocess.Popen(line, env=environment, cwd=REPOSITORY, stdout=output, stderr=output)
            running = cls(process, began, log, ports)
            try:
                yield running
                running._stop()
            finally:
                process.kill()
                process.wait()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    # What it uses.

    def processor_seconds(self) -> float:
        """Processor time of all its threads so far, its own and the kernel's for it."""
        return time.clock_gettime(~self._process.pid << 3 | PROCESSOR_CLOCK)

    def memory(self) -> float:
        """Resident memory now, in MiB."""
        return self._memory("VmRSS")

    def peak_memory(self) -> float:
        """The most resident memory so far, in MiB."""
        return self._memory("VmHWM")

    def open_files(self) -> int:
        """How many file descriptors it has, sockets among them."""
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))  # noqa: PTH208 -- only their number counts

    # What it says.

    def answers(self) -> bool:
        """Whether it answers probes."""
        return self._answer(self.health_port, "/healthz/ping")[0] == http.client.OK

    def is_ready(self) -> bool:
        """Whether it answers so."""
        return self._answer(self.health_port, "/readyz")[0] == http.client.OK

    def metrics(self) -> list[Sample]:
        """Every sample, as Prometheus would read it."""
        text = self._answer(self.metrics_port, "/metrics")[1]
        return [sample for family in text_string_to_metric_families(text) for sample in family.samples]

    def time_of(self, message: str, controller: str = "") -> float:
        """When it first logged a message, of that controller if one is named, in seconds of Unix time, once it has."""
        self.wait_for(lambda: self._line(message, controller) is not None, f'has not logged "{message}" {controller}')
        line = self._line(message, controller) or {}
        return datetime.fromisoformat(line["ts"]).timestamp()

    def count_lines(self, *levels: str) -> int:
        """How many lines of these levels it has logged."""
        return sum(line["level"] in levels for line in self._lines())

    def wait_for(self, condition: Callable[[], bool], problem: str) -> None:
        """Returns when a condition holds; fails at once when the process has ended."""

        def holds() -> bool:
            self.require_running()
            return condition()

        wait_until(holds, timeout=PATIENCE, otherwise=lambda: self._error(problem))

    def require_running(self) -> None:
        """Fails, with the end of its log, if it has ended."""
        if self._process.poll() is not None:
            raise self._error("has ended")

    def _stop(self) -> None:
        """Ask it to end: a process that is killed keeps its lease, and the next one waits for that."""
        self._process.send_signal(signal.SIGTERM)
        if code := self._process.wait(STOP_PATIENCE):
            raise self._error(f"ended with exit code {code}")

    def _line(self, message: str, controller: str) -> dict[str, Any] | None:
        ours = (line for line in self._lines() if line["msg"] == message)
        return next((line for line in ours if controller in {"", line.get("controller")}), None)

    def _lines(self) -> Iterator[dict[str, Any]]:
        """Those that are complete."""
        text = self._log.read_bytes()
        return (json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n"))

    def _error(self, problem: str) -> ServerError:
        return ServerError(f"hedgerow {problem}; its log ends with:\n{self._log.read_text()[-LOG_TAIL:]}")

    def _memory(self, field: str) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        lines = dict(line.split(":", 1) for line in status.splitlines())
        return int(lines[field].split()[0]) / KIBIBYTES_PER_MEBIBYTE

    @staticmethod
    def _answer(port: int, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except ConnectionError:
            return 0, ""
        finally:
            connection.close()


def total(samples: list[Sample], name: str, **labels: str) -> float:
    """The sum of the samples of a name that have these labels."""
    return sum(sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items())


def buckets(samples: list[Sample], histogram: str) -> dict[float, float]:
    """How many observations a histogram holds up to each of its bounds."""
    return {float(sample.labels["le"]): sample.value for sample in samples if sample.name == f"{histogram}_bucket"}


def _configuration(plane: ControlPlane, ports: Sequence[int], connection: Mapping[str, Any]) -> dict[str, Any]:
    health, metrics = map(listening, ports[:2])
    return {
        "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
        "kind": "ResourceManagerConfiguration",
        "sourceClientConnection": {"kubeconfig": str(plane.kubeconfig()), **connection},
        "server": {"healthProbes": health, "metrics": metrics},
        "leaderElection": {"resourceNamespace": "default"},
    }


def listening(port: int) -> dict[str, Any]:
    """An endpoint of `server` in a configuration."""
    return {"bindAddress": "127.0.0.1", "port": port}
