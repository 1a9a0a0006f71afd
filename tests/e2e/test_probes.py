"""Health endpoints and metrics over HTTP."""

import socket
from collections.abc import AsyncIterator, Mapping

import aiohttp
import pytest

from hedgerow_adapters.probes import Endpoint, Listener, ListenError, listener, ping, serve
from hedgerow_adapters.telemetry import RuntimeMetrics

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


def test_an_address_of_ip_version_6_stands_in_brackets() -> None:
    assert str(Listener("::1", 8081)) == "[::1]:8081"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
