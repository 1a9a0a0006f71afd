"""Which ports a Service opens, and for which label."""

import pytest
from returns import result
from returns.result import Success

from hedgerow.api.kubernetes import SERVICES
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies import PolicyPort
from hedgerow.resource_manager.network_policies.allowed_ports import AllowedPort, allowed_ports_of, from_policy_aliases
from hedgerow.resource_manager.network_policies.views import ServiceView
from tests.unit.core.resource_manager.network_policies.objects import DOMAIN, HTTP, ours, service

CART = ObjectKey("shop", "cart")
HTTP_PORT = AllowedPort(PolicyPort("TCP", 8080), "", "service-port", "spec.ports[0]")


def field(alias: str) -> str:
    return f"metadata.annotations[{DOMAIN}/from-{alias}-allowed-ports]"


def allowed(port: PolicyPort, alias: str) -> AllowedPort:
    return AllowedPort(port, alias, "allowed-ports", field(alias))


def test_aliases_come_in_order_with_their_values() -> None:
    annotations = {
        **ours({"from-b-allowed-ports": "2", "from-a-allowed-ports": "1", "from-world-to-ports": "3"}),
        "example.com/from-c-allowed-ports": "4",
    }

    assert list(from_policy_aliases(annotations).items()) == [("a", "1"), ("b", "2")]


def test_ports_of_the_spec_come_before_those_of_aliases() -> None:
    view = ServiceView.of(service({"from-b-allowed-ports": '[{"port":9090}]', "from-a-allowed-ports": '[{"port":1}]'}))

    assert allowed_ports_of(view) == Success(
        (HTTP_PORT, allowed(PolicyPort("TCP", 1), "a"), allowed(PolicyPort("TCP", 9090), "b"))
    )


def test_a_port_that_is_asked_for_twice_is_opened_once_per_label_and_called_after_its_first_place() -> None:
    ports = [{"port": 81, "targetPort": 9090}, HTTP, {"port": 82, "targetPort": 8080}]
    view = ServiceView.of(service({"from-a-allowed-ports": '[{"port":8080},{"port":"8080","protocol":"TCP"}]'}, ports))

    assert allowed_ports_of(view) == Success(
        (
            AllowedPort(PolicyPort("TCP", 8080), "", "service-port", "spec.ports[1]"),
            AllowedPort(PolicyPort("TCP", 9090), "", "service-port", "spec.ports[0]"),
            allowed(PolicyPort("TCP", 8080), "a"),
        )
    )


@pytest.mark.parametrize("value", ["[]", "null"])
def test_an_alias_without_ports_opens_none(value: str) -> None:
    assert allowed_ports_of(ServiceView.of(service({"from-a-allowed-ports": value}))) == Success((HTTP_PORT,))


def test_every_annotation_that_cannot_be_understood_is_named() -> None:
    annotations = {
        "from-c-allowed-ports": '[{"port":1},{"protocol":"TCP"}]',
        "from-a-allowed-ports": "x",
        "from-b-allowed-ports": '[{"port":1}]',
    }

    assert allowed_ports_of(ServiceView.of(service(annotations))) == result.Failure(
        (
            Failure(SERVICES, CART, Problem(field("a"), "is not valid JSON")),
            Failure(SERVICES, CART, Problem(field("c"), "[1].port is missing")),
        )
    )
