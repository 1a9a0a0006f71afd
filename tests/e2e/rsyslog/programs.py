"""Gets the real programs that the tests of shoot-rsyslog-relp run, and prints the folder that they are in.

They come out of the distribution's packages, verified by apt, and are unpacked under `.cache/rsyslog` at the root of
the repository: nothing is installed or started. A second run returns at once. Needs apt-get, of Debian 12 or later.
"""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

CACHE: Final = Path(__file__).resolve().parents[3] / ".cache" / "rsyslog"
PACKAGES: Final = (
    *("rsyslog", "rsyslog-relp", "rsyslog-gnutls", "rsyslog-openssl"),
    *("librelp0", "libestr0", "libfastjson4", "liblognorm5"),
    *("auditd", "libauparse0", "libaudit1"),
    *("prometheus", "prometheus-node-exporter", "shellcheck"),
)
PLACES: Final = ("usr/bin", "usr/sbin", "bin", "sbin")


class ProgramsError(Exception):
    """The programs cannot be had here; the message says why."""


class Programs(NamedTuple):
    """The programs in a folder."""

    folder: Path

    def command(self, name: str, *arguments: object) -> list[str]:
        """How to call a program."""
        path = next(path for place in PLACES if (path := self.folder / place / name).exists())
        modules = ("-M", str(self.libraries / "rsyslog")) if name == "rsyslogd" else ()
        return [str(path), *modules, *map(str, arguments)]

    @property
    def libraries(self) -> Path:
        """The folder of the libraries that programs load."""
        return next((self.folder / "usr" / "lib").glob("*-linux-gnu"))

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment in which programs find their libraries."""
        others = self.folder / "lib" / self.libraries.name
        return {**os.environ, "LD_LIBRARY_PATH": f"{self.libraries}:{others}"}


def installed() -> Programs:
    """The programs, which are fetched first if need be.

    Raises:
        ProgramsError: they cannot be had here.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = CACHE / "complete"
        if not complete.exists():
            with tempfile.TemporaryDirectory() as folder:
                _download(Path(folder))
                for package in sorted(Path(folder).glob("*.deb")):
                    _run(["dpkg", "-x", str(package), str(CACHE)])
            complete.touch()
    return Programs(CACHE)


def _download(folder: Path) -> None:
    # The user of apt's sandbox may not write into a private folder.
    apt = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3"]
    try:
        _run([*apt, "download", *PACKAGES], folder)
    except ProgramsError:
        _run([*apt, "update"], folder)
        _run([*apt, "download", *PACKAGES], folder)


def _run(command: Sequence[str], folder: Path | None = None) -> None:
    try:
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ProgramsError(f"{command[0]}: {error.strerror}") from error
    if ended.returncode:
        raise ProgramsError(f"{command[0]} …: {ended.stderr.strip()[-500:]}")


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{installed().folder}\n")
    except ProgramsError as problem:
        sys.exit(f"error: {problem}")
