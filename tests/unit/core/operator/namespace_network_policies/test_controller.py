"""Which changes of a Cluster matter: the examples of the predicate."""

from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow.machinery.controller import Change
from hedgerow.machinery.deletion_guard import ALLOW_DELETIONS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.operator.namespace_network_policies import NamespacePolicyConfig, RuntimeNetworks
from hedgerow.operator.namespace_network_policies.controller import (
    cluster_changed,
    cluster_networks_changed,
    namespace_network_policy_controller,
    register,
    transform_cluster,
    transform_namespace,
)
from tests.unit.core.operator.namespace_network_policies.objects import CONFIG, SHOOT_NETWORKING, cluster, namespace


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
    assert cluster_changed(Change(transform_cluster(old), transform_cluster(new))) is expected


def test_that_a_cluster_comes_or_goes_does_not_matter() -> None:
    there = cluster(networking=SHOOT_NETWORKING)

    assert not cluster_changed(Change(None, there))
    assert not cluster_changed(Change(there, None))


SELECTORS = (LabelSelector((("custom", "namespace"),)),)
WHOLE = {
    "pods": "10.0.0.0/16",
    "services": "10.1.0.0/16",
    "nodes": "10.2.0.0/16",
    "blockCIDRs": ["169.254.169.254/32", "1.2.3.4/32"],
}


def garden(networking: Any, **metadata: Any) -> Manifest:
    return {"metadata": {"name": "garden", **metadata}, "spec": {"runtimeCluster": {"networking": networking}}}


def registered(manifest: Manifest | None, *, already: bool = False) -> object:
    return register(manifest, SELECTORS, already=already)


@pytest.mark.parametrize(
    "metadata",
    [pytest.param({}, id="R1"), pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, id="R6")],
)
def test_the_first_garden_gives_its_networks_even_if_it_goes(metadata: dict[str, Any]) -> None:
    networks = RuntimeNetworks("10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16", ("169.254.169.254/32", "1.2.3.4/32"))

    assert registered(garden(WHOLE, **metadata)) == Success(NamespacePolicyConfig(networks, SELECTORS))


def test_r2_nodes_and_blocked_ranges_may_be_left_out() -> None:
    networks = RuntimeNetworks("10.0.0.0/16", "10.1.0.0/16", None, ())

    given = registered(garden({"pods": "10.0.0.0/16", "services": "10.1.0.0/16"}))

    assert given == Success(NamespacePolicyConfig(networks, SELECTORS))


def test_r3_the_second_garden_gives_nothing() -> None:
    assert registered(garden(WHOLE), already=True) == Success(None)


def test_r4_a_garden_that_is_gone_gives_nothing() -> None:
    assert registered(None) == Success(None)


NETWORKING = "spec.runtimeCluster.networking"


@pytest.mark.parametrize(
    ("networking", "problem"),
    [
        (None, f"{NETWORKING}.pods: is missing"),
        ({"pods": "10.0.0.0/16"}, f"{NETWORKING}.services: is missing"),
        ({**WHOLE, "pods": 10}, f"{NETWORKING}.pods: expected a string, got an integer"),
        ({**WHOLE, "blockCIDRs": "x"}, f"{NETWORKING}.blockCIDRs: expected a list, got a string"),
    ],
)
def test_a_garden_without_its_networks_is_refused(networking: Any, problem: str) -> None:
    given = registered(garden(networking))

    assert isinstance(given, Failure)
    assert str(given.failure()) == f"Garden garden: {problem}"


def test_five_namespaces_are_looked_at_at_once_unless_the_configuration_says_otherwise() -> None:
    assert namespace_network_policy_controller(CONFIG).concurrency == 5


def test_a_namespace_is_kept_with_what_allows_deletions() -> None:
    allowing = namespace("a", annotations={ALLOW_DELETIONS: "3", "other": "x"})

    assert transform_namespace(allowing)["metadata"]["annotations"] == {ALLOW_DELETIONS: "3"}
    assert "annotations" not in transform_namespace(namespace("a"))["metadata"]
