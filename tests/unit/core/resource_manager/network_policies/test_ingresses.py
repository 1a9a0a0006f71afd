"""Which container ports Ingresses lead to."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies import PolicyPort
from hedgerow.resource_manager.network_policies.allowed_ports import ingress_backend_ports, services_of_ingress
from hedgerow.resource_manager.network_policies.views import IngressView, ServiceView
from tests.unit.core.resource_manager.network_policies.objects import backend, ingress, service

CART = service(
    ports=[
        {"name": "http", "port": 80, "targetPort": 8080},
        {"name": "admin", "port": 81, "targetPort": "admin"},
        {"name": "dns", "port": 53, "protocol": "TCP", "targetPort": 1053},
        {"name": "dns-udp", "port": 53, "protocol": "UDP", "targetPort": 1053},
    ]
)
UNNAMED = service(ports=[{"port": 80, "targetPort": 8080}])
HTTP, ADMIN = PolicyPort("TCP", 8080), PolicyPort("TCP", "admin")
RESOURCE = {"resource": {"apiGroup": "example.com", "kind": "Bucket", "name": "cart"}}


@pytest.mark.parametrize(
    ("subject", "backends", "ports"),
    [
        pytest.param(CART, [backend(80)], (HTTP,), id="by number"),
        pytest.param(CART, [backend("admin")], (ADMIN,), id="by name"),
        pytest.param(CART, [backend(53)], (PolicyPort("TCP", 1053), PolicyPort("UDP", 1053)), id="both protocols"),
        pytest.param(CART, [backend("admin"), backend(80)], (ADMIN, HTTP), id="in order of appearance"),
        pytest.param(CART, [backend(80), backend("http"), backend(80)], (HTTP,), id="each once"),
        pytest.param(CART, [backend(9999)], (), id="a number that the Service does not have"),
        pytest.param(CART, [backend("grpc")], (), id="a name that the Service does not have"),
        pytest.param(CART, [backend(8080)], (), id="the container port is not meant"),
        pytest.param(UNNAMED, [backend(9999)], (), id="a port without a name matches no backend without one"),
        pytest.param(UNNAMED, [backend(80)], (HTTP,), id="a port without a name is known by its number"),
        pytest.param(CART, [backend(80, "orders")], (), id="another Service"),
        pytest.param(CART, [RESOURCE], (), id="no Service"),
        pytest.param(CART, [{"service": {"name": "cart"}}], (), id="no port"),
        pytest.param(CART, [{}], (), id="nothing"),
        pytest.param(
            CART, [{"service": {"name": "cart", "port": {"name": "grpc", "number": 80}}}], (), id="the name wins"
        ),
    ],
)
def test_a_backend_leads_to_the_container_port_behind_the_service_port(
    subject: Mapping[str, Any], backends: list[dict[str, Any]], ports: tuple[PolicyPort, ...]
) -> None:
    found = ingress(*backends)

    assert ingress_backend_ports(subject, [found]) == ports
    assert ingress_backend_ports(ServiceView.of(subject), [IngressView.of(found)]) == ports


def test_only_ingresses_of_the_namespace_of_the_service_lead_to_it() -> None:
    assert ingress_backend_ports(CART, [ingress(backend(80), namespace="elsewhere")]) == ()


def test_the_services_of_an_ingress_are_those_of_its_paths() -> None:
    several = ingress(backend(80), backend("http", "orders"), backend(81), RESOURCE, {})

    assert services_of_ingress(several) == {ObjectKey("shop", "cart"), ObjectKey("shop", "orders")}


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(None, id="no spec"),
        pytest.param({"defaultBackend": backend(80)}, id="default backend"),
        pytest.param({"rules": None}, id="no rules"),
        pytest.param({"rules": [{"host": "example.com"}]}, id="rule without paths"),
        pytest.param({"rules": [{"http": None}, {"http": {"paths": None}}]}, id="nulls"),
        pytest.param({"rules": [{"http": {"paths": [{"path": "/"}]}}]}, id="path without backend"),
        pytest.param({"rules": [{"http": {"paths": [{"backend": RESOURCE}]}}]}, id="resource backend"),
    ],
)
def test_an_ingress_without_service_backends_leads_nowhere(spec: Mapping[str, Any] | None) -> None:
    found = {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}

    assert services_of_ingress(found) == frozenset()
    assert ingress_backend_ports(CART, [found]) == ()
