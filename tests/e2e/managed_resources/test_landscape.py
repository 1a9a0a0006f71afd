"""A whole landscape: applied, healthy, and from then on left alone."""

import pytest

from tests.e2e.managed_resources.estate import SETTLED, Estate
from tests.e2e.managed_resources.landscape import Delivery, landscape
from tests.e2e.managed_resources.manager import Manager

COUNT = 80
"""All kinds a dozen times, and two definitions, for five at work: more than begin at once."""
ORIGIN = "resources.gardener.cloud/origin"


@pytest.mark.slow
def test_scores_of_managed_resources_become_healthy_and_a_restart_writes_nothing(estate: Estate) -> None:
    deliveries = [*landscape(COUNT, estate.namespace, class_name=estate.class_name, definitions=True)]
    with Manager(estate.folder, estate.configuration()) as manager:
        manager.wait_ready()
        estate.create(*(part for each in deliveries for part in (each.secret, each.managed_resource)))
        estate.wait_until_applied(expected=SETTLED)
        manager.wait_until_idle()
        assert manager.terminate() == 0
        assert manager.troubles() == []
    assert {origin for each in deliveries for origin in _origins(estate, each)} == {"as expected"}
    position = estate.control_plane.audit_position()

    with Manager(estate.folder, estate.configuration(), name="restarted") as manager:
        manager.wait_until_idle()
        assert manager.terminate() == 0

    assert estate.writes(position) == []


def _origins(estate: Estate, delivery: Delivery) -> list[str]:
    """Whether each object says where it comes from."""
    expected = f"{estate.namespace}/{delivery.managed_resource['metadata']['name']}"
    found = [estate.get(each)["metadata"]["annotations"][ORIGIN] for each in delivery.objects]
    return ["as expected" if origin == expected else f"{origin}, not {expected}" for origin in found]
