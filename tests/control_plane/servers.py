"""Where the server binaries are."""

import functools
import subprocess
import sys
from pathlib import Path

BUILD_SCRIPT = Path(__file__).resolve().parents[1] / "e2e" / "servers" / "build.py"


class ServersUnavailableError(Exception):
    """The binaries are not here and cannot be built; the message says why."""


@functools.cache
def server_binaries() -> Path:
    """The folder with etcd, kube-apiserver and the rest: built now if this is the first time."""
    built = subprocess.run([sys.executable, str(BUILD_SCRIPT)], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise ServersUnavailableError(built.stderr.strip())
    return Path(built.stdout.strip())
