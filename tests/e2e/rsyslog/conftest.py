"""The real programs: rsyslogd, auditctl, promtool, node-exporter, shellcheck."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.rsyslog.authority import Authority
from tests.e2e.rsyslog.daemons import Node, Server, free_port
from tests.e2e.rsyslog.programs import Programs, ProgramsError, installed


@pytest.fixture(scope="session")
def programs(pytestconfig: pytest.Config) -> Programs:
    """The programs; continuous integration fails without them, other machines skip what needs them."""
    if pytestconfig.getoption("--without-servers"):
        pytest.skip("needs real programs, and --without-servers was given")
    try:
        return installed()
    except ProgramsError as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the programs cannot be had here: {problem}")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a path short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="relp") as short:
        yield Path(short)


@pytest.fixture
def node(programs: Programs, folder: Path) -> Node:
    """A node of a Shoot."""
    return Node(programs, folder)


@pytest.fixture
def server(programs: Programs, folder: Path) -> Server:
    """A server that takes messages without TLS."""
    return Server(programs, folder, free_port())


@pytest.fixture(scope="session")
def authority() -> Authority:
    """Who signs the certificates of servers and nodes."""
    return Authority()
