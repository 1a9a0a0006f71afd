"""An annotation that cannot be understood harms nothing but what it stands for, and its author is told."""

from typing import Any, Final

import pytest

from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager
from tests.e2e.sandbox import Manifest, N, Sandbox, cross_pair, pair, service

REFUSALS: Final = "controller_runtime_terminal_reconcile_errors_total"


@pytest.fixture
def shop(sandbox: Sandbox) -> str:
    return sandbox.namespace("shop")


def warnings_about(sandbox: Sandbox, name: str) -> list[Manifest]:
    return [event for event in sandbox.events_of(NETWORK_POLICIES) if event["regarding"]["name"] == name]


def wait_for_warning(sandbox: Sandbox, process: ResourceManager, name: str) -> Manifest:
    process.wait_for(lambda: warnings_about(sandbox, name), f"has not warned about {name}")
    (event,) = warnings_about(sandbox, name)
    return event


def told_by(event: Manifest) -> dict[str, Any]:
    return {name: event[name] for name in ("type", "reason", "note", "action", "reportingController")}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param('[{"matchLabels": }]', "is not valid JSON", id="no JSON"),
        pytest.param(
            '[{"matchLabel": {"team": "a"}}]',
            "[0].matchLabel is an unknown field; did you mean matchLabels?",
            id="a selector that lost a letter",
        ),
    ],
)
def test_an_unreadable_annotation_leaves_the_policies_of_its_service_and_a_warning_beside_it(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str, value: str, problem: str
) -> None:
    cart, till = service(shop, "cart", annotations={"namespace-selectors": "[]"}), service(shop, "till")
    sandbox.create(cart, till)
    before = pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080")
    sandbox.wait_for_policies(before)

    sandbox.annotate(cart, {"namespace-selectors": value})
    event = wait_for_warning(sandbox, resource_manager, "cart")
    sandbox.patch("Service", shop, "cart", {"spec": {"ports": [{"port": 80, "targetPort": 9090, "protocol": "TCP"}]}})
    sandbox.patch("Service", shop, "till", {"spec": {"ports": [{"port": 80, "targetPort": 9090, "protocol": "TCP"}]}})
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-9090"))

    field = f"metadata.annotations[{N}/namespace-selectors]"
    assert told_by(event) == {
        "type": "Warning",
        "reason": "InvalidAnnotation",
        "note": f"{field}: {problem}",
        "action": "Reconcile",
        "reportingController": "networkpolicy",
    }
    stored = sandbox.get("Service", shop, "cart")["metadata"]
    assert event["regarding"] == {
        "apiVersion": "v1", "kind": "Service", "namespace": shop, "name": "cart", "uid": stored["uid"],
    }  # fmt: skip
    (line, *_) = resource_manager.log_lines("Could not reconcile")
    assert line["error"].startswith(f"Service {shop}/cart: {field}: {problem}")
    assert resource_manager.metric(REFUSALS) >= 1


def test_a_corrected_annotation_is_acted_on(sandbox: Sandbox, resource_manager: ResourceManager, shop: str) -> None:
    peer = sandbox.namespace("peer", handled=False)
    cart = service(shop, "cart", annotations={"namespace-selectors": "nonsense"})
    sandbox.create(cart)
    wait_for_warning(sandbox, resource_manager, "cart")
    assert sandbox.policies() == {}

    sandbox.annotate(cart, {"namespace-selectors": f'[{{"matchLabels": {{"kubernetes.io/metadata.name": "{peer}"}}}}]'})

    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | cross_pair("shop", "cart-tcp-8080", "peer"))


def test_where_the_ports_for_the_world_are_unreadable_the_world_keeps_its_policy(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str
) -> None:
    world = {"shop/ingress-to-cart-from-world"}
    cart = service(shop, "cart", annotations={"from-world-to-ports": '[{"port": 443, "protocol": "TCP"}]'})
    sandbox.create(cart)
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | world)
    before = sandbox.policies()["shop/ingress-to-cart-from-world"]

    sandbox.annotate(cart, {"from-world-to-ports": "443", "from-probes-allowed-ports": '[{"port": 9}]'})
    opened = pair("shop", "cart-tcp-8080") | pair("shop", "cart-tcp-9-via-probes")
    sandbox.wait_for_policies(opened | world)
    event = wait_for_warning(sandbox, resource_manager, "cart")

    assert sandbox.policies()["shop/ingress-to-cart-from-world"] == before
    assert told_by(event)["reason"] == "NetworkPolicyRefused"
    assert f"{N}/from-world-to-ports" in event["note"]
    sandbox.annotate(cart, {"from-world-to-ports": None})
    sandbox.wait_for_policies(opened)


def test_a_port_that_no_server_takes_is_refused_alone(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str
) -> None:
    ports = '[{"port": 70000}, {"port": 7000}]'
    sandbox.create(service(shop, "cart", annotations={"from-probes-allowed-ports": ports}))

    event = wait_for_warning(sandbox, resource_manager, "cart")

    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "cart-tcp-7000-via-probes"))
    assert event["reason"] == "NetworkPolicyRefused"
    assert "70000" in event["note"]


def test_the_same_warning_is_not_repeated_for_every_look(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str
) -> None:
    cart = service(shop, "cart", annotations={"namespace-selectors": "nonsense"})
    sandbox.create(cart)
    wait_for_warning(sandbox, resource_manager, "cart")
    looks = resource_manager.metric(REFUSALS)

    sandbox.label_namespace(shop, {"team": "a"})
    resource_manager.wait_for(lambda: resource_manager.metric(REFUSALS) > looks, "has not looked at the Service again")
    sandbox.create(service(shop, "till", annotations={"namespace-selectors": "nonsense"}))
    wait_for_warning(sandbox, resource_manager, "till")

    assert len(warnings_about(sandbox, "cart")) == 1
    told = [line for line in resource_manager.log_lines("Could not reconcile") if line["level"] == "error"]
    assert len([line for line in told if line["error"].startswith(f"Service {shop}/cart: ")]) == 1
