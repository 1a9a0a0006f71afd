"""Drives the installed command: `hedgerow run resource-manager` as a process of its own, and the commands that end."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar, Final, Self
from unittest import mock

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from hedgerow_entrypoints.cli.command import main
from tests.control_plane import PATIENCE, wait_until
from tests.control_plane.processes import Server, free_ports

COMMAND: Final = Path(sys.executable).with_name("hedgerow")
NETWORK_POLICIES: Final = "networkpolicy"
"""The controller that most tests are about."""

# What the person who runs the tests has set must not reach the command. No test relies on the authorities of the
# system, which aiohttp reads twice when it is imported: a tenth of each start.
_LEFT_OUT: Final = ("KUBECONFIG", "TARGET_KUBECONFIG")
_ENV: Final = [
    shutil.which("env") or "/usr/bin/env",
    *(f"--unset={name}" for name in _LEFT_OUT),
    f"SSL_CERT_FILE={os.devnull}",
]
_BASH: Final = shutil.which("bash") or "/bin/bash"
# Its output goes to its file by way of somebody who may write.
_WITHOUT_FILES: Final = [
    _BASH,
    "-c",
    'exec > >(cat) 2>&1; export PYTHONDONTWRITEBYTECODE=1; ulimit -f 0; exec "$@"',
    "without-files",
]

UNKNOWN_CLUSTER: Final = "It would not be noticed if a connection led to another cluster"
UNDEFINED: Final = "Nothing to do before the API server knows the resource"
HARMLESS: Final = frozenset({UNKNOWN_CLUSTER, UNDEFINED, "Warned", "Caches do not show own writes"})


def configuration(
    kubeconfig: Path | str, *, network_policy: Mapping[str, Any] | None = None, **sections: Any
) -> dict[str, Any]:
    """A component configuration with the controller enabled, without leader election unless a section says so.

    Sections replace, or add to, those of the document; `source` adds to `sourceClientConnection`.
    """
    source = sections.pop("source", {})
    return {
        "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
        "kind": "ResourceManagerConfiguration",
        "sourceClientConnection": {"kubeconfig": str(kubeconfig), **source},
        "leaderElection": {"leaderElect": False},
        "controllers": {"networkPolicy": {"enabled": True, **(network_policy or {})}},
        **sections,
    }


def run_command(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = PATIENCE,
    command: Sequence[str] = (str(COMMAND),),
) -> subprocess.CompletedProcess[str]:
    """What a command printed, and its exit code, once it has ended."""
    settings = [f"{name}={value}" for name, value in (environment or {}).items()]
    return subprocess.run(
        [*_ENV, *settings, *command, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def run_here(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own, where it does not matter that it is one: that takes most of the time."""
    without = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    environment = mock.patch.dict(os.environ, without, clear=True)
    output, talk = StringIO(), StringIO()
    with environment, redirect_stdout(output), redirect_stderr(talk), pytest.raises(SystemExit) as ended:
        main(arguments)
    code = int(ended.value.code or 0)
    return subprocess.CompletedProcess(arguments, code, output.getvalue(), talk.getvalue())


class ResourceManager(Server):
    """One process of the resource manager: a context manager that starts it, and kills it if it still runs.

    It listens on free ports of the loopback interface, and logs in JSON, which `log_lines` relies on. Where a test
    fails, the end of its output is shown.
    """

    component: ClassVar[str] = "resource-manager"
    """The component that it runs."""

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, Any],
        *,
        name: str = "resource-manager",
        record: Path | None = None,
        writes: bool = True,
        files: int | None = None,
        client_ca_file: str = "",
        shutdown_delay: str = "0s",
        tls: Mapping[str, Any] | None = None,
        webhook_port: int | None = None,
    ) -> None:
        """A process that has not been started.

        Args:
            folder: where its configuration and its output go, and where it looks for the certificate of its webhooks.
            config: as `configuration` makes it; its `server` is set here.
            name: tells the processes of one test apart.
            record: where it records its decisions; none: it does not.
            writes: whether it may write files, which it may not in a pod.
            files: how many it may have open; none: as many as the test.
            client_ca_file: the authorities of clients of its webhooks; empty: these need no certificate.
            shutdown_delay: for how long its webhooks answer once it is told to end.
            tls: adds to what its configuration says of the certificate of its webhooks.
            webhook_port: where these are served; none: at a free port.
        """
        self.health_port, self.metrics_port, self.webhook_port = free_ports(3)
        self.webhook_port = webhook_port or self.webhook_port
        self.config_file = folder / f"{name}.yaml"
        endpoints = {"healthProbes": self.health_port, "metrics": self.metrics_port, "webhooks": self.webhook_port}
        server: dict[str, dict[str, Any]] = {
            endpoint: {"bindAddress": "127.0.0.1", "port": port} for endpoint, port in endpoints.items()
        }
        server["webhooks"]["tls"] = {"serverCertDir": str(folder), "clientCAFile": client_ca_file, **(tls or {})}
        server["webhooks"]["shutdownDelay"] = shutdown_delay
        self.config_file.write_text(yaml.safe_dump({"logFormat": "json", **config, "server": server}), encoding="utf-8")
        command = [*_ENV, str(COMMAND), "run", self.component, "--config", str(self.config_file)]
        command += ["--record", str(record)] if record is not None else []
        if files is not None:
            command = [_BASH, "-c", f'ulimit -n {files}; exec "$@"', "few-files", *command]
        super().__init__(name, command if writes else [*_WITHOUT_FILES, *command], folder / f"{name}.log")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        print(self.error("was at work in this test"))  # noqa: T201 -- pytest shows it if the test fails

    # How it ends.

    def send_signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self, timeout: float = PATIENCE) -> int:
        """The exit code, once it has ended."""
        assert self._process is not None
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise self.error(f"has not ended within {timeout} s") from None

    def terminate(self, timeout: float = PATIENCE) -> int:
        """Ask it to end; its exit code."""
        self.send_signal(signal.SIGTERM)
        return self.wait(timeout)

    def kill(self) -> None:
        """End it as a crash would."""
        self.stop(grace=0)

    # What it says.

    def output(self) -> str:
        """Everything that it has written so far."""
        return self.log.read_text(encoding="utf-8")

    def log_lines(self, msg: str = "", *, level: str = "") -> list[dict[str, Any]]:
        """Its log lines so far, those whose message begins so, of that level; output that is no log line fails."""
        lines = [json.loads(line) for line in self.output().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in lines if line["msg"].startswith(msg) and level in {"", line["level"]}]

    def probe(self, path: str) -> tuple[int, str]:
        """Status and text of an answer from the port for health probes; status 0 where nobody listens."""
        return _answer(self.health_port, path)

    def metrics(self) -> str:
        """Its metrics, as Prometheus would read them."""
        return _answer(self.metrics_port, "/metrics")[1]

    def metric(self, name: str, /, **labels: str) -> float:
        """The sum of the samples of that name with these labels."""
        return _sum_of(self.metrics(), name, labels)

    def failed_requests(self) -> float:
        """How many requests got no answer."""
        return self.metric("rest_client_requests_total", code="<error>")

    # What to wait for.

    def wait_ready(self, timeout: float = PATIENCE) -> None:
        """Returns when it says that it is ready."""
        self.wait_for(lambda: self.probe("/readyz")[0] == http.client.OK, "is not ready", timeout)

    def wait_for_line(self, msg: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """The first log line whose message begins so, once there is one."""
        self.wait_for(lambda: bool(self.log_lines(msg)), f'has not logged "{msg}"', timeout)
        return self.log_lines(msg)[0]

    def wait_until_at_work(self, controller: str = NETWORK_POLICIES, timeout: float = PATIENCE) -> None:
        """Returns once a controller works because this process leads."""
        self.wait_until_working(controller, timeout, role="leader")

    def wait_until_working(self, controller: str, timeout: float = PATIENCE, **members: str) -> None:
        """Returns once a controller works."""
        wanted = {"controller": controller, **members}.items()

        def works() -> bool:
            lines = self.log_lines("Controller works")
            return any(all(line[name] == value for name, value in wanted) for line in lines)

        self.wait_for(works, "does not work", timeout)

    def why_it_failed(self) -> str:
        """The reason for its end, as the last line of its log says it."""
        last = self.log_lines()[-1]
        assert (last["level"], last["msg"]) == ("error", "Process failed")
        return str(last["error"])

    def wait_until_idle(self, timeout: float = PATIENCE) -> None:
        """Returns once it has looked at everything that there was when it began, and nothing is left in its queues."""
        keys = self.keys_at_first(timeout)
        self.wait_for(lambda: is_idle(self.metrics(), {NETWORK_POLICIES: keys}), "is not idle", timeout)

    def keys_at_first(self, timeout: float = PATIENCE) -> int:
        """How much there was to look at for network policies when it began."""

        def lines() -> list[dict[str, Any]]:
            return [line for line in self.log_lines("Starting workers") if line.get("controller") == NETWORK_POLICIES]

        self.wait_for(lines, "has not begun to work", timeout)
        keys: int = lines()[0]["keys"]
        return keys

    def wait_for(self, condition: Any, problem: str, timeout: float = PATIENCE) -> None:
        """Returns when a condition holds; fails at once when the process has ended."""

        def holds() -> bool:
            self.require_running()
            return bool(condition())

        wait_until(holds, timeout=timeout, otherwise=lambda: self.error(f"{problem}, within {timeout} s"))


def is_idle(metrics: str, looked_at: Mapping[str, float]) -> bool:
    """Whether controllers have looked at so many keys, and nobody is at work nor has anything left in a queue."""
    done = {name: _sum_of(metrics, "controller_runtime_reconcile_total", {"controller": name}) for name in looked_at}
    left = _sum_of(metrics, "workqueue_depth") + _sum_of(metrics, "controller_runtime_active_workers")
    return left == 0 and all(done[name] >= keys for name, keys in looked_at.items())


def _sum_of(metrics: str, name: str, labels: Mapping[str, str] = MappingProxyType({})) -> float:
    """The sum of the samples of that name with these labels; lines about others are not even parsed."""
    lines = "".join(f"{line}\n" for line in metrics.splitlines() if line.startswith((f"{name}{{", f"{name} ")))
    samples = [sample for family in text_string_to_metric_families(lines) for sample in family.samples]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


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


def errors_of(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """What worrying log lines say, for an assertion that shows them.

    Roles that tests write by hand need not let the process get the namespace kube-system. And on a busy machine an API
    server may send a watch event seconds after the write that it is about. Few tests define ManagedResources. A warning
    about an object is an event as well.
    """
    worrying = [line for line in lines if line["level"] in {"error", "warning"} and line["msg"] not in HARMLESS]
    return [f"{line['msg']}: {line.get('error', '')}" for line in worrying]
