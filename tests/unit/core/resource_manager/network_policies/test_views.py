"""What the rules read of objects, and what they fill in where no API server has."""

from collections.abc import Mapping
from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies import PolicyPort, desired_network_policies
from hedgerow.resource_manager.network_policies.views import (
    Backend,
    IngressView,
    NamespaceView,
    ServicePort,
    ServiceView,
)
from tests.unit.core.resource_manager.network_policies.objects import (
    BEHIND_INGRESS,
    DOMAIN,
    backend,
    ingress,
    namespace,
    ours,
    service,
)


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


NAMED = {"name": "cart", "namespace": "shop"}


def in_metadata(**fields: Any) -> Mapping[str, Any]:
    return {"metadata": {**NAMED, **fields}}


def in_spec(**fields: Any) -> Mapping[str, Any]:
    return {"metadata": NAMED, "spec": fields}


@pytest.mark.parametrize(
    ("manifest", "failures"),
    [
        pytest.param(
            {},
            [
                "Service without a name: metadata.name: is missing",
                "Service without a name: metadata.namespace: is missing",
            ],
            id="{}",
        ),
        pytest.param({"metadata": []}, ["Service without a name: metadata: must be a mapping"], id="metadata"),
        pytest.param(in_metadata(name=""), ["Service without a name: metadata.name: is missing"], id="empty name"),
        pytest.param(in_metadata(name=5), ["Service shop/5: metadata.name: must be a string"], id="name"),
        pytest.param(
            in_metadata(namespace=None), ["Service cart: metadata.namespace: is missing"], id="missing namespace"
        ),
        pytest.param(
            in_metadata(name="Cart"),
            [
                (
                    'Service shop/Cart: metadata.name: must consist of a-z, 0-9 and "-", starting and ending with a '
                    'letter or digit, for example "my-name" or "123-abc"'
                )
            ],
            id="illegal name",
        ),
        pytest.param(
            in_metadata(namespace="a.b"),
            ['Service a.b/cart: metadata.namespace: must not contain dots, for example "my-name" or "123-abc"'],
            id="illegal namespace",
        ),
        pytest.param(
            in_metadata(annotations="x"),
            ["Service shop/cart: metadata.annotations: must be a mapping"],
            id="annotations",
        ),
        pytest.param(
            in_metadata(annotations={f"{DOMAIN}/from-world-to-ports": [{"port": 80}]}),
            [f"Service shop/cart: metadata.annotations[{DOMAIN}/from-world-to-ports]: must be a string"],
            id="annotation",
        ),
        pytest.param(
            in_metadata(annotations={True: "x"}),
            ["Service shop/cart: metadata.annotations: key True must be a string"],
            id="annotation key",
        ),
        pytest.param({**in_metadata(), "spec": []}, ["Service shop/cart: spec: must be a mapping"], id="spec"),
        pytest.param(in_spec(selector=["x"]), ["Service shop/cart: spec.selector: must be a mapping"], id="selector"),
        pytest.param(
            in_spec(selector={"a": 1, 2: "b"}),
            [
                "Service shop/cart: spec.selector: key 2 must be a string",
                "Service shop/cart: spec.selector[a]: must be a string",
            ],
            id="selector entries",
        ),
        pytest.param(in_spec(ports={}), ["Service shop/cart: spec.ports: must be a list"], id="ports"),
        pytest.param(in_spec(ports=[80]), ["Service shop/cart: spec.ports[0]: must be a mapping"], id="port"),
        pytest.param(in_spec(ports=[None]), ["Service shop/cart: spec.ports[0].port: is missing"], id="null port"),
        pytest.param(
            in_spec(ports=[{"port": 1}, {"port": "80", "targetPort": 1.5, "protocol": 6, "name": True}]),
            [
                "Service shop/cart: spec.ports[1].name: must be a string",
                "Service shop/cart: spec.ports[1].port: must be a number",
                "Service shop/cart: spec.ports[1].protocol: must be a string",
                "Service shop/cart: spec.ports[1].targetPort: must be a number or a name",
            ],
            id="fields of a port",
        ),
        pytest.param(
            in_spec(ports=[{"port": True}]), ["Service shop/cart: spec.ports[0].port: must be a number"], id="boolean"
        ),
    ],
)
def test_a_manifest_that_is_no_service_says_where(manifest: Mapping[str, Any], failures: list[str]) -> None:
    match desired_network_policies(manifest, []):
        case Failure(found):
            assert [str(failure) for failure in found] == failures
        case _:
            pytest.fail("it was read")


@pytest.mark.parametrize(
    ("manifest", "failures"),
    [
        pytest.param({"metadata": {}}, ["Namespace without a name: metadata.name: is missing"], id="name"),
        pytest.param(
            {"metadata": {"name": "b", "labels": {"team": 1}}},
            ["Namespace b: metadata.labels[team]: must be a string"],
            id="label",
        ),
        pytest.param(
            {"metadata": {"name": "b", "labels": ["x"]}},
            ["Namespace b: metadata.labels: must be a mapping"],
            id="labels",
        ),
    ],
)
def test_a_manifest_that_is_no_namespace_says_where(manifest: Mapping[str, Any], failures: list[str]) -> None:
    selecting = service({"namespace-selectors": "[{}]"})

    match desired_network_policies(selecting, [namespace("shop"), manifest]):
        case Failure(found):
            assert [str(failure) for failure in found] == failures
        case _:
            pytest.fail("it was read")


@pytest.mark.parametrize(
    "other", [{"metadata": {"name": "b", "labels": 1}}, {"metadata": {"name": ["b"]}}, {"metadata": "b"}, {}]
)
def test_a_namespace_that_does_not_matter_is_not_looked_at(other: Mapping[str, Any]) -> None:
    result = desired_network_policies(service(), [other, namespace("shop")])

    assert len(result.unwrap().policies) == 2


@pytest.mark.parametrize(
    ("spec", "failure"),
    [
        ("x", "spec: must be a mapping"),
        ({"rules": {}}, "spec.rules: must be a list"),
        ({"rules": ["x"]}, "spec.rules[0]: must be a mapping"),
        ({"rules": [{"http": []}]}, "spec.rules[0].http: must be a mapping"),
        ({"rules": [{}, {"http": {"paths": {}}}]}, "spec.rules[1].http.paths: must be a list"),
        ({"rules": [{"http": {"paths": ["x"]}}]}, "spec.rules[0].http.paths[0]: must be a mapping"),
        (
            {"rules": [{"http": {"paths": [{"backend": "x"}]}}]},
            "spec.rules[0].http.paths[0].backend: must be a mapping",
        ),
        (
            {"rules": [{"http": {"paths": [{"backend": {"service": {"name": 1}}}]}}]},
            "spec.rules[0].http.paths[0].backend.service.name: must be a string",
        ),
        (
            {"rules": [{"http": {"paths": [{"backend": {"service": {"name": "x", "port": {"number": "80"}}}}]}}]},
            "spec.rules[0].http.paths[0].backend.service.port.number: must be a number",
        ),
    ],
)
def test_a_manifest_that_is_no_ingress_says_where(spec: Any, failure: str) -> None:
    manifest = {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}

    match desired_network_policies(service(), [], [manifest], BEHIND_INGRESS):
        case Failure(found):
            assert [str(each) for each in found] == [f"Ingress shop/web: {failure}"]
        case _:
            pytest.fail("it was read")


def test_ingresses_are_not_looked_at_where_nobody_reads_them() -> None:
    assert isinstance(desired_network_policies(service(), [], [{"metadata": [], "spec": "x"}]), Success)


def test_views_and_what_they_were_made_of_have_a_shape() -> None:
    objects = service(), namespace("shop"), ingress(backend(80))
    views = ServiceView.of(objects[0]), NamespaceView.of(objects[1]), IngressView.of(objects[2])

    assert isinstance(desired_network_policies(objects[0], [objects[1]], [objects[2]], BEHIND_INGRESS), Success)
    assert isinstance(desired_network_policies(views[0], [views[1]], [views[2]], BEHIND_INGRESS), Success)
