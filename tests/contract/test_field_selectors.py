"""Which fields objects are listed and watched by, beside their names."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.contract.objects import CONFIG_MAPS, SECRETS, happened, key, names, refusal, version
from tests.contract.targets import Send, Target
from tests.contract.test_certificate_requests import REQUESTS, SIGNER, asked

PODS = Resource("", "v1", "pods", "Pod")


def pod(name: str, node: str = "", **metadata: Any) -> dict[str, Any]:
    """A Pod, on a node if it is named."""
    spec: dict[str, Any] = {"containers": [{"name": "c", "image": "example.com/c:1"}]}
    return {"metadata": {"name": name, **metadata}, "spec": {**spec, "nodeName": node} if node else spec}


def listed(send: Send, resource: Resource, namespace: str, fields: str) -> Response:
    """The answer to a list by fields."""
    return send(requests.list_page(resource, namespace=namespace, field_selector=fields))


@pytest.fixture
def send_with_account(send: Send, namespace: str) -> Send:
    """Sends requests where Pods can be created: without the ServiceAccount that they run as they cannot."""
    account = Resource("", "v1", "serviceaccounts", "ServiceAccount")
    assert send(requests.create(account, {"metadata": {"name": "default"}}, namespace)).status == 201
    return send


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("spec.nodeName=worker-1", ["here", "here-too"]),
        ("spec.nodeName!=worker-1", ["elsewhere", "nowhere"]),
        ("spec.nodeName=", ["nowhere"]),
        ("spec.nodeName=worker-1,status.phase=Pending", ["here"]),
        ("spec.nodeName=worker-1,metadata.name=here-too", ["here-too"]),
        ("status.phase!=Pending", ["here-too"]),
        ("spec.restartPolicy=Never", []),
    ],
)
def test_pods_are_listed_by_node_and_phase(
    send_with_account: Send, namespace: str, fields: str, expected: list[str]
) -> None:
    send = send_with_account
    for body in (pod("here", "worker-1"), pod("here-too", "worker-1"), pod("elsewhere", "worker-2"), pod("nowhere")):
        assert send(requests.create(PODS, body, namespace)).status == 201
    running = {"status": {"phase": "Running"}}
    send(requests.merge_patch(PODS, key(namespace, "here-too"), running, subresource="status"))

    assert names(listed(send, PODS, namespace, fields)) == expected


def test_requests_are_listed_by_signer(send: Send) -> None:
    name = f"asked-{version(send(Request('GET', requests.collection_path(REQUESTS))))}"
    for at, signer in enumerate((SIGNER, "example.com/signer", SIGNER)):
        assert asked(send, f"{name}-{at}", signerName=signer).status == 201

    found = [each for each in names(listed(send, REQUESTS, "", f"spec.signerName={SIGNER}")) if each.startswith(name)]

    assert found == [f"{name}-0", f"{name}-2"]


def test_secrets_are_listed_by_type(send: Send, namespace: str) -> None:
    for name, kind in (("a", "Opaque"), ("b", "example.com/b")):
        send(requests.create(SECRETS, {"metadata": {"name": name}, "type": kind}, namespace))

    assert names(listed(send, SECRETS, namespace, "type=example.com/b")) == ["b"]


@pytest.mark.parametrize(
    ("resource", "field"),
    [(PODS, "spec.hostname"), (REQUESTS, "spec.username"), (SECRETS, "immutable"), (CONFIG_MAPS, "data")],
)
def test_no_other_field_selects(send: Send, namespace: str, resource: Resource, field: str) -> None:
    answer = listed(send, resource, namespace if resource.namespaced else "", f"{field}=x")

    code, reason, message = refusal(answer)
    assert (code, reason) == (400, "BadRequest")
    assert field in message


def test_a_watch_by_fields_shows_what_comes_to_have_them_and_what_no_longer_does(
    target: Target, send_with_account: Send, namespace: str
) -> None:
    send = send_with_account
    start = version(send(Request("GET", requests.collection_path(PODS, namespace))))
    pending = requests.watch(
        PODS, resource_version=start, timeout_seconds=30, namespace=namespace, field_selector="status.phase=Pending"
    )
    quiet = Request("GET", pending.path, {**pending.query, "allowWatchBookmarks": "false"})

    def set_phase(phase: str) -> Mapping[str, Any]:
        status = {"status": {"phase": phase}}
        answer = send(requests.merge_patch(PODS, key(namespace, "a"), status, subresource="status"))
        assert answer.status == 200
        body: Mapping[str, Any] = answer.body
        return body

    with target.watch(quiet) as watch:
        send(requests.create(PODS, pod("a"), namespace))
        for phase in ("Running", "Succeeded", "Pending"):
            set_phase(phase)
        send(requests.merge_patch(PODS, key(namespace, "a"), {"metadata": {"labels": {"a": "b"}}}))
        send(requests.create(PODS, pod("end"), namespace))

        assert happened(watch, "end") == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "a"), ("MODIFIED", "a")]


def test_what_leaves_a_watch_is_shown_without_what_it_was_selected_by(
    target: Target, send_with_account: Send, namespace: str
) -> None:
    send = send_with_account
    start = version(send(requests.create(PODS, pod("a", labels={"app": "x"}), namespace)))
    watched = requests.watch(PODS, resource_version=start, timeout_seconds=30, namespace=namespace, selector="app=x")

    with target.watch(Request("GET", watched.path, {**watched.query, "allowWatchBookmarks": "false"})) as watch:
        changed = send(requests.merge_patch(PODS, key(namespace, "a"), {"metadata": {"labels": {"app": "y"}}}))
        event = watch.next()

    assert event is not None
    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["resourceVersion"] == version(changed)
    assert event["object"]["metadata"]["labels"] == {"app": "x"}
