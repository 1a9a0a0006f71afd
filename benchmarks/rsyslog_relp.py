"""How long the files of a node take to render, an OperatingSystemConfig to decide about, statistics to be written."""

import itertools
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import Figure
from hedgerow.rsyslog_relp import HostPaths, RsyslogRelpConfig, ShootIdentity, decode, node_files
from hedgerow.rsyslog_relp.operating_system_config import with_node_files
from hedgerow.rsyslog_relp.rendering import pstats_script

BASH: Final = shutil.which("bash") or "/bin/bash"
RUNS: Final = 9
TIMES: Final = 200
DOCUMENT: Final[Mapping[str, Any]] = {
    "apiVersion": "rsyslog-relp.extensions.gardener.cloud/v1alpha1",
    "kind": "RsyslogRelpConfig",
    "target": "logs.example.com",
    "port": 2514,
    "loggingRules": [{"programNames": ["kubelet", "containerd"], "severity": 5}, {"severity": 3}],
    "tls": {"enabled": True, "secretReferenceName": "rsyslog-tls", "permittedPeer": ["logs.example.com"]},
}
PLAIN: Final = {**DOCUMENT, "tls": None}
_NUMBERS: Final = itertools.count()
OTHERS: Final = 40
"""Files and units that are no business of the extension, in an OperatingSystemConfig."""
RECORD: Final = (
    'rsyslogd-pstats: { "name": "rsyslog-relp", "origin": "core.action", "processed": 5, "failed": 1, '
    '"suspended": 1, "suspended.duration": 30, "resumed": 0 }'
)
BATCH: Final = f"rsyslogd-pstats: BEGIN\n{RECORD}\nrsyslogd-pstats: END\n"


def measure() -> Iterator[Figure]:
    """Milliseconds for each."""
    config = decode(DOCUMENT, is_strict=True).unwrap()
    osc = operating_system_config()
    yield Figure.at_most("all files of a node rendered", _milliseconds(lambda: [*_files(config)]), "ms", 1)
    decided = _milliseconds(lambda: with_node_files(osc, config, _another_shoot(), "ref-rsyslog-tls"))
    yield Figure("an OperatingSystemConfig with 40 files of others decided about", decided, "ms")
    yield Figure.at_most("process-rsyslog-pstats.sh, from one batch of statistics to its end", _script(), "ms", 30)


def _files(config: RsyslogRelpConfig) -> Iterator[Mapping[str, Any]]:
    return node_files(config, _another_shoot(), "ref-rsyslog-tls")


def _another_shoot() -> ShootIdentity:
    """One for which nothing has been rendered."""
    return ShootIdentity("core", "example", f"c2c7747b-1111-4222-8333-{next(_NUMBERS):012}")


def operating_system_config() -> Mapping[str, Any]:
    """The part of one that counts, with files and units of others."""
    content = {"inline": {"encoding": "b64", "data": "x" * 400}}
    files = [{"path": f"/etc/theirs/{number}", "permissions": 0o644, "content": content} for number in range(OTHERS)]
    units = [{"name": f"theirs-{number}.service", "content": "x" * 400} for number in range(OTHERS // 4)]
    return {"spec": {"purpose": "reconcile", "files": files, "units": units}}


def _milliseconds(work: Callable[[], object]) -> float:
    def run() -> float:
        began = time.perf_counter()
        for _ in range(TIMES):
            work()
        return (time.perf_counter() - began) / TIMES * 1000

    return statistics.median(run() for _ in range(RUNS))


def _script() -> float:
    with tempfile.TemporaryDirectory() as folder:
        paths = HostPaths.below(folder)
        Path(paths.textfile_dir).mkdir(parents=True)
        script = Path(folder) / "pstats.sh"
        script.write_text(pstats_script(paths))

        def run() -> float:
            began = time.perf_counter()
            subprocess.run([BASH, str(script)], input=BATCH, text=True, check=True, capture_output=True)
            return (time.perf_counter() - began) * 1000

        return statistics.median(run() for _ in range(RUNS * RUNS))
