"""Resources that a server may not know: they have no objects, until it does."""

import asyncio
import itertools
from dataclasses import replace

import pytest

from hedgerow_adapters.informer.informer import Informer
from hedgerow_adapters.informer.recovery import Recovery
from hedgerow_adapters.protocol.transport import Response, TransportError
from tests.unit.adapters.informer.servers import (
    WATCH,
    Flow,
    Listener,
    Script,
    Wire,
    config_map,
    informer_of,
    lacking,
    listed,
    refusal,
    running,
)
from tests.virtual_clock import virtual_time

OPTIONAL = replace(WATCH, may_be_absent=True)
UNKNOWN = Response(404, None)
"""What a server says of a path that it does not know."""
NO_SUCH_RESOURCE = refusal(404, "NotFound", "the server could not find the requested resource")
DOWN = TransportError("connection refused")
FINE = listed(config_map("a"))


@pytest.mark.parametrize("absence", [UNKNOWN, NO_SUCH_RESOURCE], ids=["unknown path", "unknown resource"])
@virtual_time
async def test_a_resource_that_is_not_there_is_complete_at_once_and_told_once(absence: Response) -> None:
    wire, listener = Wire(Script([absence], [DOWN])), Listener()
    informer = informer_of(wire, listener, watch=OPTIONAL)

    async with running(informer):
        await asyncio.wait_for(informer.synced.wait(), timeout=0.1)
        await asyncio.sleep(600)
        silence = asyncio.get_running_loop().time() - informer.heard_at

    times = [asked.at for asked in wire.asked]
    assert [later - earlier for earlier, later in itertools.pairwise(times)][:5] == [5, 10, 20, 30, 30]
    assert listener.names == []
    assert listener.told == [(0.0, "absent", "")]
    assert silence <= 30


@virtual_time
async def test_it_is_listed_and_watched_once_it_is_there() -> None:
    event = {"type": "ADDED", "object": config_map("b", 11)}
    wire, listener = Wire(Script([UNKNOWN, UNKNOWN, FINE], [Flow([event])])), Listener()

    async with running(informer_of(wire, listener, watch=OPTIONAL)):
        await asyncio.sleep(60)

    assert listener.names == ["a", "b"]
    assert [asked.at for asked in wire.lists] == [0, 5, 15]
    assert len(wire.watches) == 1
    assert listener.resumed_at == [15]


@virtual_time
async def test_it_has_no_objects_any_more_once_it_is_gone_and_is_looked_for_afresh() -> None:
    server = Script([UNKNOWN, FINE, UNKNOWN, UNKNOWN, FINE], [Flow(lasts=55), NO_SUCH_RESOURCE, Flow()])
    wire, listener = Wire(server), Listener()

    async with running(informer_of(wire, listener, watch=OPTIONAL)):
        await asyncio.sleep(59)
        assert listener.names == ["a"]
        await asyncio.sleep(2)
        assert listener.names == []
        await asyncio.sleep(60)
        assert listener.names == ["a"]

    assert listener.causes == ["absent", "closed", "absent"]
    assert [asked.at for asked in wire.lists] == [0, 5, 65, 75, 95]


@virtual_time
async def test_an_outage_is_an_outage_for_it_too() -> None:
    wire, listener = Wire(Script([UNKNOWN, DOWN, DOWN, UNKNOWN, DOWN, UNKNOWN], [DOWN])), Listener()

    async with running(informer_of(wire, listener, watch=OPTIONAL)):
        await asyncio.sleep(15)

    assert listener.causes == ["absent", "disconnected", "disconnected", "absent", "disconnected", "absent"]
    assert [asked.at for asked in wire.asked] == pytest.approx([0, 5, 5.8, 7.4, 12.4, 13.2])
    assert listener.resumed_at == pytest.approx([7.4, 13.2])


@virtual_time
async def test_a_server_that_lacks_it_is_not_asked_whether_it_is_well() -> None:
    wire, listener = Wire(Script([UNKNOWN], [DOWN])), Listener()
    recovery = Recovery(wire, random=lambda: 0.0)
    informer = Informer(
        wire,
        OPTIONAL,
        listener.deliver,
        observer=listener,
        random=lambda: 0.0,
        pause=recovery.pause,
        is_absent=lacking,
    )

    async with running(informer):
        await asyncio.sleep(600)

    assert {asked.request.path for asked in wire.asked} == {"/api/v1/configmaps"}


@virtual_time
async def test_a_fresh_list_may_be_asked_for_meanwhile() -> None:
    wire, listener = Wire(Script([UNKNOWN, FINE], [Flow()])), Listener()
    informer = informer_of(wire, listener, watch=OPTIONAL)

    async with running(informer):
        await asyncio.sleep(1)
        await informer.relist()
        assert listener.names == ["a"]
        assert asyncio.get_running_loop().time() == 1


@pytest.mark.parametrize("absence", [UNKNOWN, NO_SUCH_RESOURCE], ids=["unknown path", "unknown resource"])
@virtual_time
async def test_a_404_that_discovery_contradicts_leaves_the_objects_as_they_are(absence: Response) -> None:
    server = Script(
        [FINE], [Flow(lasts=55), absence, absence, Flow([{"type": "ADDED", "object": config_map("b", 11)}])]
    )
    wire, listener = Wire(server), Listener()
    asked: list[float] = []

    async def is_served() -> bool:
        asked.append(asyncio.get_running_loop().time())
        return False

    async with running(informer_of(wire, listener, watch=OPTIONAL, is_absent=is_served)):
        await asyncio.sleep(55.5)
        assert listener.names == ["a"]
        await asyncio.sleep(4.5)

    assert listener.names == ["a", "b"]
    assert listener.causes == ["closed", "refused", "refused"]
    assert len(wire.lists) == 1
    assert asked == pytest.approx([55, 55.8])


@virtual_time
async def test_what_must_be_there_is_in_trouble_without() -> None:
    wire, listener = Wire(Script([NO_SUCH_RESOURCE], [DOWN])), Listener()
    informer = informer_of(wire, listener)

    async with running(informer):
        await asyncio.sleep(60)

    assert not informer.synced.is_set()
    assert set(listener.causes) == {"refused"}
