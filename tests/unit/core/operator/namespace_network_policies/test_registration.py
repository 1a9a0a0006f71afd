"""Which configuration a Garden gives, and when: the worked examples by their numbers."""

from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.operator.namespace_network_policies import (
    NamespacePolicyConfig,
    NamespacePolicySettings,
    RuntimeNetworks,
    register,
)

SELECTORS = (LabelSelector((("custom", "namespace"),)),)
SETTINGS = NamespacePolicySettings(additional_namespace_selectors=SELECTORS)
WHOLE = {
    "pods": "10.0.0.0/16",
    "services": "10.1.0.0/16",
    "nodes": "10.2.0.0/16",
    "blockCIDRs": ["169.254.169.254/32", "1.2.3.4/32"],
}


def garden(networking: Any, **metadata: Any) -> Manifest:
    return {"metadata": {"name": "garden", **metadata}, "spec": {"runtimeCluster": {"networking": networking}}}


def registered(manifest: Manifest | None, *, already: bool = False) -> object:
    return register(already=already, garden=manifest, settings=SETTINGS)


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
        ({**WHOLE, "pods": 10}, f"{NETWORKING}.pods: expected a string, got a number"),
        ({**WHOLE, "blockCIDRs": "x"}, f"{NETWORKING}.blockCIDRs: expected a list, got a string"),
    ],
)
def test_a_garden_without_its_networks_is_refused(networking: Any, problem: str) -> None:
    given = registered(garden(networking))

    assert isinstance(given, Failure)
    assert str(given.failure()) == f"Garden garden: {problem}"


def test_five_namespaces_are_looked_at_at_once_unless_the_configuration_says_otherwise() -> None:
    assert NamespacePolicySettings().concurrent_syncs == 5
