"""What is published works where nothing of the repository is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.built_wheel import install_wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(tmp_path_factory.mktemp("wheel"))


def run_installed(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What the installed command does in a folder that knows nothing of the repository."""
    environment = {name: value for name, value in os.environ.items() if name not in {"KUBECONFIG", "PYTHONPATH"}}
    return subprocess.run(
        [sys.executable, str(installed / "bin" / "hedgerow"), *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_comes_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    where = "import hedgerow, hedgerow_adapters, hedgerow_entrypoints as e; print(hedgerow.__file__, e.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", where], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert all(Path(file).is_relative_to(installed) for file in done.stdout.split())
    assert {"hedgerow", "hedgerow_adapters", "hedgerow_entrypoints"} <= {each.name for each in installed.iterdir()}
    assert (installed / "hedgerow" / "py.typed").exists()


def test_the_installed_demo_brings_its_landscape_along(installed: Path, tmp_path: Path) -> None:
    done = run_installed(installed, tmp_path, "demo")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("A small Gardener seed cluster, in memory")
    assert f"hedgerow plan networkpolicy -f {installed}" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_installed_examples_can_be_planned_for(installed: Path, tmp_path: Path) -> None:
    (landscape,) = installed.rglob("landscape/garden.yaml")
    done = run_installed(installed, tmp_path, "plan", "networkpolicy", "-f", str(landscape.parent), "-o", "table")

    assert done.returncode == 2
    assert done.stdout.startswith("ACTION")
    assert "NetworkPolicy" in done.stdout


def test_the_installed_command_brings_its_charts_along(installed: Path, tmp_path: Path) -> None:
    done = run_installed(installed, tmp_path, "install", "rsyslog-relp", "--as", "controller-registration")

    assert done.returncode == 0
    assert "chart: " in done.stdout


def test_the_installed_command_can_run(installed: Path, tmp_path: Path) -> None:
    """Every module that the process needs is in the wheel: without a kubeconfig it gets as far as asking for one."""
    config = tmp_path / "config.yaml"
    lines = (
        "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1",
        "kind: ResourceManagerConfiguration",
        "leaderElection: {leaderElect: false}",
    )
    config.write_text("\n".join(lines), encoding="utf-8")

    done = run_installed(installed, tmp_path, "run", "resource-manager", "--config", str(config))

    assert done.returncode == 1
    assert json.loads(done.stderr.splitlines()[-1])["error"].startswith("no kubeconfig is given")
