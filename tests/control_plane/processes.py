"""Server processes that end with the process that started them, and waiting for them with a bound."""

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LOG_TAIL = 4000
POLL_INTERVAL = 0.02
LONGEST_POLL_INTERVAL = 0.25
PATIENCE = 300.0
"""Seconds that only a hang exceeds, however busy the machine is. Tests wait for conditions no longer than that."""

# Below the range from which outgoing connections get their ports (32768 and up on Linux): a server that
# is stopped for a moment would otherwise find its own port taken by a client's connection.
PORTS = range(20_000, 32_768)

# Becomes the server, after asking the kernel to kill it when its parent dies, however that happens. This
# runs in a small interpreter of its own, as code between fork and exec is unsafe in a threaded parent.
_BECOME_SERVER = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""

# The kernel's "parent" is the thread that forked, not the process. So every server is started from this
# one thread, which lives as long as the interpreter; a test's own thread may end at any time.
_LAUNCHER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="server-launcher")


class ServerError(Exception):
    """A server did not start or did not do its work; the message ends with the tail of its log."""


class Server:
    """One server process whose output goes to a file."""

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        self._command = tuple(command)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, while there is a process."""
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the process; whether it serves is for the caller to poll."""
        if self.running:
            raise ServerError(f"{self.name} is running already")
        self._process = _LAUNCHER.submit(self._launch).result()

    def stop(self, *, grace: float = 10.0) -> None:
        """Ends the process: asks first, and kills it after the grace period, or at once if that is zero."""
        if self._process is None:
            return
        process, self._process = self._process, None
        if grace > 0 and process.poll() is None:
            process.terminate()
            try:
                process.wait(grace)
            except subprocess.TimeoutExpired:
                pass
            else:
                return
        process.kill()
        process.wait()

    def require_running(self) -> None:
        """Fails with the tail of the log if the process has ended."""
        if not self.running:
            raise self.error("has ended")

    def error(self, problem: str) -> ServerError:
        """An error about this server that carries what the server said last."""
        tail = self.log.read_text(errors="replace")[-LOG_TAIL:] if self.log.exists() else "(no log)"
        return ServerError(f"{self.name} {problem}; its log ends with:\n{tail}")

    def _launch(self) -> subprocess.Popen[bytes]:
        """Starts in a session of its own: an interrupt at the terminal is the tests' to handle."""
        launcher = [sys.executable, "-I", "-S", "-c", _BECOME_SERVER, str(os.getpid())]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*launcher, *self._command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def wait_until(condition: Callable[[], bool], *, timeout: float, otherwise: Callable[[], Exception]) -> None:
    """Polls a condition until it holds, and raises what `otherwise` makes once the time is over.

    What has been waited for for long is looked at less often, as looking takes processor time from what is waited for.
    """
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        if waited > timeout:
            raise otherwise()
        time.sleep(min(POLL_INTERVAL + waited / 20, LONGEST_POLL_INTERVAL))


def free_ports(count: int) -> list[int]:
    """Different loopback ports that nothing listens on now."""
    candidates = random.SystemRandom().sample(PORTS, k=len(PORTS))
    free = [port for port, _ in zip((port for port in candidates if _is_free(port)), range(count), strict=False)]
    if len(free) < count:
        raise ServerError(f"no {count} free ports in {PORTS}")
    return free


def resident_bytes(pid: int) -> int:
    """The memory that a process holds now."""
    fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
