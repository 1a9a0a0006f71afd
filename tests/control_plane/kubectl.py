"""The kubectl of the same version as the servers."""

import os
import subprocess
from pathlib import Path

from tests.control_plane.processes import PATIENCE


class KubectlError(Exception):
    """kubectl failed; the message is what it said."""


def run_kubectl(binary: Path, *arguments: str, kubeconfig: Path, cache: Path, standard_input: str | None) -> str:
    """What kubectl prints; the user's own configuration and cache are not looked at."""
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(cache)}
    done = subprocess.run(
        [str(binary), *arguments],
        input=standard_input,
        stdin=subprocess.DEVNULL if standard_input is None else None,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode != 0:
        raise KubectlError(f"kubectl {' '.join(arguments)}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout
