"""The trial on one machine that the documentation describes, as a reader would copy it."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.control_plane import PATIENCE, ControlPlane
from tests.control_plane.processes import free_ports
from tests.e2e.resource_manager import COMMAND

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
TRIAL = PAGE.read_text(encoding="utf-8").partition("### A trial on one machine")[2]


def block(language: str) -> str:
    """The first example in a language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", TRIAL, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def trial(tmp_path: Path) -> str:
    """The commands, in a folder with the configuration; ports are some that are free."""
    commands, configuration = block("sh"), block("yaml")
    documented = re.findall(r"port: (\d+)", configuration)
    ports = dict(zip(documented, map(str, free_ports(len(documented))), strict=True))
    anywhere = re.compile("|".join(documented))
    commands, configuration = (anywhere.sub(lambda found: ports[found[0]], text) for text in (commands, configuration))
    (tmp_path / "trial.yaml").write_text(configuration)
    return commands


def test_a_pod_gets_the_profile_that_the_trial_promises(servers: Path, trial: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(COMMAND.parent), str(servers), os.environ["PATH"]])
    with ControlPlane() as own:
        # Its own: what is registered here concerns every pod there is.
        (tmp_path / "kubeconfig").write_text(own.kubeconfig("admin").read_text())
        shell = subprocess.Popen(
            ["bash", "-e", "-o", "pipefail", "-c", trial],
            cwd=tmp_path,
            env=os.environ | {"PATH": path, "HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            printed, _ = shell.communicate(timeout=PATIENCE)
        finally:
            # Where a command has failed, the process in the background is still there.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)

    assert shell.returncode == 0, printed
    assert "RuntimeDefault" in printed
