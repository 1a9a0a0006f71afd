"""A Prometheus with the rules of the resource manager."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.contract.webhook_server import ServingPair
from tests.control_plane import ControlPlane
from tests.e2e.alerts.monitored import Prometheus
from tests.e2e.managed_resources.definition import define_managed_resources
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.rsyslog.programs import Programs


@pytest.fixture
def prometheus(programs: Programs, tmp_path: Path) -> Prometheus:
    return Prometheus(programs, tmp_path)


@pytest.fixture
def long_pair(tmp_path: Path) -> ServingPair:
    """A certificate for a month."""
    return ServingPair.new(tmp_path, lasts=timedelta(days=30))


@pytest.fixture(scope="session")
def control_plane(servers: Path) -> Iterator[ControlPlane]:
    """A control plane that knows ManagedResources, so that no process waits for them."""
    with ControlPlane() as running:
        define_managed_resources(running)
        yield running


@pytest.fixture
def deliveries(control_plane: ControlPlane, namespace_prefix: str, tmp_path: Path) -> ManagedResourceSandbox:
    """A class of ManagedResources."""
    return ManagedResourceSandbox(control_plane, namespace_prefix, tmp_path)
