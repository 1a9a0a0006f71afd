"""What is refused of Ingresses: whatever controllers could misread."""

from typing import Any

import pytest

from hedgerow_adapters.protocol import requests
from tests.contract.objects import INGRESSES, causes, refusal
from tests.contract.targets import Send

INVALID, REQUIRED, UNSUPPORTED = (f"FieldValue{reason}" for reason in ("Invalid", "Required", "NotSupported"))
PATH = "spec.rules[0].http.paths[0]"
BACKEND = f"{PATH}.backend"


def ingress(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "i"}, "spec": spec}


def path(**fields: Any) -> dict[str, Any]:
    """An Ingress with one path that leads to a Service, but for these fields."""
    sound = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "cart", "port": {"number": 80}}}}
    return ingress(rules=[{"http": {"paths": [{**sound, **fields}]}}])


def service(**fields: Any) -> dict[str, Any]:
    return path(backend={"service": {"name": "cart", "port": {"number": 80}, **fields}})


BAD_INGRESSES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "leads nowhere": (ingress(), [(INVALID, "spec")]),
    "without paths": (ingress(rules=[{"http": {}}]), [(REQUIRED, "spec.rules[0].http.paths")]),
    "no path type": (path(pathType=None, backend={}), [(REQUIRED, f"{PATH}.pathType")]),
    "empty path type": (path(pathType=""), [(UNSUPPORTED, f"{PATH}.pathType")]),
    "unknown path type": (path(pathType="Suffix"), [(UNSUPPORTED, f"{PATH}.pathType")]),
    "relative path": (path(path="a"), [(INVALID, f"{PATH}.path")]),
    "relative path of one's own type": (path(path="a", pathType="ImplementationSpecific"), [(INVALID, f"{PATH}.path")]),
    "a path with detours": (path(path="/a//b/.."), [(INVALID, f"{PATH}.path")]),
    "no backend": (path(backend=None), [(INVALID, BACKEND)]),
    "two backends": (
        path(backend={"service": {"name": "s", "port": {"number": 80}}, "resource": {"kind": "K", "name": "n"}}),
        [(INVALID, BACKEND)],
    ),
    "empty service": (
        path(backend={"service": {}}),
        [(REQUIRED, f"{BACKEND}.service.name"), (REQUIRED, BACKEND)],
    ),
    "bad service name": (service(name="a.b"), [(INVALID, f"{BACKEND}.service.name")]),
    "no port": (service(port=None), [(REQUIRED, BACKEND)]),
    "port 0": (service(port={"number": 0}), [(REQUIRED, BACKEND)]),
    "port 65536": (service(port={"number": 65536}), [(INVALID, f"{BACKEND}.service.port.number")]),
    "bad port name": (service(port={"name": "80"}), [(INVALID, f"{BACKEND}.service.port.name")]),
    "name and number": (service(port={"name": "http", "number": 80}), [(INVALID, BACKEND)]),
    "empty resource": (
        path(backend={"resource": {}}),
        [(REQUIRED, f"{BACKEND}.resource.kind"), (REQUIRED, f"{BACKEND}.resource.name")],
    ),
    "bad default backend": (ingress(defaultBackend={"service": {"name": "s"}}), [(REQUIRED, "spec.defaultBackend")]),
    "an address for a host": (ingress(rules=[{"host": "10.0.0.1"}]), [(INVALID, "spec.rules[0].host")]),
    "a wildcard inside of a host": (ingress(rules=[{"host": "a.*.b"}]), [(INVALID, "spec.rules[0].host")]),
    "a wildcard alone": (ingress(rules=[{"host": "*"}]), [(INVALID, "spec.rules[0].host")]),
}


@pytest.mark.parametrize(("body", "expected"), BAD_INGRESSES.values(), ids=BAD_INGRESSES)
def test_a_bad_ingress_is_refused(
    send: Send, namespace: str, body: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert causes(send(requests.create(INGRESSES, body, namespace))) == expected


WRONG_TYPES: dict[str, dict[str, Any]] = {
    "spec is a list": {"metadata": {"name": "i"}, "spec": []},
    "spec is a number": {"metadata": {"name": "i"}, "spec": 5},
    "rules are a mapping": ingress(rules={}),
    "a rule is a text": ingress(rules=["a"]),
    "paths are a text": ingress(rules=[{"http": {"paths": "/"}}]),
    "the service name is a list": service(name=["a"]),
    "the port number is a list": service(port={"number": [80]}),
    "the port number is a text": service(port={"number": "80"}),
    "the port number has more than 32 bits": service(port={"number": 2**32}),
}


@pytest.mark.parametrize("body", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_an_ingress_with_a_field_of_the_wrong_type_is_no_ingress(
    send: Send, namespace: str, body: dict[str, Any]
) -> None:
    assert refusal(send(requests.create(INGRESSES, body, namespace)))[:2] == (400, "BadRequest")


GOOD_INGRESSES: dict[str, dict[str, Any]] = {
    "a null rule": ingress(rules=[None]),
    "a host alone": ingress(rules=[{"host": "a.example"}]),
    "a wildcard host": ingress(rules=[{"host": "*.a.example"}]),
    "a port by name": service(port={"name": "http", "number": 0}),
    "no path where its meaning is one's own": path(path=None, pathType="ImplementationSpecific"),
    "a resource": path(backend={"resource": {"apiGroup": "example.com", "kind": "Bucket", "name": "static"}}),
}


@pytest.mark.parametrize("body", GOOD_INGRESSES.values(), ids=GOOD_INGRESSES)
def test_an_ingress_at_the_edge_of_the_rules_is_accepted(send: Send, namespace: str, body: dict[str, Any]) -> None:
    assert send(requests.create(INGRESSES, body, namespace)).status == 201
