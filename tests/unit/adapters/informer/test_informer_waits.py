"""How often an informer asks: never in vain without a pause, and never longer than a connection can be trusted."""

import asyncio
import itertools
from typing import Any

import pytest

from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol.transport import Response, TransportError
from tests.unit.adapters.informer.servers import (
    GONE,
    Flow,
    Listener,
    Script,
    Wire,
    config_map,
    create_all,
    informer_of,
    listed,
    refusal,
    running,
)
from tests.virtual_clock import virtual_time

HOUR = 3600
DOWN = TransportError("connection refused")
FINE = listed(config_map("a"))
NO_VERSION = Response(200, {"items": []})
ENDLESS = listed(config_map("a"), continuation="more")


def added(manifest: dict[str, Any]) -> dict[str, Any]:
    return {"type": "ADDED", "object": manifest}


@pytest.mark.parametrize(
    ("jitter", "gaps"),
    [
        pytest.param(0.0, [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30], id="without jitter"),
        pytest.param(1.0, [1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60, 60, 60], id="with all of it"),
    ],
)
@virtual_time
async def test_a_server_that_is_down_is_asked_ever_more_rarely(jitter: float, gaps: list[float]) -> None:
    wire, listener = Wire(Script([DOWN], [DOWN])), Listener()

    async with running(informer_of(wire, listener, jitter=jitter)):
        await asyncio.sleep(HOUR)

    times = [asked.at for asked in wire.asked]
    assert [later - earlier for earlier, later in itertools.pairwise(times)][:9] == pytest.approx(gaps)
    assert listener.told[0] == (0.0, "disconnected", "connection refused")


@pytest.mark.parametrize(
    ("server", "causes"),
    [
        pytest.param(Script([DOWN], [DOWN]), {"disconnected"}, id="down"),
        pytest.param(Script([refusal(503)], [DOWN]), {"refused"}, id="unavailable"),
        pytest.param(Script([refusal(403, message="not for you")], [DOWN]), {"forbidden"}, id="forbidden"),
        pytest.param(Script([FINE], [Flow(lasts=0)]), {"closed-early"}, id="200 and closed at once"),
        pytest.param(Script([FINE], [Flow(lasts=4)]), {"closed-early"}, id="closed after some seconds"),
        pytest.param(Script([FINE], [DOWN]), {"disconnected"}, id="watches break at once"),
        pytest.param(Script([FINE], [Flow(lasts=0, ends_with=DOWN)]), {"disconnected"}, id="watches break once open"),
        pytest.param(Script([FINE], [refusal(500)]), {"refused"}, id="watches refused"),
        pytest.param(Script([FINE], [refusal(503)], opening=6), {"refused"}, id="watches refused after some seconds"),
        pytest.param(Script([FINE], [GONE]), {"expired"}, id="every version is too old"),
        pytest.param(
            Script([FINE], [Flow([{"type": "ERROR", "object": GONE.body}])]), {"expired"}, id="and said in an event"
        ),
        pytest.param(Script([ENDLESS, GONE] * 500, [DOWN]), {"expired"}, id="every second page is too old"),
        pytest.param(Script([ENDLESS], [DOWN]), {"unreadable"}, id="a list without end"),
        pytest.param(Script([NO_VERSION], [DOWN]), {"unreadable"}, id="a list without a version"),
        pytest.param(Script([Response(200, None)], [DOWN]), {"unreadable"}, id="no list at all"),
        pytest.param(Script([Response(200, {"items": {"a": 1}})], [DOWN]), {"unreadable"}, id="items that are no list"),
        pytest.param(Script([FINE], [Flow([{"type": "PONG"}])]), {"unreadable"}, id="events that are none"),
        pytest.param(
            Script([FINE], [Flow([added({"metadata": {"name": "b"}})])]), {"unreadable"}, id="malformed objects"
        ),
        pytest.param(Script([listed({"metadata": 3})], [DOWN]), {"unreadable"}, id="malformed objects in lists"),
        pytest.param(Script([ValueError("odd")], [DOWN]), {"raised"}, id="a transport with a defect"),
    ],
)
@virtual_time
async def test_a_hopeless_server_is_never_hammered(server: Script, causes: set[str]) -> None:
    wire, listener = Wire(server), Listener()

    async with running(informer_of(wire, listener, jitter=0.0)):
        await asyncio.sleep(HOUR)

    tries = len(listener.told)
    assert set(listener.causes) == causes
    assert 90 < tries < HOUR / 30 + 10
    assert len(wire.asked) <= 2 * tries + 2


@virtual_time
async def test_a_healthy_watch_is_renewed_a_few_times_an_hour_and_nothing_is_listed_again() -> None:
    wire, listener = Wire(MemoryTransport(InMemoryCluster())), Listener()

    async with running(informer_of(wire, listener, jitter=0.5)):
        await asyncio.sleep(HOUR)

    assert len(wire.lists) == 1
    assert [(asked.at, asked.request.query["timeoutSeconds"]) for asked in wire.watches][:3] == [
        (0.0, "450"),
        (450.0, "450"),
        (900.0, "450"),
    ]
    assert set(listener.causes) == {"closed"}


@virtual_time
async def test_a_silent_connection_is_given_up_half_a_minute_after_the_server_should_have_ended_it() -> None:
    wire, listener = Wire(Script([FINE], [Flow()])), Listener()

    async with running(informer_of(wire, listener, jitter=0.5)):
        await asyncio.sleep(1000)

    first, second, *_ = wire.watches
    assert (first.request.query["timeoutSeconds"], first.timeout) == ("450", 480.0)
    assert second.at == pytest.approx(480 + 0.8 * 1.5)
    assert listener.told[0] == (480.0, "disconnected", "silent for 480 s")
    assert len(wire.lists) == 1


@virtual_time
async def test_a_watch_that_has_lasted_makes_good_for_all_failures_before_it() -> None:
    wire, listener = Wire(Script([DOWN] * 5 + [FINE], [Flow(lasts=60, ends_with=DOWN)])), Listener()

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(HOUR)

    times = [asked.at for asked in wire.watches]
    assert [later - earlier for earlier, later in itertools.pairwise(times)] == pytest.approx([60.8] * (len(times) - 1))


@virtual_time
async def test_where_nothing_is_lost_a_watch_is_opened_once_and_compared_with_nothing() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    wire = Wire(MemoryTransport(cluster))

    async with running(informer_of(wire, listener, is_lossless=True)):
        await asyncio.sleep(24 * HOUR)
        create_all(cluster, ["late"])
        await asyncio.sleep(1)

    assert (len(wire.asked), len(wire.compared)) == (2, 0), "a list and a watch"
    assert listener.told == []
    assert listener.names == ["late"]
