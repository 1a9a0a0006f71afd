"""What the controller watches, and which Services a change concerns."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.controller import Change, Watch, all_keys, concerned_keys
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow.resource_manager.network_policies.annotations import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow_adapters.cache import StoreSnapshot
from tests.unit.core.resource_manager.network_policies.objects import (
    BEHIND_INGRESS,
    backend,
    ingress,
    namespace,
    policy,
    service,
)

CONTROLLER = network_policy_controller(BEHIND_INGRESS)
CART, ORDERS = ObjectKey("shop", "cart"), ObjectKey("shop", "orders")


def watch_on(resource: Resource) -> Watch:
    return next(watch for watch in CONTROLLER.watches if watch.resource == resource)


def test_it_watches_services_policies_namespaces_and_ingresses() -> None:
    assert [watch.resource for watch in CONTROLLER.watches] == [SERVICES, NETWORK_POLICIES, NAMESPACES, INGRESSES]
    assert CONTROLLER.name == "networkpolicy"
    assert CONTROLLER.primary == SERVICES
    assert CONTROLLER.owned in CONTROLLER.indexes


def test_it_does_not_watch_ingresses_where_no_ingress_controller_is_configured() -> None:
    watches = network_policy_controller(NetworkPolicyConfig()).watches

    assert [watch.resource for watch in watches] == [SERVICES, NETWORK_POLICIES, NAMESPACES]


def test_it_reads_nothing_but_metadata_of_namespaces() -> None:
    assert [watch.resource for watch in CONTROLLER.watches if watch.metadata_only] == [NAMESPACES]


def test_five_services_at_once_unless_said_otherwise() -> None:
    assert CONTROLLER.concurrency == 5
    assert network_policy_controller(BEHIND_INGRESS, concurrency=20).concurrency == 20


@pytest.mark.parametrize(
    ("resource", "old", "new", "keys"),
    [
        pytest.param(SERVICES, None, service(), {CART}, id="a created Service concerns itself"),
        pytest.param(SERVICES, service(), None, {CART}, id="a deleted Service concerns itself"),
        pytest.param(SERVICES, service(), service(labels={"a": "b"}), set(), id="an irrelevant update concerns nobody"),
        pytest.param(SERVICES, service(), service(selector={"a": "b"}), {CART}, id="a changed Service concerns itself"),
        pytest.param(NETWORK_POLICIES, None, policy("x"), {CART}, id="a created policy concerns its Service"),
        pytest.param(NETWORK_POLICIES, policy("x"), policy("x"), {CART}, id="any update of a policy concerns it"),
        pytest.param(NETWORK_POLICIES, policy("x"), None, {CART}, id="a deleted policy concerns it"),
        pytest.param(NETWORK_POLICIES, None, policy("x", None), set(), id="a policy of nobody concerns nobody"),
        pytest.param(NETWORK_POLICIES, policy("x"), policy("x", None), {CART}, id="labels were stripped"),
        pytest.param(
            NETWORK_POLICIES, policy("x"), policy("x", "shop/orders"), {CART, ORDERS}, id="a policy changed hands"
        ),
        pytest.param(NAMESPACES, None, namespace("b"), {CART, ORDERS}, id="a created Namespace concerns every Service"),
        pytest.param(NAMESPACES, namespace("b"), namespace("b"), {CART, ORDERS}, id="so does any update"),
        pytest.param(NAMESPACES, namespace("b"), None, {CART, ORDERS}, id="and a deletion"),
        pytest.param(INGRESSES, None, ingress(backend(80)), {CART}, id="a created Ingress concerns its backends"),
        pytest.param(INGRESSES, ingress(backend(80)), None, {CART}, id="a deleted Ingress concerns its backends"),
        pytest.param(INGRESSES, ingress(backend(80)), ingress(backend(80)), set(), id="not an unchanged one"),
        pytest.param(
            INGRESSES, ingress(backend(80)), ingress(backend(80, "orders")), {CART, ORDERS}, id="old and new backends"
        ),
    ],
)
def test_a_change_concerns_the_services_whose_policies_it_may_alter(
    resource: Resource, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, keys: set[ObjectKey]
) -> None:
    snapshot = StoreSnapshot.of(CONTROLLER, {SERVICES: [service(), service(name="orders")]})
    watch = watch_on(resource)
    change = Change(old and watch.transform(old), new and watch.transform(new))

    assert concerned_keys(watch, change, snapshot) == keys


def test_a_namespace_concerns_nobody_where_there_are_no_services() -> None:
    change = Change(None, namespace("b"))

    assert concerned_keys(watch_on(NAMESPACES), change, StoreSnapshot.of(CONTROLLER)) == frozenset()


def test_policies_without_a_service_have_a_key_of_their_own() -> None:
    objects = {SERVICES: [service()], NETWORK_POLICIES: [policy("x", "gone/away"), policy("y"), policy("z", None)]}

    assert all_keys(CONTROLLER, StoreSnapshot.of(CONTROLLER, objects)) == [ObjectKey("gone", "away"), CART]
