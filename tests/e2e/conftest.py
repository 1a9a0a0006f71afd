"""Real servers for the end-to-end tests, started once a session."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.control_plane import ControlPlane, server_binaries

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> Path:
    """The folder of the server binaries; tests fail where they cannot be had, and are skipped only on demand."""
    if pytestconfig.getoption("--without-servers"):
        pytest.skip("needs real servers, and --without-servers was given")
    return server_binaries()


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
