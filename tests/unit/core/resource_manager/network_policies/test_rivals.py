"""Two Services that come to one policy name: one keeps the policy, and neither writes for ever."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.api.kubernetes import NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.api.network_policies import service_of_policy
from hedgerow.machinery.controller import plans
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Create, Delete, MergePatch, Plan
from hedgerow.resource_manager.network_policies import (
    NetworkPolicyConfig,
    controller,
    desired_network_policies,
    network_policy_controller,
)
from hedgerow_adapters.cache import StoreSnapshot
from tests.snapshots import snapshot_over
from tests.unit.core.resource_manager.network_policies.objects import namespace, policy, service

CONTROLLER = network_policy_controller(NetworkPolicyConfig())
GARDEN, SHOP = namespace("garden"), namespace("shop")
PROMETHEUS = service(
    {"namespace-selectors": '[{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}]'},
    name="prometheus",
    namespace="garden",
)
NAMESAKE = service(name="garden-prometheus", namespace="shop")
CONTESTED = ObjectKey("shop", "egress-to-garden-prometheus-tcp-8080")
LOSER_IS_TOLD = (
    "NetworkPolicy shop/egress-to-garden-prometheus-tcp-8080: metadata.name: "
    "Service garden/prometheus asks for a policy of this name as well, and keeps it"
)


def snapshot_of(services: Iterable[Manifest], policies: Iterable[Manifest]) -> StoreSnapshot:
    """The world of these objects."""
    world: dict[Resource, Iterable[Manifest]] = {SERVICES: services, NETWORK_POLICIES: policies}
    return snapshot_over(CONTROLLER, {**world, NAMESPACES: [GARDEN, SHOP]})


def decided(services: Iterable[Manifest], policies: Iterable[Manifest] = ()) -> dict[ObjectKey, Plan]:
    """What is to be done about each Service."""
    return dict(plans(CONTROLLER, snapshot_of(services, policies), datetime(2026, 1, 1, tzinfo=UTC)))


def settled(
    services: Sequence[Manifest], policies: Iterable[Manifest] = ()
) -> tuple[dict[ObjectKey, Manifest], list[str]]:
    """The policies that exist once nobody writes any more, and what is told then."""
    existing = {key_of(each): each for each in policies}
    for _ in range(10):
        wanted = decided(services, existing.values()).values()
        actions = [action for plan in wanted for action in plan.actions]
        if not actions:
            return existing, [str(failure) for plan in wanted for failure in plan.failures]
        for action in actions:
            match action:
                case Create(resource=resource):
                    assert resource == NETWORK_POLICIES
                    existing.setdefault(action.key, action.manifest)
                case MergePatch(_, key, patch) if key in existing:
                    existing[key] = apply_merge_patch(existing[key], patch)
                case Delete(_, key):
                    existing.pop(key, None)
    pytest.fail("they write for ever")


@pytest.mark.parametrize("services", [[PROMETHEUS, NAMESAKE], [NAMESAKE, PROMETHEUS]], ids=["one way", "the other"])
@pytest.mark.parametrize("holder", [None, "garden/prometheus", "shop/garden-prometheus"])
def test_the_first_by_namespace_and_name_keeps_the_policy_and_the_other_is_told(
    services: list[Manifest], holder: str | None
) -> None:
    existing = [policy(CONTESTED.name, holder)] if holder else []

    policies, told = settled(services, existing)

    assert service_of_policy(policies[CONTESTED]) == (ObjectKey("garden", "prometheus"),)
    assert told == [LOSER_IS_TOLD]


def test_the_other_gets_the_policy_when_the_first_is_gone() -> None:
    policies, told = settled([NAMESAKE], settled([PROMETHEUS, NAMESAKE])[0].values())

    assert service_of_policy(policies[CONTESTED]) == (ObjectKey("shop", "garden-prometheus"),)
    assert told == []


def test_the_other_is_tried_again_as_no_event_tells_when_the_first_lets_go() -> None:
    existing, _ = settled([PROMETHEUS])

    (failure,) = decided([PROMETHEUS, NAMESAKE], existing.values())[key_of(NAMESAKE)].failures

    assert failure.retryable


def test_a_holder_that_does_not_ask_for_it_has_no_claim() -> None:
    services, existing = [service(namespace="garden"), NAMESAKE], [policy(CONTESTED.name, "garden/cart")]
    policies, told = settled(services, existing)

    assert CONTESTED in {action.key for action in decided(services, existing)[key_of(NAMESAKE)].actions}
    assert service_of_policy(policies[CONTESTED]) == (ObjectKey("shop", "garden-prometheus"),)
    assert told == []


def test_a_holder_that_cannot_be_understood_keeps_what_it_has() -> None:
    unreadable = service({"namespace-selectors": "{"}, name="prometheus", namespace="garden")

    policies, told = settled([unreadable, NAMESAKE], [policy(CONTESTED.name, "garden/prometheus")])

    assert service_of_policy(policies[CONTESTED]) == (ObjectKey("garden", "prometheus"),)
    assert LOSER_IS_TOLD in told


def test_what_a_service_was_refused_before_is_told_beside_what_it_lost() -> None:
    wrong_as_well = service({"from-world-to-ports": '[{"port":0}]'}, name="garden-prometheus", namespace="shop")

    _, told = settled([PROMETHEUS, wrong_as_well])

    assert LOSER_IS_TOLD in told
    assert any("from-world-to-ports" in failure for failure in told)


def test_what_a_rival_with_many_policies_asks_for_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = [{"name": f"p{number}", "port": number, "protocol": "TCP"} for number in range(1, 51)]
    rival = {**PROMETHEUS, "spec": {**PROMETHEUS["spec"], "ports": ports}}
    namesake = {**NAMESAKE, "spec": {**NAMESAKE["spec"], "ports": ports}}
    existing, _ = settled([rival])
    asked: list[ObjectKey] = []

    def counted(service: Any, *others: Any) -> Any:
        asked.append(service.key)
        return desired_network_policies(service, *others)

    monkeypatch.setattr(controller, "desired_network_policies", counted)
    plan = decided([rival, namesake], existing.values())[key_of(namesake)]

    assert len(plan.failures) == len(ports)
    assert asked == [key_of(rival), key_of(namesake), key_of(rival)]


def test_errors_without_number_are_not_as_many_events() -> None:
    annotations = {f"from-a{number}-allowed-ports": "[1]" for number in range(100)}
    broken = service(annotations, name="cart", namespace="shop")

    plan = decided([broken])[key_of(broken)]

    assert (len(plan.failures), len(plan.events)) == (100, controller.MOST_EVENTS)
