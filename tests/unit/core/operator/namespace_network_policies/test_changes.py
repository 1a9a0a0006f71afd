"""Which changes of a Cluster matter: the examples of the predicate."""

from typing import Any

import pytest

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest
from hedgerow.operator.namespace_network_policies import cluster_networks_changed
from hedgerow.operator.namespace_network_policies.changes import cluster_changed, kept_of_cluster
from tests.unit.core.operator.namespace_network_policies.objects import SHOOT_NETWORKING, cluster


def workerless(networking: dict[str, Any] | None) -> Manifest:
    return cluster(networking=networking, workers=())


def other(name: str) -> dict[str, Any]:
    return {**SHOOT_NETWORKING, name: "11.0.0.0/16"}


BARE: Manifest = {"metadata": {"name": "x"}, "spec": {}}
UNREADABLE: Manifest = {"metadata": {"name": "x"}, "spec": {"shoot": {"spec": {"networking": {"pods": 1}}}}}
UPDATES = {
    "workerless-without-networking": (workerless(None), workerless(None), False),
    "workerless-networking-added": (workerless(None), workerless({}), True),
    "workerless-networking-gone": (workerless({}), workerless(None), False),
    "workerless-services-changed": (workerless(SHOOT_NETWORKING), workerless(other("services")), True),
    "workerless-pods-changed": (workerless(SHOOT_NETWORKING), workerless(other("pods")), False),
    "workers-unchanged": (cluster(networking=SHOOT_NETWORKING), cluster(networking=SHOOT_NETWORKING), False),
    "workers-pods-changed": (cluster(networking=SHOOT_NETWORKING), cluster(networking=other("pods")), True),
    "workers-services-changed": (cluster(networking=SHOOT_NETWORKING), cluster(networking=other("services")), True),
    "workers-nodes-changed": (cluster(networking=SHOOT_NETWORKING), cluster(networking=other("nodes")), True),
    "workers-networking-added": (cluster(), cluster(networking=SHOOT_NETWORKING), True),
    "workers-empty-networking-added": (cluster(), cluster(networking={}), False),
    "old-without-shoot": (BARE, cluster(networking=SHOOT_NETWORKING), False),
    "new-without-shoot": (cluster(networking=SHOOT_NETWORKING), BARE, False),
    "old-unreadable": (UNREADABLE, cluster(networking=SHOOT_NETWORKING), False),
    "new-unreadable": (cluster(networking=SHOOT_NETWORKING), UNREADABLE, False),
}


@pytest.mark.parametrize(("old", "new", "expected"), UPDATES.values(), ids=UPDATES)
def test_an_update_of_a_cluster_matters_if_its_networks_do(old: Manifest, new: Manifest, *, expected: bool) -> None:
    assert cluster_networks_changed(old, new) is expected
    assert cluster_changed(Change(kept_of_cluster(old), kept_of_cluster(new))) is expected


def test_that_a_cluster_comes_or_goes_does_not_matter() -> None:
    there = cluster(networking=SHOOT_NETWORKING)

    assert not cluster_changed(Change(None, there))
    assert not cluster_changed(Change(there, None))
