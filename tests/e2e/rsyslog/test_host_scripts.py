"""The scripts, the unit and the audit rules, as the programs take them that read them on a node."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hedgerow.rsyslog_relp import HostPaths
from hedgerow.rsyslog_relp.rendering import (
    cleaner_script,
    configurator_unit,
    configure_script,
    pstats_script,
)
from tests.e2e.rsyslog.programs import Programs

SCRIPTS = {
    "configure": (configure_script(), "bash"),
    "pstats": (pstats_script(), "bash"),
    "cleaner": (cleaner_script(), "dash"),
}
every_script = pytest.mark.parametrize("name", SCRIPTS)


@pytest.fixture
def script(name: str, tmp_path: Path) -> Path:
    (tmp_path / name).write_text(SCRIPTS[name][0])
    return tmp_path / name


@every_script
def test_shellcheck_finds_nothing(programs: Programs, name: str, script: Path) -> None:
    command = programs.command("shellcheck", "-s", SCRIPTS[name][1], script)
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=programs.environment)

    assert (ended.returncode, ended.stdout) == (0, "")


@every_script
def test_its_shell_reads_it(name: str, script: Path) -> None:
    ended = subprocess.run([SCRIPTS[name][1], "-n", str(script)], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")


def test_systemd_verifies_the_unit(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    paths = HostPaths.below(str(tmp_path))
    Path(paths.configure_script).parent.mkdir(parents=True)
    Path(paths.configure_script).write_text("#!/bin/sh\n")
    Path(paths.configure_script).chmod(0o755)
    unit = tmp_path / "rsyslog-configurator.service"
    unit.write_text(configurator_unit(paths))

    ended = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
