"""Namespaces: what is refused in them, and how they terminate."""

import pytest

from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import CONFIG_MAPS, NAMESPACES, NETWORK_POLICIES, config_map, key, policy, refusal, version
from tests.contract.targets import Send


def test_nothing_is_created_in_a_namespace_that_does_not_exist(send: Send) -> None:
    refused = send(requests.create(CONFIG_MAPS, config_map("a"), "nowhere"))

    assert refusal(refused) == (404, "NotFound", 'namespaces "nowhere" not found')
    assert refused.body["details"] == {"name": "nowhere", "kind": "namespaces"}


def test_nothing_is_created_in_a_namespace_that_terminates(send: Send, namespace: str) -> None:
    send(requests.create(NETWORK_POLICIES, policy("there"), namespace))
    send(requests.delete(NAMESPACES, key("", namespace)))

    refused = send(requests.create(NETWORK_POLICIES, policy("late"), namespace))

    problem = f"unable to create new content in namespace {namespace} because it is being terminated"
    message = f'networkpolicies.networking.k8s.io "late" is forbidden: {problem}'
    assert refusal(refused) == (403, "Forbidden", message)
    assert refused.body["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
    ]


def test_what_is_in_a_terminating_namespace_can_still_be_changed_and_deleted(send: Send, namespace: str) -> None:
    send(requests.create(NETWORK_POLICIES, policy("p"), namespace))
    send(requests.delete(NAMESPACES, key("", namespace)))

    labels = {"metadata": {"labels": {"a": "b"}}}

    assert send(requests.merge_patch(NETWORK_POLICIES, key(namespace, "p"), labels)).status == 200
    assert send(requests.delete(NETWORK_POLICIES, key(namespace, "p"))).status == 200


def test_a_deleted_namespace_terminates_until_it_is_finalized(send: Send, namespace: str) -> None:
    marked = send(requests.delete(NAMESPACES, key("", namespace)))

    assert marked.body["metadata"]["deletionTimestamp"]
    assert marked.body["status"]["phase"] == "Terminating"
    assert marked.body["spec"] == {"finalizers": ["kubernetes"]}
    again = send(requests.delete(NAMESPACES, key("", namespace)))
    assert version(again) == version(marked)

    path = requests.object_path(NAMESPACES, key("", namespace), "finalize")
    send(Request("PUT", path, body={"metadata": {"name": namespace}, "spec": {"finalizers": []}}))

    assert send(requests.get(NAMESPACES, key("", namespace))).status == 404


def test_the_name_label_and_the_finalizers_of_a_namespace_cannot_be_changed(send: Send, namespace: str) -> None:
    before = send(requests.get(NAMESPACES, key("", namespace)))

    patch = {"metadata": {"labels": {"kubernetes.io/metadata.name": "other"}}, "spec": {"finalizers": []}}

    assert send(requests.merge_patch(NAMESPACES, key("", namespace), patch)).body == before.body


def test_nobody_can_say_that_a_namespace_terminates_without_deleting_it(send: Send, namespace: str) -> None:
    patch = {"status": {"phase": "Terminating"}}

    refused = send(requests.merge_patch(NAMESPACES, key("", namespace), patch, subresource="status"))

    problem = "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"
    assert refusal(refused) == (422, "Invalid", f'Namespace "{namespace}" is invalid: {problem}')


def test_labels_of_a_namespace_can_be_changed(send: Send, namespace: str) -> None:
    patched = send(requests.merge_patch(NAMESPACES, key("", namespace), {"metadata": {"labels": {"role": "shoot"}}}))

    assert patched.body["metadata"]["labels"] == {"kubernetes.io/metadata.name": namespace, "role": "shoot"}


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_namespaces_of_the_system_cannot_be_deleted(send: Send, name: str) -> None:
    refused = send(requests.delete(NAMESPACES, key("", name)))

    assert refusal(refused) == (
        403,
        "Forbidden",
        f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )
