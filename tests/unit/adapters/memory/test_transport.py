"""The in-memory cluster behind the port that clients are written against, on virtual time."""

import asyncio

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.memory import Fault, InMemoryCluster, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol import requests as api
from hedgerow_adapters.protocol.transport import NotSentError, Request, Stream, TransportError
from tests.virtual_clock import virtual_time

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")


def watch(cluster: InMemoryCluster, seconds: int = 60) -> Request:
    return api.watch(CONFIG_MAPS, resource_version=cluster.resource_version, timeout_seconds=seconds)


async def create(transport: MemoryTransport, name: str) -> None:
    response = await transport.send(api.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default"))
    assert response.status == 201


async def seen(stream: Stream) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"]["name"]) async for event in stream.events]


def elapsed() -> float:
    return asyncio.get_running_loop().time()


@virtual_time
async def test_events_arrive_while_the_watch_is_read() -> None:
    cluster = InMemoryCluster()
    transport = MemoryTransport(cluster)

    async def write_later() -> None:
        await asyncio.sleep(5)
        await create(transport, "a")
        await asyncio.sleep(5)
        await transport.send(api.delete(CONFIG_MAPS, ObjectKey("default", "a")))

    writing = asyncio.create_task(write_later())
    async with transport.stream(watch(cluster), timeout=90) as stream:
        assert (stream.status, stream.body) == (200, None)
        assert await seen(stream) == [("ADDED", "a"), ("DELETED", "a")]
    await writing

    assert elapsed() == 60


@virtual_time
async def test_a_watch_outlives_the_clients_patience_only_as_an_error() -> None:
    cluster = InMemoryCluster()

    async with MemoryTransport(cluster).stream(watch(cluster), timeout=7) as stream:
        with pytest.raises(TransportError, match="no end of the watch within 7 seconds"):
            await seen(stream)

    assert elapsed() == 7


@virtual_time
async def test_a_watch_that_the_server_closes_ends_with_what_was_sent() -> None:
    cluster = InMemoryCluster()
    transport = MemoryTransport(cluster)

    async with transport.stream(watch(cluster), timeout=90) as stream:
        await create(transport, "a")
        cluster.close_watches()
        await create(transport, "b")

        assert await seen(stream) == [("ADDED", "a")]

    assert elapsed() == 0


@virtual_time
async def test_a_watch_that_breaks_is_an_error_after_what_was_sent() -> None:
    cluster = InMemoryCluster()
    transport = MemoryTransport(cluster)

    async with transport.stream(watch(cluster), timeout=90) as stream:
        await create(transport, "a")
        cluster.close_watches(TransportError("cut off"))

        assert (await anext(stream.events))["type"] == "ADDED"
        with pytest.raises(TransportError, match="cut off"):
            await anext(stream.events)


@virtual_time
async def test_a_watch_that_is_refused_has_a_status_and_no_events() -> None:
    transport = MemoryTransport(InMemoryCluster())

    async with transport.stream(Request("GET", "/api/v1/hedges", {"watch": "1"}), timeout=90) as stream:
        assert (stream.status, stream.body["reason"]) == (404, "NotFound")
        assert await seen(stream) == []


@virtual_time
async def test_a_request_that_hangs_takes_all_of_the_clients_patience() -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests(), Lost(hangs=True), times=2))
    transport = MemoryTransport(cluster)

    with pytest.raises(TransportError, match="timed out"):
        await transport.send(api.list_page(CONFIG_MAPS), timeout=4)
    with pytest.raises(TransportError, match="timed out"):
        async with transport.stream(watch(cluster), timeout=3):
            pass

    assert elapsed() == 7


@virtual_time
async def test_a_request_that_may_no_longer_be_sent_when_it_leaves_is_none() -> None:
    cluster = InMemoryCluster()
    leads = True
    sending = asyncio.create_task(
        MemoryTransport(cluster).send(
            api.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default"), may_send=lambda: leads
        )
    )
    await asyncio.sleep(0)
    leads = False

    with pytest.raises(NotSentError, match="the request was taken back before it was sent"):
        await sending
    assert cluster.objects(CONFIG_MAPS) == []
