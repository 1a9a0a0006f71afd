"""Deliveries that fail half-way and are corrected: what was created of them goes."""

from collections.abc import Callable

import pytest

from tests.e2e.managed_resources.estate import Estate
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import annotated, cluster_role, config_map, deployment, service
from tests.e2e.managed_resources.places import Manifest

Correction = Callable[[Estate, Manifest], None]


def changed(estate: Estate, _managed: Manifest) -> None:
    estate.redeliver("shop", config_map(estate.namespace, "corrected"))


def emptied(estate: Estate, managed: Manifest) -> None:
    estate.patch(managed, {"spec": {"secretRefs": []}})


def deleted(estate: Estate, managed: Manifest) -> None:
    estate.delete(managed)


@pytest.mark.parametrize("correct", [changed, emptied, deleted])
def test_nothing_stays_of_a_delivery_that_failed_half_way(
    correct: Correction, estate: Estate, manager: Manager
) -> None:
    created = [
        config_map(estate.namespace, "settings"),
        annotated(config_map(estate.namespace, "as-it-is"), ignore="true"),
        cluster_role(f"{estate.namespace}:reader"),
    ]
    refused = service(estate.namespace, "web", ports=[{"port": 70000}])
    managed = estate.deliver("shop", *created, refused, deployment(estate.namespace, "not-reached"))
    estate.wait_for(lambda: estate.condition(managed)[:2] == ("False", "ApplyFailed"), "it fails")
    assert all(map(estate.find, created))

    correct(estate, managed)

    estate.wait_until_gone(*created)
    if correct is not deleted:
        estate.wait_until_applied()
