"""A process makes the certificates of its webhooks, and registers these, at a real API server."""

import pytest

from tests.control_plane.processes import free_ports
from tests.e2e.admission import CONSIDERED
from tests.e2e.provisioned import Installed
from tests.e2e.resource_manager import errors_of
from tests.e2e.sandbox import Sandbox


@pytest.fixture
def shop(sandbox: Sandbox) -> str:
    """A namespace whose workloads are to be highly available."""
    return sandbox.namespace("shop", handled=True, **CONSIDERED)


@pytest.fixture
def installed(sandbox: Sandbox) -> Installed:
    """What an installation leaves to the process."""
    return Installed(sandbox, free_ports(1)[0])


def test_a_first_start_with_nothing_there(sandbox: Sandbox, installed: Installed, shop: str) -> None:
    with installed(), installed.process() as process:
        process.wait_ready()
        installed.wait_registered()
        installed.wait_asked(shop)

        assert errors_of(process.log_lines()) == []
