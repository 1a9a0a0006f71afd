"""A control plane in which workloads come up and go; all tests of ManagedResources share it, each with an sandbox."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane import ControlPlane, PodKeeper
from tests.control_plane.plane import STORED_AS_JSON, WORKLOAD_CONTROLLERS
from tests.e2e.managed_resources.definition import define_managed_resources
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox


@pytest.fixture(scope="session")
def busy_plane(servers: Path) -> Iterator[ControlPlane]:
    """A control plane with the controllers of workloads, which are no concern of the other tests.

    Its objects can be told that they are old.
    """
    with ControlPlane(api_server_flags=[STORED_AS_JSON]) as running:
        define_managed_resources(running)
        running.start_controller_manager(WORKLOAD_CONTROLLERS)
        yield running


@pytest.fixture(scope="session")
def pods(busy_plane: ControlPlane) -> Iterator[PodKeeper]:
    """Lets pods become ready at once, but where a test holds them back."""
    with PodKeeper(busy_plane) as keeper:
        yield keeper


@pytest.fixture
def sandbox(busy_plane: ControlPlane, pods: PodKeeper, namespace_prefix: str, tmp_path: Path) -> ManagedResourceSandbox:
    """What the test's processes look after."""
    return ManagedResourceSandbox(busy_plane, namespace_prefix, tmp_path)


@pytest.fixture
def manager(sandbox: ManagedResourceSandbox) -> Iterator[Manager]:
    """A process that looks after the test's class of ManagedResources, and is ready."""
    with Manager(sandbox.folder, sandbox.configuration()) as running:
        running.wait_ready()
        yield running
