"""Updates: versions, generations, immutable metadata and the status subresource."""

from typing import Any

import pytest

from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import (
    CONFIG_MAPS,
    INGRESSES,
    LEASES,
    NETWORK_POLICIES,
    NODES,
    SECRETS,
    SERVICES,
    causes,
    config_map,
    key,
    lease,
    policy,
    refusal,
    version,
)
from tests.contract.targets import Send

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def test_an_update_replaces_the_object_and_changes_its_version(send: Send, namespace: str) -> None:
    created = send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1"}, labels={"l": "v"}), namespace))

    body = config_map("a", {"y": "2"}, resourceVersion=version(created))
    updated = send(requests.update(CONFIG_MAPS, key(namespace, "a"), body))

    assert updated.status == 200
    assert updated.body["data"] == {"y": "2"}
    assert "labels" not in updated.body["metadata"]
    assert int(version(updated)) > int(version(created))
    for name in ("uid", "creationTimestamp"):
        assert updated.body["metadata"][name] == created.body["metadata"][name]


def test_an_update_made_for_an_older_version_is_a_conflict(send: Send, namespace: str) -> None:
    created = send(requests.create(NETWORK_POLICIES, policy("p"), namespace))
    send(requests.merge_patch(NETWORK_POLICIES, key(namespace, "p"), {"metadata": {"labels": {"a": "b"}}}))

    body = policy("p", resourceVersion=version(created))
    refused = send(requests.update(NETWORK_POLICIES, key(namespace, "p"), body))

    message = f'Operation cannot be fulfilled on networkpolicies.networking.k8s.io "p": {MODIFIED}'
    assert refusal(refused) == (409, "Conflict", message)
    assert refused.body["details"] == {"name": "p", "group": "networking.k8s.io", "kind": "networkpolicies"}


def test_an_update_of_another_object_of_that_name_is_a_conflict(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    refused = send(requests.update(CONFIG_MAPS, key(namespace, "a"), config_map("a", uid="another")))

    assert refusal(refused)[:2] == (409, "Conflict")


def test_most_kinds_can_be_updated_without_a_version(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert send(requests.update(CONFIG_MAPS, key(namespace, "a"), config_map("a", {"x": "1"}))).status == 200


def test_a_lease_cannot_be_updated_without_a_version(send: Send, namespace: str) -> None:
    send(requests.create(LEASES, lease("l", "one"), namespace))

    refused = send(requests.update(LEASES, key(namespace, "l"), lease("l", "two")))

    problem = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    assert refusal(refused) == (422, "Invalid", f'leases.coordination.k8s.io "l" is invalid: {problem}')
    assert refused.body["details"]["kind"] == "leases"


def test_of_two_candidates_one_gets_the_lease(send: Send, namespace: str) -> None:
    seen = version(send(requests.create(LEASES, lease("l", "nobody"), namespace)))

    answers = [
        send(requests.update(LEASES, key(namespace, "l"), lease("l", holder, resourceVersion=seen)))
        for holder in ("one", "two")
    ]

    assert [answer.status for answer in answers] == [200, 409]
    assert refusal(answers[1])[1:] == (
        "Conflict",
        f'Operation cannot be fulfilled on leases.coordination.k8s.io "l": {MODIFIED}',
    )
    assert send(requests.get(LEASES, key(namespace, "l"))).body["spec"]["holderIdentity"] == "one"


def test_an_update_of_what_does_not_exist_is_not_found(send: Send, namespace: str) -> None:
    refused = send(requests.update(CONFIG_MAPS, key(namespace, "a"), config_map("a", resourceVersion="5")))

    assert refusal(refused) == (404, "NotFound", 'configmaps "a" not found')


BAD_NAMES: dict[str, tuple[dict[str, Any], str]] = {
    "none": (
        {"metadata": {}},
        "the name of the object (a based on URL) was undeterminable: name must be provided",
    ),
    "another": (config_map("b"), "the name of the object (b) does not match the name on the URL (a)"),
    "another namespace": (
        config_map("a", namespace="elsewhere"),
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
}


@pytest.mark.parametrize(("body", "message"), BAD_NAMES.values(), ids=BAD_NAMES)
def test_the_body_names_the_object_of_the_path(send: Send, namespace: str, body: dict[str, Any], message: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert refusal(send(requests.update(CONFIG_MAPS, key(namespace, "a"), body))) == (400, "BadRequest", message)


def test_an_update_that_changes_nothing_keeps_the_version(send: Send, namespace: str) -> None:
    created = send(requests.create(NETWORK_POLICIES, policy("p", {"ingress": [{"ports": [{"port": 1}]}]}), namespace))

    ports = [{"port": 1, "protocol": "TCP"}]
    spelled_otherwise = policy("p", {"podSelector": {}, "ingress": [{"ports": ports}], "policyTypes": []}, labels={})
    updated = send(requests.update(NETWORK_POLICIES, key(namespace, "p"), spelled_otherwise))
    patched = send(requests.merge_patch(NETWORK_POLICIES, key(namespace, "p"), {"metadata": {"labels": {"no": None}}}))

    assert updated.body == created.body
    assert patched.body == created.body


@pytest.mark.parametrize(
    ("patch", "generation"),
    [
        ({"metadata": {"labels": {"a": "b"}}}, 1),
        ({"metadata": {"generation": 9}}, 1),
        ({"spec": {"policyTypes": None}}, 1),
        ({"spec": {"podSelector": {"matchLabels": {"a": "b"}}}}, 2),
    ],
    ids=["labels", "the generation itself", "to the same spec", "the spec"],
)
def test_the_generation_counts_changes_of_the_spec(
    send: Send, namespace: str, patch: dict[str, Any], generation: int
) -> None:
    send(requests.create(NETWORK_POLICIES, policy("p"), namespace))

    patched = send(requests.merge_patch(NETWORK_POLICIES, key(namespace, "p"), patch))

    assert patched.body["metadata"]["generation"] == generation


@pytest.mark.parametrize(
    "spec",
    [
        {"podSelector": {}, "ingress": [{"from": []}]},
        {"podSelector": {}, "ingress": [{}], "egress": []},
        {"podSelector": {"matchLabels": {}}, "ingress": [{}]},
    ],
    ids=["peers", "rules", "labels"],
)
def test_what_is_empty_in_a_policy_counts_as_a_change_every_time_that_it_is_spelled_out(
    send: Send, namespace: str, spec: dict[str, Any]
) -> None:
    created = send(requests.create(NETWORK_POLICIES, policy("p", {"podSelector": {}, "ingress": [{}]}), namespace))

    updates = [send(requests.update(NETWORK_POLICIES, key(namespace, "p"), policy("p", spec))) for _ in range(2)]

    assert [update.body["spec"] for update in updates] == [created.body["spec"]] * 2
    assert [update.body["metadata"]["generation"] for update in updates] == [2, 3]


def test_times_of_the_server_cannot_be_changed(send: Send, namespace: str) -> None:
    created = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    patch = {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z"}}
    ignored = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), patch))
    deletion = {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}}
    refused = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), deletion))

    assert ignored.body == created.body
    assert causes(refused) == [("FieldValueInvalid", "metadata.deletionTimestamp")]


def test_a_uid_is_immutable(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    refused = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"metadata": {"uid": "mine"}}))

    problem = 'metadata.uid: Invalid value: "mine": field is immutable'
    assert refusal(refused) == (422, "Invalid", f'ConfigMap "a" is invalid: {problem}')


def test_the_type_of_a_secret_is_immutable(send: Send, namespace: str) -> None:
    send(requests.create(SECRETS, {"metadata": {"name": "s"}}, namespace))

    refused = send(requests.merge_patch(SECRETS, key(namespace, "s"), {"type": "other"}))

    assert refusal(refused)[2] == 'Secret "s" is invalid: type: Invalid value: "other": field is immutable'


@pytest.fixture
def ingress(send: Send, namespace: str) -> dict[str, Any]:
    """An Ingress, as created."""
    backend = {"service": {"name": "cart", "port": {"number": 80}}}
    body = {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}}
    created: dict[str, Any] = send(requests.create(INGRESSES, body, namespace)).body
    return created


STATUS = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}


def test_a_status_is_written_apart_from_the_spec(send: Send, namespace: str, ingress: dict[str, Any]) -> None:
    patch = {"status": STATUS, "spec": {"ingressClassName": "other"}}
    with_status = send(requests.merge_patch(INGRESSES, key(namespace, "i"), patch, subresource="status")).body

    assert with_status["status"] == STATUS
    assert with_status["spec"] == ingress["spec"]
    assert with_status["metadata"]["generation"] == 1

    patch = {"status": {"loadBalancer": None}, "spec": {"ingressClassName": "other"}}
    with_spec = send(requests.merge_patch(INGRESSES, key(namespace, "i"), patch)).body

    assert with_spec["status"] == STATUS
    assert with_spec["spec"] == {**ingress["spec"], "ingressClassName": "other"}
    assert with_spec["metadata"]["generation"] == 2


def test_a_status_is_replaced_and_read_by_its_own_path(send: Send, namespace: str, ingress: dict[str, Any]) -> None:
    body = {"metadata": ingress["metadata"], "status": STATUS}

    replaced = send(requests.update(INGRESSES, key(namespace, "i"), body, "status"))

    assert replaced.body["spec"] == ingress["spec"]
    path = requests.object_path(INGRESSES, key(namespace, "i"), "status")
    assert send(Request("GET", path)).body == replaced.body


def test_the_status_of_a_node_is_patched(send: Send, namespace: str) -> None:
    send(requests.create(NODES, {"metadata": {"name": namespace}}))

    addresses = {"status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]}}
    patched = send(requests.merge_patch(NODES, key("", namespace), addresses, subresource="status"))

    assert patched.body["status"]["addresses"] == addresses["status"]["addresses"]
    send(requests.delete(NODES, key("", namespace)))


def test_ports_of_a_patched_service_are_completed_again(send: Send, namespace: str) -> None:
    body = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    send(requests.create(SERVICES, body, namespace))

    patched = send(requests.merge_patch(SERVICES, key(namespace, "s"), {"spec": {"ports": [{"port": 81}]}}))

    assert patched.body["spec"]["ports"] == [{"protocol": "TCP", "port": 81, "targetPort": 81}]
