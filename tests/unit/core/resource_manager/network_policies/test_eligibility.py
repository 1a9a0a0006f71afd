"""Which Services get policies at all."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig
from hedgerow.resource_manager.network_policies.allowed_ports import no_policies_because
from hedgerow.resource_manager.network_policies.views import NamespaceView, ServiceFacts, ServiceView
from tests.unit.core.resource_manager.network_policies.objects import namespace, service

TEAM_A = NetworkPolicyConfig(namespace_selectors=(LabelSelector((("team", "a"),)),))
UNLABELLED_TOO = NetworkPolicyConfig(namespace_selectors=(LabelSelector(),))
GOING: Mapping[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
SHOP = namespace("shop", {"team": "a"})


@pytest.mark.parametrize(
    ("subject", "home", "config", "reason"),
    [
        pytest.param(service(), SHOP, TEAM_A, "", id="it has some"),
        pytest.param(service(**GOING), SHOP, TEAM_A, "service-terminating", id="the Service goes"),
        pytest.param(service(selector={}), SHOP, TEAM_A, "service-without-selector", id="no pods are selected"),
        pytest.param(service(), namespace("shop"), TEAM_A, "namespace-not-handled", id="another team"),
        pytest.param(service(), None, TEAM_A, "namespace-not-handled", id="a missing namespace has no labels"),
        pytest.param(service(), None, UNLABELLED_TOO, "", id="which the empty selector matches"),
        pytest.param(service(), None, NetworkPolicyConfig(), "", id="or no selector at all"),
        pytest.param(
            service(), namespace("shop", {"team": "a"}, terminating=True), TEAM_A, "namespace-terminating", id="it goes"
        ),
        pytest.param(
            service(selector={}, **GOING), namespace("shop", terminating=True), TEAM_A, "service-terminating", id="all"
        ),
    ],
)
def test_the_first_reason_against_policies_counts(
    subject: Mapping[str, Any], home: Mapping[str, Any] | None, config: NetworkPolicyConfig, reason: str
) -> None:
    namespaces = {} if home is None else {"shop": NamespaceView.of(home)}

    assert no_policies_because(ServiceFacts(ServiceView.of(subject), namespaces, (), config)) == reason
