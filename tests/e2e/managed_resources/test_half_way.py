"""Deliveries that fail half-way and are corrected: what was created of them goes."""

from collections.abc import Callable

import pytest

from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import annotated, cluster_role, config_map, deployment, service
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.managed_resources.urls import Manifest

Correction = Callable[[ManagedResourceSandbox, Manifest], None]


def changed(sandbox: ManagedResourceSandbox, _managed: Manifest) -> None:
    sandbox.redeliver("shop", config_map(sandbox.namespace, "corrected"))


def emptied(sandbox: ManagedResourceSandbox, managed: Manifest) -> None:
    sandbox.patch(managed, {"spec": {"secretRefs": []}})


def deleted(sandbox: ManagedResourceSandbox, managed: Manifest) -> None:
    sandbox.delete(managed)


@pytest.mark.parametrize("correct", [changed, emptied, deleted])
def test_nothing_stays_of_a_delivery_that_failed_half_way(
    correct: Correction, sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    created = [
        config_map(sandbox.namespace, "settings"),
        annotated(config_map(sandbox.namespace, "as-it-is"), ignore="true"),
        cluster_role(f"{sandbox.namespace}:reader"),
    ]
    refused = service(sandbox.namespace, "web", ports=[{"port": 70000}])
    managed = sandbox.deliver("shop", *created, refused, deployment(sandbox.namespace, "not-reached"))
    sandbox.wait_for(lambda: sandbox.condition(managed)[:2] == ("False", "ApplyFailed"), "it fails")
    assert all(map(sandbox.find, created))

    correct(sandbox, managed)

    sandbox.wait_until_gone(*created)
    if correct is not deleted:
        sandbox.wait_until_applied()
