"""What the rules read of objects, and what they fill in where no API server has."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies import (
    IngressView,
    NamespaceView,
    PolicyPort,
    ServicePort,
    ServiceView,
)
from hedgerow.resource_manager.network_policies.views import Backend
from tests.unit.core.resource_manager.network_policies.objects import backend, ingress, namespace, ours, service


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        pytest.param({"port": 443}, ServicePort("", 443, PolicyPort("TCP", 443)), id="defaults"),
        pytest.param({"port": 443, "targetPort": 0}, ServicePort("", 443, PolicyPort("TCP", 443)), id="target 0"),
        pytest.param({"port": 443, "targetPort": ""}, ServicePort("", 443, PolicyPort("TCP", 443)), id="empty target"),
        pytest.param({"port": 443, "targetPort": None}, ServicePort("", 443, PolicyPort("TCP", 443)), id="null target"),
        pytest.param({"port": 443, "protocol": ""}, ServicePort("", 443, PolicyPort("TCP", 443)), id="empty protocol"),
        pytest.param({"port": 443, "targetPort": "8443"}, ServicePort("", 443, PolicyPort("TCP", 8443)), id="digits"),
        pytest.param({"port": 443, "targetPort": "https"}, ServicePort("", 443, PolicyPort("TCP", "https")), id="name"),
        pytest.param(
            {"port": 53, "protocol": "UDP", "name": "dns", "targetPort": 1053},
            ServicePort("dns", 53, PolicyPort("UDP", 1053)),
            id="complete",
        ),
    ],
)
def test_a_port_of_a_service_leads_to_a_container_port(port: Mapping[str, Any], expected: ServicePort) -> None:
    assert ServiceView.of(service(ports=[port])).ports == (expected,)


def test_a_service_is_seen_with_what_the_rules_read() -> None:
    whole = service({"namespace-selectors": "[]"}, uid="u", deletionTimestamp="2026-01-01T00:00:00Z")

    assert ServiceView.of(whole) == ServiceView(
        key=ObjectKey("shop", "cart"),
        annotations=ours({"namespace-selectors": "[]"}),
        selector={"app": "cart"},
        ports=(ServicePort("", 80, PolicyPort("TCP", 8080)),),
        terminating=True,
        uid="u",
    )


@pytest.mark.parametrize("spec", [None, {}, {"selector": None, "ports": None}, {"selector": {}, "ports": []}])
def test_a_service_may_have_nothing(spec: Mapping[str, Any] | None) -> None:
    view = ServiceView.of({"metadata": {"name": "cart", "namespace": "shop"}, "spec": spec})

    assert (dict(view.selector), view.ports, dict(view.annotations), view.terminating) == ({}, (), {}, False)


@pytest.mark.parametrize("labels", [None, {}, {"team": "x"}, {"team": "x", "kubernetes.io/metadata.name": "wrong"}])
def test_a_namespace_carries_its_name_as_a_label(labels: Mapping[str, str] | None) -> None:
    view = NamespaceView.of({"metadata": {"name": "b", "labels": labels}})

    assert view == NamespaceView("b", {**(labels or {}), "kubernetes.io/metadata.name": "b"})


def test_a_namespace_terminates_once_its_deletion_was_asked_for() -> None:
    assert NamespaceView.of(namespace("b", terminating=True)).terminating
    assert not NamespaceView.of(namespace("b")).terminating


def test_an_ingress_is_seen_by_the_service_backends_of_its_paths() -> None:
    found = ingress(backend(80), {"resource": {"kind": "Bucket", "name": "x"}}, backend("http", "orders"))

    assert IngressView.of(found) == IngressView("shop", (Backend("cart", "", 80), Backend("orders", "http", None)))


def test_a_view_of_a_view_is_itself() -> None:
    views = (ServiceView.of(service()), NamespaceView.of(namespace("b")), IngressView.of(ingress(backend(80))))

    assert (ServiceView.of(views[0]), NamespaceView.of(views[1]), IngressView.of(views[2])) == views
