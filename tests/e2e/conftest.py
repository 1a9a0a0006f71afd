"""Real servers for the end-to-end tests, started once a session."""

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.contract.webhook_server import ServingPair
from tests.control_plane import ControlPlane, server_binaries
from tests.control_plane.fault_proxy import FaultProxy
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.rsyslog.programs import Programs, ProgramsError, installed
from tests.e2e.sandbox import Sandbox

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> Path:
    """The folder of the server binaries; tests fail where they cannot be had, and are skipped only on demand."""
    if pytestconfig.getoption("--without-servers"):
        pytest.skip("needs real servers, and --without-servers was given")
    return server_binaries()


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


@pytest.fixture(scope="session")
def control_plane(servers: Path) -> Iterator[ControlPlane]:
    """A control plane that all tests share, each in namespaces of its own.

    A test that starts the controller manager stops it, and one that stops the API server starts it again.
    """
    with ControlPlane() as running:
        yield running


@pytest.fixture
def namespace_prefix(request: pytest.FixtureRequest) -> str:
    """The beginning of names that no other test uses: a valid name of a namespace, and short enough to add to."""
    test = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower().removeprefix("test_"))
    return f"t{next(_numbers)}-{test[:30].strip('-')}"


@pytest.fixture
def sandbox(control_plane: ControlPlane, namespace_prefix: str, tmp_path: Path) -> Iterator[Sandbox]:
    """Namespaces of the test's own, which its processes look after."""
    own = Sandbox(control_plane, namespace_prefix, tmp_path)
    yield own
    own.clear()


@pytest.fixture
def serving_pair(tmp_path: Path) -> ServingPair:
    """The certificate of the test's webhooks, where its processes look for it."""
    return ServingPair.new(tmp_path)


@pytest.fixture
def resource_manager(sandbox: Sandbox) -> Iterator[ResourceManager]:
    """A process that looks after the test's namespaces, without leader election, and is ready."""
    with ResourceManager(sandbox.folder, sandbox.configuration()) as running:
        running.wait_ready()
        yield running


@pytest.fixture
def controller_manager(control_plane: ControlPlane) -> Iterator[None]:
    """Removes what is in a namespace that is deleted, then the namespace."""
    control_plane.start_controller_manager()
    yield
    control_plane.stop_controller_manager()


@pytest.fixture
def proxy(sandbox: Sandbox) -> Iterator[FaultProxy]:
    """Stands between the API server and the processes of the test; the test itself goes to the server directly."""
    port = urlsplit(sandbox.control_plane.url).port
    assert port is not None
    with FaultProxy(port) as running:
        sandbox.kubeconfig = running.kubeconfig(sandbox.kubeconfig)
        yield running
