"""What the tests of the extension run: nodes, servers of messages, a seed."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane import ControlPlane
from tests.control_plane.plane import WORKLOAD_CONTROLLERS
from tests.e2e.rsyslog.authority import Authority
from tests.e2e.rsyslog.daemons import Node, Server, free_port
from tests.e2e.rsyslog.programs import Programs
from tests.e2e.rsyslog.seed import Shoot, define


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


@pytest.fixture(scope="module")
def seed(servers: Path) -> Iterator[ControlPlane]:
    """A seed of the module's own: the cleaner's DaemonSet has one name in it."""
    with ControlPlane() as running:
        define(running)
        running.start_controller_manager(WORKLOAD_CONTROLLERS)
        yield running


@pytest.fixture
def shoot(seed: ControlPlane, namespace_prefix: str) -> Iterator[Shoot]:
    """A Shoot without the extension. What a test leaves goes: the next one's processes would look after it."""
    own = Shoot(seed, f"shoot--{namespace_prefix}")
    yield own
    own.clear()
