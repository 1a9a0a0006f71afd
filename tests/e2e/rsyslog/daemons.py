"""Real rsyslogd processes: a server that receives over RELP, and a node with a rendered configuration."""

import contextlib
import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from hedgerow.rsyslog_relp import HostPaths, RsyslogRelpConfig, ShootIdentity, rsyslog_configuration
from tests.e2e.rsyslog.programs import Programs

PATIENCE: Final = 120.0
SHOOT: Final = ShootIdentity("foo", "bar", "uid")
INTERVAL: Final = 2


def eventually(is_so: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    until = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def checked(programs: Programs, configuration: Path) -> subprocess.CompletedProcess[str]:
    """What rsyslogd says of a configuration file."""
    command = programs.command("rsyslogd", "-N1", "-f", configuration)
    return subprocess.run(command, capture_output=True, text=True, check=False, env=programs.environment)


@contextlib.contextmanager
def running(programs: Programs, configuration: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """An rsyslogd that is ended with the context."""
    command = programs.command("rsyslogd", "-n", "-iNONE", "-f", configuration)
    with log.open("ab") as errors, subprocess.Popen(command, stderr=errors, env=programs.environment) as process:
        try:
            yield process
        finally:
            process.terminate()


class Server(NamedTuple):
    """A server that writes what it receives into a file, as it came."""

    programs: Programs
    folder: Path
    port: int
    module: str = ""
    """Parameters of the module imrelp."""
    tls: str = ""
    """Parameters of the input."""

    @property
    def received(self) -> list[str]:
        """The messages, without the spaces around them."""
        path = self.folder / "received"
        return [line.strip() for line in path.read_text().splitlines()] if path.exists() else []

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """The server while it listens."""
        (self.folder / "server").mkdir(exist_ok=True)
        configuration = self.folder / "server.conf"
        configuration.write_text(
            f"""global(workDirectory="{self.folder}/server")
module(load="imrelp" {self.module})
input(type="imrelp" address="127.0.0.1" port="{self.port}" ruleset="received" {self.tls})
template(name="raw" type="string" string="%rawmsg%\\n")
ruleset(name="received") {{ action(type="omfile" file="{self.folder}/received" template="raw") }}
"""
        )
        with running(self.programs, configuration, self.folder / "server.log"):
            eventually(self._listens, f"the server listens: {self.folder}/server.log")
            yield

    def _listens(self) -> bool:
        with socket.socket() as caller:
            return caller.connect_ex(("127.0.0.1", self.port)) == 0


class Node(NamedTuple):
    """A node whose rsyslogd has the rendered configuration, in a folder of its own."""

    programs: Programs
    folder: Path

    @property
    def paths(self) -> HostPaths:
        return HostPaths.below(str(self.folder / "root"))

    @property
    def local(self) -> str:
        """What stays on the node."""
        path = self.folder / "local"
        return path.read_text() if path.exists() else ""

    @property
    def log(self) -> str:
        """What rsyslogd complains of."""
        return (self.folder / "node.log").read_text(errors="replace")

    def render(self, config: RsyslogRelpConfig, statistics: str = "") -> Path:
        """The configuration of the node with an interval for tests, included as distributions include it.

        Args:
            config: where messages go, and which.
            statistics: the program that gets statistics; empty: one that keeps them in `statistics`.
        """
        text = rsyslog_configuration(config, SHOOT, self.paths)
        keep = self.folder / "keep"
        keep.write_text(f"#!/bin/sh\nexec cat > {self.folder}/statistics\n")
        keep.chmod(0o755)
        text = re.sub(r'binary="[^"]*"', f'binary="{statistics or keep}"', text)
        text = text.replace('interval="60"', f'interval="{INTERVAL}"')
        Path(self.paths.journal_socket).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / "node").mkdir(exist_ok=True)
        (self.folder / "60-audit.conf").write_text(text)
        configuration = self.folder / "node.conf"
        configuration.write_text(
            f"""global(workDirectory="{self.folder}/node")
module(load="imuxsock" SysSock.Use="off")
include(file="{self.folder}/60-audit.conf")
*.* action(type="omfile" file="{self.folder}/local")
"""
        )
        return configuration

    @contextlib.contextmanager
    def running(self, config: RsyslogRelpConfig, statistics: str = "") -> Iterator[None]:
        """The node while its rsyslogd takes messages."""
        configuration = self.render(config, statistics)
        with running(self.programs, configuration, self.folder / "node.log"):
            journal = Path(self.paths.journal_socket)
            eventually(journal.is_socket, f"the node listens: {self.folder}/node.log")
            yield

    def say(self, tag: str, priority: int, text: str) -> None:
        """Log a message as programs do; the priority is 8 times the facility, plus the severity."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as program:
            program.connect(self.paths.journal_socket)
            program.send(f"<{priority}>{time.strftime('%b %e %H:%M:%S')} {tag}: {text}".encode())

    def statistics(self, name: str = "rsyslog-relp") -> Mapping[str, int]:
        """The latest statistics of an action."""
        path = self.folder / "statistics"
        lines = path.read_text().splitlines() if path.exists() else []
        records = [json.loads(line[line.index("{") :]) for line in lines if f'"name": "{name}"' in line]
        return records[-1] if records else {}


def texts(messages: list[str]) -> list[str]:
    """The last word of each message, which tells them apart."""
    return [message.split()[-1] for message in messages]
