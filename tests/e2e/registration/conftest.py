"""A garden and a seed for all tests of the folder, which share no registration."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane import ControlPlane
from tests.control_plane.plane import WORKLOAD_CONTROLLERS
from tests.control_plane.pods import PodKeeper
from tests.e2e.registration.landscape import Landscape
from tests.e2e.servers.build import HELM, build


@pytest.fixture(scope="session")
def helm(servers: Path) -> Path:
    """The real Helm, built if this is the first time."""
    return build(HELM) / "helm"


@pytest.fixture
def landscape(servers: Path) -> Iterator[Landscape]:
    """Two clusters of the test's own: whatever is registered is for all of a seed."""
    with ControlPlane() as garden, ControlPlane() as seed:
        seed.start_controller_manager(WORKLOAD_CONTROLLERS)
        made = Landscape(garden, seed)
        made.define()
        with PodKeeper(seed):
            yield made
