"""What keeps manifests from being read, by object and field."""

from collections.abc import Mapping
from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow.resource_manager.network_policies import (
    IngressView,
    NamespaceView,
    ServiceView,
    desired_network_policies,
)
from tests.unit.core.resource_manager.network_policies.objects import (
    BEHIND_INGRESS,
    DOMAIN,
    backend,
    ingress,
    namespace,
    service,
)

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
            [f'Service shop/cart: metadata.annotations["{DOMAIN}/from-world-to-ports"]: must be a string'],
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
                'Service shop/cart: spec.selector["a"]: must be a string',
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
            ['Namespace b: metadata.labels["team"]: must be a string'],
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
