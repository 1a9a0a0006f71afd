"""Puts load on a process, from a process of its own, and measures how fast it answers."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from benchmarks.launch import REPOSITORY
from tests.control_plane import ControlPlane
from tests.e2e.servers.build import go_command

SOURCES: Final = REPOSITORY / "benchmarks" / "load"
CACHE: Final = REPOSITORY / ".cache" / "load"
UID: Final = "00000000-0000-0000-0000-000000000000"
"""Stands in both documents for the UID of the very request."""


@dataclass(frozen=True, slots=True)
class Load:
    """The result of a load. Latencies are in milliseconds, of requests that were answered as expected."""

    requests: int
    failures: int
    handshakes: int
    per_second: float
    p50: float
    p99: float
    longest: float
    first_failure: str

    @classmethod
    def of(cls, report: dict[str, Any]) -> Self:
        """A report of the load generator."""
        return cls(
            requests=report["requests"],
            failures=report["failures"],
            handshakes=report["handshakes"],
            per_second=report["perSecond"],
            p50=report["p50"],
            p99=report["p99"],
            longest=report["max"],
            first_failure=report.get("firstFailure", ""),
        )


class RunningLoad:
    """A load that is put on a process beside other work."""

    def __init__(self, *arguments: str) -> None:
        """A load that begins now.

        Args:
            arguments: of the load generator; the first is its command.
        """
        # Its standard input ends with this process, and so does the load.
        command = [str(built()), *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def report(self) -> dict[str, Any]:
        """The result, once the load has ended."""
        with self._process as process:
            output = process.stdout.read() if process.stdout else ""
            if process.wait():
                raise RuntimeError(f"the load generator ended with exit code {process.returncode}")
        report: dict[str, Any] = json.loads(output)
        return report

    def end(self) -> dict[str, Any]:
        """The result so far; the load ends."""
        if self._process.stdin:
            self._process.stdin.close()
        return self.report()


class SlowGateway:
    """Stands before an API server, in plain HTTP, and hands its answers on late; watch events pass at once.

    A context manager; processes reach it by `kubeconfig`.
    """

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self.url: Final = url

    @classmethod
    @contextmanager
    def before(cls, plane: ControlPlane) -> Iterator[Self]:
        """A gateway that adds no latency yet."""
        command = [str(built()), "gateway", "-upstream", plane.url, "-ca", str(plane.ca_file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
            if process.stdin is None or process.stdout is None:
                raise AssertionError("both are pipes")
            yield cls(process, f"http://127.0.0.1:{process.stdout.readline().strip()}")
            process.stdin.close()

    def delay(self, seconds: float) -> None:
        """Hand every answer on so late from now on."""
        self._tell(f"delay {seconds:f}s")

    def refuse(self, path: str) -> None:
        """Answer requests for paths that end so with 503, until `serve`."""
        self._tell(f"refuse {path}")

    def serve(self) -> None:
        """Hand on every request again."""
        self._tell("serve")

    def _tell(self, line: str) -> None:
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("both are pipes")
        self._process.stdin.write(f"{line}\n")
        self._process.stdout.readline()


def built() -> Path:
    """The load generator: built now if there is none of these sources."""
    sources = sorted(SOURCES.iterdir())
    key = hashlib.sha256(b"\n".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    target = CACHE / key / "load"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        half_built = target.with_suffix(f".{os.getpid()}")
        command = [go_command(), "build", "-trimpath", "-buildvcs=false", "-o", str(half_built), "."]
        environment = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local"}
        subprocess.run(command, cwd=SOURCES, check=True, env=environment)
        half_built.rename(target)
    return target


def load(url: str, folder: Path, *options: str) -> Load:
    """Put load on a webhook until it ends.

    Args:
        url: where it is.
        folder: holds `review.json`, which is sent, and `answer.json`, which is expected.
        options: of the load generator.
    """
    files = ["-body", str(folder / "review.json"), "-answer", str(folder / "answer.json")]
    return Load.of(RunningLoad("requests", "-url", url, *files, *options).report())
