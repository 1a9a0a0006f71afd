"""Health endpoints and metrics over HTTP."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping

import aiohttp
import pytest

from hedgerow_adapters.listening.accepting import Listener, ListenError, listener
from hedgerow_adapters.listening.connections import Limits
from hedgerow_adapters.probes import Endpoint, ping, serve
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from tests.control_plane import PATIENCE

ANY = Listener("127.0.0.1", 0)


async def not_synced() -> str | None:
    return "informers not synced yet"


ENDPOINTS = (
    Endpoint("healthz", {"ping": ping}),
    Endpoint("readyz", {"ping": ping, "source-informer-sync": not_synced}),
)


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def answer(client: aiohttp.ClientSession, port: int | None, path: str) -> tuple[int, str]:
    async with client.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.text()


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/healthz", 200, "ok"),
        ("/healthz/", 200, "ok"),
        ("/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n"),
        ("/healthz/ping", 200, "ok"),
        ("/readyz", 500, "[+]ping ok\n[-]source-informer-sync failed: reason withheld\nreadyz check failed\n"),
        ("/readyz?exclude=source-informer-sync", 200, "ok"),
        ("/readyz/source-informer-sync", 500, "internal server error: informers not synced yet\n"),
        ("/readyz/unknown", 404, "404: Not Found"),
        ("/metrics", 404, "404: Not Found"),
    ],
)
async def test_health_is_told_at(client: aiohttp.ClientSession, path: str, status: int, text: str) -> None:
    async with serve(health=ANY, endpoints=ENDPOINTS) as ports:
        assert await answer(client, ports.health, path) == (status, text)


async def test_answers_about_health_are_plain_text_that_nobody_keeps(client: aiohttp.ClientSession) -> None:
    async with (
        serve(health=ANY, endpoints=ENDPOINTS) as ports,
        client.get(f"http://127.0.0.1:{ports.health}/healthz") as response,
    ):
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert response.headers["Cache-Control"] == "no-cache, no-store, must-revalidate"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


async def test_why_a_check_failed_is_told_inside_the_process(client: aiohttp.ClientSession) -> None:
    told: list[tuple[str, Mapping[str, str]]] = []

    async with serve(health=ANY, endpoints=ENDPOINTS, on_problem=lambda *problem: told.append(problem)) as ports:
        await answer(client, ports.health, "/readyz")

    assert told == [("readyz", {"source-informer-sync": "informers not synced yet"})]


async def test_metrics_have_a_server_of_their_own(client: aiohttp.ClientSession) -> None:
    metrics = RuntimeMetrics()
    metrics.leads("hedgerow", is_leading=True)

    async with (
        serve(health=ANY, metrics=ANY, endpoints=ENDPOINTS, exposition=metrics.exposition) as ports,
        client.get(f"http://127.0.0.1:{ports.metrics}/metrics") as response,
    ):
        assert ports.health != ports.metrics
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert 'leader_election_master_status{name="hedgerow"} 1.0' in await response.text()


async def test_the_same_port_twice_is_one_server(client: aiohttp.ClientSession) -> None:
    both = Listener("127.0.0.1", free_port())

    async with serve(health=both, metrics=both, endpoints=ENDPOINTS, exposition=lambda: b"up 1\n") as ports:
        assert ports.health == ports.metrics == both.port
        assert await answer(client, both.port, "/healthz") == (200, "ok")
        assert await answer(client, both.port, "/metrics") == (200, "up 1\n")


async def test_an_empty_address_is_every_address(client: aiohttp.ClientSession) -> None:
    async with serve(health=Listener("", free_port()), endpoints=ENDPOINTS) as ports:
        assert await answer(client, ports.health, "/healthz") == (200, "ok")


async def test_port_zero_in_a_configuration_serves_nothing() -> None:
    assert listener("127.0.0.1", 0) is None
    assert listener("", 8081) == Listener("", 8081)

    async with serve(endpoints=ENDPOINTS) as ports:
        assert (ports.health, ports.metrics) == (None, None)


async def test_a_port_in_use_is_a_sentence_and_leaves_nothing_running(client: aiohttp.ClientSession) -> None:
    first = Listener("127.0.0.1", free_port())
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = Listener("127.0.0.1", other.getsockname()[1])

        with pytest.raises(ListenError) as refused:
            async with serve(health=first, metrics=taken, endpoints=ENDPOINTS):
                pass

    assert str(refused.value) == f"cannot listen on {taken} for metrics: address already in use"
    with pytest.raises(aiohttp.ClientConnectorError):
        await answer(client, first.port, "/healthz")


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        (Listener("127.0.0.1", 65536), "port: 65536 is no port, which are 0 to 65535"),
        (
            Listener("192.0.2.1", 8081),
            "cannot listen on 192.0.2.1:8081 for health probes: cannot assign requested address",
        ),
    ],
    ids=["no such port", "not our address"],
)
async def test_an_address_that_cannot_be_listened_on_is_a_sentence(where: Listener, sentence: str) -> None:
    with pytest.raises(ListenError) as refused:
        async with serve(health=where, endpoints=ENDPOINTS):
            pass

    assert str(refused.value) == sentence


HALF = b"GET /healthz HTTP/1.1\r\nHost: probes\r\n"
NARROW = Limits(connections=8, request=0.2, held=2**20, handshake=0.2)


async def closed(reader: asyncio.StreamReader) -> bool:
    async with asyncio.timeout(PATIENCE):
        try:
            return await reader.read(1) == b""
        except ConnectionError:
            return True


@pytest.mark.parametrize("sent", [b"", b"G", HALF], ids=["nothing", "a byte", "half a head"])
async def test_a_connection_that_brings_no_request_in_time_is_closed(sent: bytes) -> None:
    async with serve(health=ANY, endpoints=ENDPOINTS, limits=NARROW) as ports:
        reader, writer = await asyncio.open_connection("127.0.0.1", ports.health)
        writer.write(sent)

        assert await closed(reader)
        writer.close()


async def test_a_connection_that_waits_between_two_requests_is_closed(client: aiohttp.ClientSession) -> None:
    limits = Limits(connections=8, request=PATIENCE, held=2**20, idle=0.2)
    async with serve(health=ANY, endpoints=ENDPOINTS, limits=limits) as ports:
        reader, writer = await asyncio.open_connection("127.0.0.1", ports.health)
        writer.write(HALF + b"\r\n")
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            await reader.readexactly(len("ok"))

        assert await closed(reader)
        writer.close()


async def test_half_sent_requests_make_room_for_whole_ones(client: aiohttp.ClientSession) -> None:
    limits = Limits(connections=8, request=PATIENCE, held=2**20)
    async with serve(health=ANY, endpoints=ENDPOINTS, limits=limits) as ports:
        crowd = [await asyncio.open_connection("127.0.0.1", ports.health) for _ in range(50)]
        for _, writer in crowd:
            writer.write(HALF)

        assert await answer(client, ports.health, "/healthz") == (200, "ok")

        still_open = [reader for reader, _ in crowd if not reader.at_eof()]
        assert len(still_open) <= 8
        for _, writer in crowd:
            writer.close()


async def test_what_is_not_read_is_refused(client: aiohttp.ClientSession) -> None:
    async with serve(health=ANY, endpoints=ENDPOINTS) as ports:
        url = f"http://127.0.0.1:{ports.health}/healthz"
        async with client.post(url, data=b"much" * 100_000) as response:
            assert (response.status, response.headers["Allow"]) == (405, "GET,HEAD")
        async with client.head(url) as response:
            assert (response.status, await response.read()) == (200, b"")


def test_an_address_of_ip_version_6_stands_in_brackets() -> None:
    assert str(Listener("::1", 8081)) == "[::1]:8081"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
