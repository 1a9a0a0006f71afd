"""What the kernel says about a process: how much it works, and what it holds."""

import os
from pathlib import Path
from typing import Final

from tests.control_plane.processes import Server, resident_bytes

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_UTIME, _STIME, _THREADS = 11, 12, 17
"""Places in /proc/PID/stat, counted from after the name of the command."""


def cpu_seconds(server: Server) -> float:
    """The processor time that it has used since it began."""
    fields = _stat(server)
    return (int(fields[_UTIME]) + int(fields[_STIME])) / _TICKS


def threads(server: Server) -> int:
    return int(_stat(server)[_THREADS])


def open_files(server: Server) -> int:
    """How many file descriptors it has, sockets among them."""
    return len(os.listdir(f"/proc/{_pid(server)}/fd"))  # noqa: PTH208 -- only their number counts


def resident_kib(server: Server) -> int:
    """The memory that it holds."""
    return resident_bytes(_pid(server)) // 1024


def most_resident_kib(server: Server) -> int:
    """The most memory that it has held since it began."""
    status = Path(f"/proc/{_pid(server)}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


def _stat(server: Server) -> list[str]:
    return Path(f"/proc/{_pid(server)}/stat").read_text(encoding="ascii").rpartition(")")[2].split()


def _pid(server: Server) -> int:
    assert server.pid is not None
    return server.pid
