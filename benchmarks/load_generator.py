"""Asks a webhook server for reviews, from a process of its own, and checks each answer."""

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.launch import REPOSITORY
from tests.e2e.servers.build import go_command

SOURCES: Final = REPOSITORY / "benchmarks" / "load"
CACHE: Final = REPOSITORY / ".cache" / "load"
UID: Final = "00000000-0000-0000-0000-000000000000"
"""Stands in both documents for the UID of the very request."""


@dataclass(frozen=True, slots=True)
class Load:
    """What came of it. Latencies are in milliseconds, of reviews that were answered as expected."""

    requests: int
    failures: int
    handshakes: int
    per_second: float
    p50: float
    p99: float
    first_failure: str


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
    """Put load on a webhook.

    Args:
        url: where it is.
        folder: holds `review.json`, which is sent, and `answer.json`, which is expected.
        options: of the load generator.
    """
    files = ["-body", str(folder / "review.json"), "-answer", str(folder / "answer.json")]
    done = subprocess.run([str(built()), "-url", url, *files, *options], check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return Load(
        requests=report["requests"],
        failures=report["failures"],
        handshakes=report["handshakes"],
        per_second=report["perSecond"],
        p50=report["p50"],
        p99=report["p99"],
        first_failure=report.get("firstFailure", ""),
    )
