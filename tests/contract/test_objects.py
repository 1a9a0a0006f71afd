"""Creating and reading objects."""

from typing import Any

import pytest

from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import (
    CONFIG_MAPS,
    CORE_EVENTS,
    EVENTS,
    INGRESSES,
    LEASES,
    NAMESPACES,
    NETWORK_POLICIES,
    SECRETS,
    SERVICES,
    config_map,
    key,
    policy,
    refusal,
    version,
)
from tests.contract.targets import Send

SERVER_MADE = {"uid", "resourceVersion", "creationTimestamp"}


def test_a_created_object_has_what_was_given_and_what_the_server_makes(send: Send, namespace: str) -> None:
    created = send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1"}, labels={"l": "v"}), namespace))

    assert created.status == 201
    metadata = dict(created.body["metadata"])
    assert {name for name in SERVER_MADE if metadata.pop(name)} == SERVER_MADE
    assert {**created.body, "metadata": metadata} == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": namespace, "labels": {"l": "v"}},
        "data": {"x": "1"},
    }
    assert send(requests.get(CONFIG_MAPS, key(namespace, "a"))).body == created.body


def test_what_the_server_makes_cannot_be_given(send: Send, namespace: str) -> None:
    given = {"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "deletionTimestamp": "2001-01-01T00:00:00Z"}

    created = send(requests.create(NETWORK_POLICIES, policy("p", generation=7, **given), namespace)).body["metadata"]

    assert created["uid"] != "mine"
    assert created["creationTimestamp"] != given["creationTimestamp"]
    assert "deletionTimestamp" not in created
    assert created["generation"] == 1


def test_a_second_object_of_the_same_name_is_refused(send: Send, namespace: str) -> None:
    send(requests.create(NETWORK_POLICIES, policy("p"), namespace))

    again = send(requests.create(NETWORK_POLICIES, policy("p"), namespace))

    message = 'networkpolicies.networking.k8s.io "p" already exists'
    assert refusal(again) == (409, "AlreadyExists", message)
    assert again.body["details"] == {"name": "p", "group": "networking.k8s.io", "kind": "networkpolicies"}


def test_a_name_is_made_from_a_prefix(send: Send, namespace: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-"}}

    made = [send(requests.create(CONFIG_MAPS, body, namespace)).body["metadata"] for _ in range(2)]

    assert all(metadata["name"].startswith("made-") and len(metadata["name"]) == 10 for metadata in made)
    assert made[0]["name"] != made[1]["name"]
    assert {metadata["generateName"] for metadata in made} == {"made-"}


REFUSED_BODIES: dict[str, tuple[dict[str, Any], tuple[int, str | None, str]]] = {
    "another namespace": (
        config_map("a", namespace="elsewhere"),
        (
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ),
    "a resource version": (
        config_map("a", resourceVersion="12"),
        (500, None, "resourceVersion should not be set on objects to be created"),
    ),
    "no name": (
        {"metadata": {}},
        (
            422,
            "Invalid",
            'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        ),
    ),
}


@pytest.mark.parametrize(("body", "expected"), REFUSED_BODIES.values(), ids=REFUSED_BODIES)
def test_a_body_that_does_not_fit_the_request_is_refused(
    send: Send, namespace: str, body: dict[str, Any], expected: tuple[int, str | None, str]
) -> None:
    assert refusal(send(requests.create(CONFIG_MAPS, body, namespace))) == expected


WRONG_TYPES: dict[str, dict[str, Any]] = {
    "another kind": {**config_map("a"), "kind": "Secret"},
    "another version": {**config_map("a"), "apiVersion": "v2"},
    "a label that is a number": config_map("a", labels={"l": 1}),
    "labels that are a list": config_map("a", labels=["l"]),
    "data that is a number": {**config_map("a"), "data": {"x": 1}},
}


@pytest.mark.parametrize("body", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_a_body_of_the_wrong_type_is_no_object(send: Send, namespace: str, body: dict[str, Any]) -> None:
    assert refusal(send(requests.create(CONFIG_MAPS, body, namespace)))[:2] == (400, "BadRequest")


def test_what_does_not_exist_is_not_found(send: Send, namespace: str) -> None:
    missing = send(requests.get(LEASES, key(namespace, "nobody")))

    assert refusal(missing) == (404, "NotFound", 'leases.coordination.k8s.io "nobody" not found')
    assert missing.body["details"] == {"name": "nobody", "group": "coordination.k8s.io", "kind": "leases"}


NO_PATHS = ["/api/v1/hedges", "/api/v1/namespaces/default/hedges/a", "/api/v1/namespaces/default/configmaps/a/status"]


@pytest.mark.parametrize("path", NO_PATHS)
def test_a_path_that_leads_nowhere_is_not_found(send: Send, path: str) -> None:
    assert refusal(send(Request("GET", path))) == (404, "NotFound", "the server could not find the requested resource")


NO_METHODS = [
    ("POST", "/api/v1/configmaps"),
    ("PUT", "/api/v1/namespaces/default/configmaps"),
    ("PATCH", "/api/v1/namespaces/default/configmaps"),
    ("POST", "/api/v1/namespaces/default/configmaps/a"),
    ("DELETE", "/api/v1/namespaces"),
]


@pytest.mark.parametrize(("method", "path"), NO_METHODS)
def test_a_method_that_a_path_does_not_have_is_refused(send: Send, method: str, path: str) -> None:
    message = "the server does not allow this method on the requested resource"

    assert refusal(send(Request(method, path, body={}))) == (405, "MethodNotAllowed", message)


def test_a_policy_is_completed(send: Send, namespace: str) -> None:
    rules = {"ingress": [{"ports": [{"port": 80}, {"protocol": "UDP", "port": "dns"}], "from": []}], "egress": [{}]}

    created = send(requests.create(NETWORK_POLICIES, policy("p", {"podSelector": None, **rules}), namespace))

    assert created.body["spec"] == {
        "podSelector": {},
        "ingress": [{"ports": [{"protocol": "TCP", "port": 80}, {"protocol": "UDP", "port": "dns"}]}],
        "egress": [{}],
        "policyTypes": ["Ingress", "Egress"],
    }


def test_a_policy_without_rules_is_for_ingress_and_empty_lists_are_not_kept(send: Send, namespace: str) -> None:
    spec = {"podSelector": {"matchLabels": {}}, "ingress": [], "egress": [], "policyTypes": [], "unknown": 1}

    created = send(requests.create(NETWORK_POLICIES, policy("p", spec), namespace))

    assert created.body["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}


def test_a_service_is_completed(send: Send, namespace: str) -> None:
    spec = {
        "selector": {"app": "cart"},
        "ports": [{"name": "web", "port": 80}, {"name": "api", "port": 81, "targetPort": "api"}],
    }

    created = send(requests.create(SERVICES, {"metadata": {"name": "cart"}, "spec": spec}, namespace)).body

    assert created["spec"]["type"] == "ClusterIP"
    assert created["spec"]["sessionAffinity"] == "None"
    assert created["spec"]["selector"] == {"app": "cart"}
    assert created["spec"]["ports"] == [
        {"name": "web", "protocol": "TCP", "port": 80, "targetPort": 80},
        {"name": "api", "protocol": "TCP", "port": 81, "targetPort": "api"},
    ]
    assert created["status"] == {"loadBalancer": {}}
    assert "generation" not in created["metadata"]


def test_a_namespace_is_completed(send: Send, namespace: str) -> None:
    read = send(requests.get(NAMESPACES, key("", namespace))).body

    assert read["metadata"]["labels"] == {"kubernetes.io/metadata.name": namespace}
    assert read["spec"] == {"finalizers": ["kubernetes"]}
    assert read["status"] == {"phase": "Active"}
    assert "generation" not in read["metadata"]


def test_plain_data_of_a_secret_is_encoded(send: Send, namespace: str) -> None:
    created = send(requests.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"a": "b"}}, namespace)).body

    assert (created["type"], created["data"]) == ("Opaque", {"a": "Yg=="})
    assert "stringData" not in created


def test_an_ingress_counts_its_generations(send: Send, namespace: str) -> None:
    backend = {"service": {"name": "cart", "port": {"number": 80}}}

    created = send(
        requests.create(INGRESSES, {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}}, namespace)
    )

    assert created.body["metadata"]["generation"] == 1
    assert created.body["status"] == {"loadBalancer": {}}


def test_an_event_is_the_same_in_both_groups(send: Send, namespace: str) -> None:
    event = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Service", "namespace": namespace, "name": "cart"},
        "reason": "Skipped",
        "note": "because",
        "type": "Warning",
        "action": "Reconcile",
        "reportingController": "hedgerow/networkpolicy",
        "reportingInstance": "host",
        "eventTime": "2026-01-01T00:00:00.000000Z",
    }

    created = send(requests.create(EVENTS, event, namespace))
    core = send(requests.get(CORE_EVENTS, key(namespace, "e")))

    assert created.status == 201
    assert (core.body["involvedObject"], core.body["message"]) == (event["regarding"], "because")
    assert core.body["reportingComponent"] == "hedgerow/networkpolicy"
    assert version(core) == version(created)


def test_metadata_alone_is_answered_to_who_asks_for_it(send: Send, namespace: str) -> None:
    created = send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1"}), namespace))
    path = requests.object_path(CONFIG_MAPS, key(namespace, "a"))

    assert send(Request("GET", path, accept=requests.METADATA)).body == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": created.body["metadata"],
    }
    assert send(Request("GET", path, accept=requests.METADATA_LIST)).status == 406
