"""The wheel, built and installed where nothing else of the repository is."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def install_wheel(folder: Path) -> Path:
    """A folder below another that holds the packages of the built wheel, and nothing else."""
    dist, target = folder / "dist", folder / "installed"
    _succeed(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist))
    (wheel,) = dist.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-index")
    _succeed(*pip, "--target", str(target), str(wheel))
    return target


def _succeed(*command: str) -> None:
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
