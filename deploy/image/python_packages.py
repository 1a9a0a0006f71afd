"""The layers of Python packages: the pinned ones from the index, and the project's own wheel."""

import os
import sys
from pathlib import Path
from typing import Final

from installer import install
from installer.destinations import SchemeDictionaryDestination
from installer.sources import WheelFile

from deploy.image.archive import MODIFIED
from deploy.image.base import PYTHON
from deploy.image.running import output_of

FOLDER: Final = f"usr/local/lib/{PYTHON}/dist-packages"
_SCHEME: Final = {
    "purelib": f"/{FOLDER}",
    "platlib": f"/{FOLDER}",
    "headers": "/usr/local/include",
    "scripts": "/usr/local/bin",
    "data": "/usr/local",
}
_GLIBC: Final = 36
"""The minor version of the C library of the base: wheels may ask for this one or an older one."""
_PROCESSORS: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_PIP: Final = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


def downloaded(pins: Path, machine: str, folder: Path) -> list[Path]:
    """The wheels of the pins for the image's Python, each checked by its hash."""
    processor = _PROCESSORS[machine]
    platforms = [f"manylinux_2_{minor}_{processor}" for minor in range(_GLIBC, 16, -1)]
    platforms.append(f"manylinux2014_{processor}")
    output_of(
        *(*_PIP, "download", "--require-hashes", "--no-deps", "--only-binary", ":all:"),
        *("--implementation", "cp", "--python-version", PYTHON.removeprefix("python")),
        *(f"--platform={each}" for each in platforms),
        *("--dest", folder, "--requirement", pins),
        doing="fetching the pinned Python packages",
    )
    return sorted(folder.glob("*.whl"))


def built_wheel(repository: Path, folder: Path) -> Path:
    """The wheel of this source."""
    output_of(
        *(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder),
        doing="building the wheel",
        folder=repository,
        environment={**os.environ, "SOURCE_DATE_EPOCH": str(MODIFIED)},
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def install_wheels(wheels: list[Path], layer: Path) -> None:
    """The packages of wheels in a layer, with their commands."""
    for wheel in wheels:
        destination = SchemeDictionaryDestination(
            _SCHEME, interpreter=f"/usr/bin/{PYTHON}", script_kind="posix", destdir=str(layer)
        )
        with WheelFile.open(wheel) as source:
            install(source, destination, additional_metadata={"INSTALLER": b"hedgerow image\n"})
