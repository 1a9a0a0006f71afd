"""A whole landscape: applied, healthy, and from then on left alone."""

import pytest

from tests.e2e.managed_resources.landscape import Delivery, landscape
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox

COUNT = 80
"""All kinds a dozen times, and two definitions, for five at work: more than begin at once."""
ORIGIN = "resources.gardener.cloud/origin"


@pytest.mark.slow
def test_scores_of_managed_resources_become_healthy_and_a_restart_writes_nothing(
    sandbox: ManagedResourceSandbox,
) -> None:
    deliveries = [*landscape(COUNT, sandbox.namespace, class_name=sandbox.class_name, definitions=True)]
    with Manager(sandbox.folder, sandbox.configuration()) as manager:
        manager.wait_ready()
        sandbox.create(*(part for each in deliveries for part in (each.secret, each.managed_resource)))
        sandbox.wait_until_applied(expected=SETTLED)
        manager.wait_until_idle()
        assert manager.terminate() == 0
        assert manager.troubles() == []
    assert {origin for each in deliveries for origin in _origins(sandbox, each)} == {"as expected"}
    position = sandbox.control_plane.audit_position()

    with Manager(sandbox.folder, sandbox.configuration(), name="restarted") as manager:
        manager.wait_until_idle()
        assert manager.terminate() == 0

    assert sandbox.writes(position) == []


def _origins(sandbox: ManagedResourceSandbox, delivery: Delivery) -> list[str]:
    """Whether each object says where it comes from."""
    expected = f"{sandbox.namespace}/{delivery.managed_resource['metadata']['name']}"
    found = [sandbox.get(each)["metadata"]["annotations"][ORIGIN] for each in delivery.objects]
    return ["as expected" if origin == expected else f"{origin}, not {expected}" for origin in found]
