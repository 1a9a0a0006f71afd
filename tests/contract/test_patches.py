"""Merge patches and JSON patches."""

from typing import Any

import pytest

from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import CONFIG_MAPS, NETWORK_POLICIES, causes, config_map, key, policy, refusal, version
from tests.contract.targets import Send

NOT_APPLICABLE = (422, "Invalid", "the server rejected our request due to an error in our request")
RULES = {
    "podSelector": {"matchLabels": {"app": "cart"}},
    "ingress": [{"ports": [{"protocol": "TCP", "port": 1}, {"protocol": "TCP", "port": 2}]}],
    "policyTypes": ["Ingress"],
}


def test_a_merge_patch_sets_and_removes_fields(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1", "y": "2"}, labels={"l": "v"}), namespace))

    patch = {"data": {"x": None, "z": "3"}, "metadata": {"labels": None, "annotations": {"n": ""}}}
    patched = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), patch))

    assert patched.status == 200
    assert patched.body["data"] == {"y": "2", "z": "3"}
    assert patched.body["metadata"]["annotations"] == {"n": ""}
    assert "labels" not in patched.body["metadata"]


def test_a_merge_patch_replaces_lists(send: Send, namespace: str) -> None:
    send(requests.create(NETWORK_POLICIES, policy("p", RULES), namespace))

    patched = send(requests.merge_patch(NETWORK_POLICIES, key(namespace, "p"), {"spec": {"ingress": [{}]}}))

    assert patched.body["spec"] == {**RULES, "ingress": [{}]}


def test_a_merge_patch_with_the_present_version_applies_and_with_an_older_one_does_not(
    send: Send, namespace: str
) -> None:
    first = version(send(requests.create(CONFIG_MAPS, config_map("a"), namespace)))
    patch = {"data": {"x": "1"}}

    applied = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), patch, resource_version=first))
    late = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {}}, resource_version=first))

    assert applied.body["data"] == {"x": "1"}
    problem = "the object has been modified; please apply your changes to the latest version and try again"
    assert refusal(late) == (409, "Conflict", f'Operation cannot be fulfilled on configmaps "a": {problem}')


def test_a_patch_of_what_does_not_exist_is_not_found(send: Send, namespace: str) -> None:
    refused = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {}}))

    assert refusal(refused) == (404, "NotFound", 'configmaps "a" not found')


MISNAMED = {
    "name": ({"name": "b"}, "the name of the object (b) does not match the name on the URL (a)"),
    "namespace": (
        {"namespace": "b"},
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
}


@pytest.mark.parametrize(("metadata", "message"), MISNAMED.values(), ids=MISNAMED)
def test_a_patch_cannot_rename(send: Send, namespace: str, metadata: dict[str, Any], message: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    refused = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"metadata": metadata}))

    assert refusal(refused) == (400, "BadRequest", message)


@pytest.mark.parametrize(
    "patch", [{"kind": "Secret"}, {"metadata": {"labels": {"l": 1}}}, {"data": ["x"]}], ids=["kind", "label", "data"]
)
def test_a_patch_to_what_is_no_such_object_is_invalid(send: Send, namespace: str, patch: dict[str, Any]) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert causes(send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), patch))) == [
        ("FieldValueInvalid", "patch")
    ]


def test_a_patch_of_an_unknown_type_is_refused(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    path = requests.object_path(CONFIG_MAPS, key(namespace, "a"))

    refused = send(Request("PATCH", path, body={}, content_type="application/other"))

    assert refusal(refused) == (415, "UnsupportedMediaType", "415: Unsupported Media Type")


@pytest.mark.parametrize(
    ("body", "content_type"), [([], requests.MERGE_PATCH), ({}, requests.JSON_PATCH)], ids=["merge patch", "JSON patch"]
)
def test_a_patch_that_is_none_is_refused(send: Send, namespace: str, body: Any, content_type: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    path = requests.object_path(CONFIG_MAPS, key(namespace, "a"))

    assert refusal(send(Request("PATCH", path, body=body, content_type=content_type)))[:2] == (400, "BadRequest")


PORTS = "/spec/ingress/0/ports"
APPLICABLE: dict[str, tuple[list[dict[str, Any]], list[int]]] = {
    "nothing": ([], [1, 2]),
    "add at the end": ([{"op": "add", "path": f"{PORTS}/-", "value": {"port": 3}}], [1, 2, 3]),
    "add behind the last": ([{"op": "add", "path": f"{PORTS}/2", "value": {"port": 3}}], [1, 2, 3]),
    "add in front": ([{"op": "add", "path": f"{PORTS}/0", "value": {"port": 3}}], [3, 1, 2]),
    "remove": ([{"op": "remove", "path": f"{PORTS}/0"}], [2]),
    "replace": ([{"op": "replace", "path": f"{PORTS}/1/port", "value": 9}], [1, 9]),
    "move": ([{"op": "move", "from": f"{PORTS}/0", "path": f"{PORTS}/1"}], [2, 1]),
    "copy": ([{"op": "copy", "from": f"{PORTS}/0", "path": f"{PORTS}/-"}], [1, 2, 1]),
    "test": ([{"op": "test", "path": f"{PORTS}/0", "value": {"protocol": "TCP", "port": 1}}], [1, 2]),
    "test of nothing": ([{"op": "test", "path": "/spec/egress", "value": None}], [1, 2]),
    "replace of nothing": ([{"op": "replace", "path": "/metadata/annotations", "value": {"a": "b"}}], [1, 2]),
    "copy of nothing": ([{"op": "copy", "from": "/spec/egress", "path": "/metadata/annotations"}], [1, 2]),
}


@pytest.mark.parametrize(("operations", "ports"), APPLICABLE.values(), ids=APPLICABLE)
def test_a_json_patch_applies(send: Send, namespace: str, operations: list[dict[str, Any]], ports: list[int]) -> None:
    send(requests.create(NETWORK_POLICIES, policy("p", RULES), namespace))

    patched = send(requests.json_patch(NETWORK_POLICIES, key(namespace, "p"), operations))

    assert patched.status == 200
    assert [port["port"] for port in patched.body["spec"]["ingress"][0]["ports"]] == ports


def test_a_text_is_tested_for_however_it_may_be_spelled(send: Send, namespace: str) -> None:
    text = 'a < b > c & d \u2028 \u2029 größe \U0001f33f " \\ / \t\n\r \x1f \x7f'
    send(requests.create(CONFIG_MAPS, config_map("a", {"text": text}), namespace))

    test = {"op": "test", "path": "/data", "value": {"text": text}}
    patched = send(requests.json_patch(CONFIG_MAPS, key(namespace, "a"), [test]))

    assert patched.status == 200, patched.body


INAPPLICABLE: dict[str, dict[str, Any]] = {
    "test that fails": {"op": "test", "path": f"{PORTS}/0/port", "value": 2},
    "test of another number": {"op": "test", "path": f"{PORTS}/0/port", "value": 1.0},
    "test of an older version": {"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
    "add to nothing": {"op": "add", "path": "/metadata/annotations/a", "value": "b"},
    "add beyond the end": {"op": "add", "path": f"{PORTS}/3", "value": {"port": 3}},
    "replace beyond the end": {"op": "replace", "path": f"{PORTS}/2", "value": {"port": 3}},
    "replace in nothing": {"op": "replace", "path": "/metadata/annotations/a", "value": "b"},
    "remove nothing": {"op": "remove", "path": "/spec/egress"},
    "remove beyond the end": {"op": "remove", "path": f"{PORTS}/2"},
    "move of nothing": {"op": "move", "from": "/spec/egress", "path": "/metadata/annotations"},
    "unknown operation": {"op": "prune", "path": "/spec"},
    "no path": {"op": "add", "value": "b"},
}


@pytest.mark.parametrize("operation", INAPPLICABLE.values(), ids=INAPPLICABLE)
def test_a_json_patch_applies_whole_or_not_at_all(send: Send, namespace: str, operation: dict[str, Any]) -> None:
    created = send(requests.create(NETWORK_POLICIES, policy("p", RULES), namespace))

    operations = [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}, operation]
    refused = send(requests.json_patch(NETWORK_POLICIES, key(namespace, "p"), operations))

    assert refusal(refused) == NOT_APPLICABLE
    assert send(requests.get(NETWORK_POLICIES, key(namespace, "p"))).body == created.body


def test_a_json_patch_that_sets_an_older_version_is_a_conflict(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    operations = [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]

    assert refusal(send(requests.json_patch(CONFIG_MAPS, key(namespace, "a"), operations)))[:2] == (409, "Conflict")
