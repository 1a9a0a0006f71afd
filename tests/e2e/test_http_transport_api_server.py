"""The transport and its errors against a real API server."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.responses import StatusError, error_of_status, missing_permission, status_error
from hedgerow_adapters.protocol.transport import Request, TransportError
from tests.control_plane import ControlPlane

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SERVICES = Resource("", "v1", "services", "Service")
POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


async def transport_of(control_plane: ControlPlane, user: str) -> HttpTransport:
    return HttpTransport((await load_connection(control_plane.kubeconfig(user))).unwrap())


@pytest.fixture
async def transport(control_plane: ControlPlane) -> AsyncIterator[HttpTransport]:
    async with await transport_of(control_plane, "admin") as entered:
        yield entered


@pytest.fixture
async def namespace(transport: HttpTransport, namespace_prefix: str) -> str:
    assert (await transport.send(requests.create(NAMESPACES, named(namespace_prefix)))).is_success
    return namespace_prefix


async def refused(transport: HttpTransport, request: Request) -> StatusError:
    response = await transport.send(request)
    assert not response.is_success
    return status_error(response)


async def test_changes_are_seen_by_a_watch(transport: HttpTransport, namespace: str) -> None:
    key = ObjectKey(namespace, "cart")
    listed = await transport.send(requests.list_page(CONFIG_MAPS, namespace=namespace))
    version = listed.body["metadata"]["resourceVersion"]
    await transport.send(requests.create(CONFIG_MAPS, named("cart", data={"size": "größe 1"}), namespace))
    await transport.send(requests.merge_patch(CONFIG_MAPS, key, {"data": {"size": "größe 2"}}))
    await transport.send(requests.delete(CONFIG_MAPS, key))

    watch = requests.watch(CONFIG_MAPS, resource_version=version, timeout_seconds=1, namespace=namespace)
    async with transport.stream(watch, timeout=20) as stream:
        events = [event async for event in stream.events]

    seen = [(event["type"], event["object"]["data"]) for event in events if event["type"] != "BOOKMARK"]
    assert seen == [("ADDED", {"size": "größe 1"}), ("MODIFIED", {"size": "größe 2"}), ("DELETED", {"size": "größe 2"})]


async def test_an_event_of_a_mebibyte_is_seen_whole(transport: HttpTransport, namespace: str) -> None:
    data = {"large": "x" * 2**20}
    response = await transport.send(requests.create(CONFIG_MAPS, named("large", data=data), namespace))
    assert response.is_success
    watch = requests.watch(CONFIG_MAPS, resource_version="0", timeout_seconds=1, namespace=namespace)
    async with transport.stream(watch, timeout=20) as stream:
        objects = [event["object"] async for event in stream.events if event["type"] == "ADDED"]

    assert data in [manifest.get("data") for manifest in objects]


async def test_a_large_list_comes_packed_and_a_small_one_as_it_is(transport: HttpTransport, namespace: str) -> None:
    listing = requests.list_page(CONFIG_MAPS, namespace=namespace)
    small = await transport.send(listing)
    for number in range(3):
        large = named(f"large-{number}", data={"text": f"größe {number} " * 2**13})
        assert (await transport.send(requests.create(CONFIG_MAPS, large, namespace))).is_success

    packed = await transport.send(listing)

    assert "content-encoding" not in small.headers
    assert packed.headers["content-encoding"] == "gzip"
    texts = [item["data"]["text"] for item in packed.body["items"] if item["metadata"]["name"].startswith("large-")]
    assert texts == [f"größe {number} " * 2**13 for number in range(3)]


async def test_refusals_are_of_their_kinds(transport: HttpTransport, namespace: str) -> None:
    key = ObjectKey(namespace, "cart")
    await transport.send(requests.create(CONFIG_MAPS, named("cart"), namespace))

    exists = await refused(transport, requests.create(CONFIG_MAPS, named("cart"), namespace))
    conflict = await refused(transport, requests.merge_patch(CONFIG_MAPS, key, {}, resource_version="1"))
    another = await refused(transport, requests.delete(CONFIG_MAPS, key, uid="another"))
    missing = await refused(transport, requests.get(CONFIG_MAPS, ObjectKey(namespace, "basket")))
    unserved = await refused(transport, requests.list_page(Resource("example.com", "v1", "carts", "Cart")))
    invalid = await refused(transport, requests.create(CONFIG_MAPS, named("No Name"), namespace))

    assert (exists.already_exists, exists.is_conflict) == (True, False)
    assert (conflict.is_conflict, another.is_conflict, conflict.already_exists) == (True, True, False)
    assert (missing.is_absence_of("basket"), unserved.is_unproven_absence, invalid.status) == (True, True, 422)
    assert unserved.message == "the answer 404 is no Status of an API server: 404 page not found"


async def test_a_user_without_roles_is_told_which_permissions_are_missing(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with await transport_of(control_plane, "hedgerow") as transport:
        asked = [
            requests.list_page(SERVICES),
            requests.create(POLICIES, named("allow", spec={"podSelector": {}}), namespace),
            requests.get(NAMESPACES, ObjectKey("", namespace)),
            requests.update(SERVICES, ObjectKey(namespace, "cart"), named("cart"), "status"),
            Request("GET", "/metrics"),
        ]
        sentences = [missing_permission(request, await refused(transport, request)) for request in asked]
        watch = requests.watch(SERVICES, resource_version="0", timeout_seconds=1)
        async with transport.stream(watch, timeout=20) as stream:
            refusal = error_of_status(stream.body, code=stream.status)

    assert sentences == [
        "missing permission: list services (all namespaces)",
        f"missing permission: create networkpolicies.networking.k8s.io in namespace {namespace}",
        "missing permission: get namespaces",
        f"missing permission: update services/status in namespace {namespace}",
        "missing permission: get /metrics",
    ]
    assert missing_permission(watch, refusal) == "missing permission: watch services (all namespaces)"


async def test_a_terminating_namespace_is_no_missing_permission(transport: HttpTransport, namespace: str) -> None:
    # No controller finishes the deletion here, so the namespace stays terminating.
    await transport.send(requests.delete(NAMESPACES, ObjectKey("", namespace)))

    request = requests.create(CONFIG_MAPS, named("cart"), namespace)
    error = await refused(transport, request)

    assert "NamespaceTerminating" in error.causes
    assert missing_permission(request, error) == error.message


async def test_a_restart_of_the_api_server_is_one_outage(control_plane: ControlPlane) -> None:
    said: list[str] = []
    connection = (await load_connection(control_plane.kubeconfig())).unwrap()
    async with HttpTransport(connection, on_outage=said.append, on_recovery=lambda: said.append("back")) as transport:
        await transport.send(requests.list_page(NAMESPACES))
        await asyncio.to_thread(control_plane.stop_api_server)
        failures = await asyncio.gather(
            *(transport.send(requests.list_page(NAMESPACES)) for _ in range(5)), return_exceptions=True
        )
        await asyncio.to_thread(control_plane.start_api_server)
        await transport.send(requests.list_page(NAMESPACES))

    assert all(isinstance(failure, TransportError) for failure in failures)
    assert said == [f"cannot connect to {control_plane.url}: Connection refused", "back"]
