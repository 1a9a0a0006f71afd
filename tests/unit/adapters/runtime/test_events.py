"""What the event recorder sends, and what it keeps to itself, on virtual time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.api.kubernetes import EVENTS
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Event
from hedgerow_adapters.memory import Answered, Fault, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.events import REMEMBERED, WAITING, EventRecorder
from tests.unit.adapters.runtime.world import CART, NAMESPACES, SERVICES, World
from tests.virtual_clock import virtual_time

WARNING = Event(SERVICES, CART, "uid-1", "Warning", "InvalidAnnotation", "not JSON")
CREATION = requests("POST", "/events")


@asynccontextmanager
async def recording(world: World, **options: Any) -> AsyncIterator[EventRecorder]:
    """A recorder at work; afterwards nothing of it is left."""
    settings: dict[str, Any] = {"component": "hedgerow", "instance": "hedgerow-0", "may_write": lambda: True}
    recorder = EventRecorder(MemoryTransport(world), **(settings | options))
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
    finally:
        assert not task.done(), "nothing ends the recorder"
        task.cancel()
        await asyncio.wait([task])
        assert asyncio.all_tasks() == {asyncio.current_task()}


def events(world: World) -> list[Manifest]:
    return list(world.objects(EVENTS))


@virtual_time
async def test_an_event_says_what_the_api_server_wants_to_know() -> None:
    world = World()
    async with recording(world) as recorder:
        recorder.record([WARNING])
        await asyncio.sleep(1)

    (event,) = events(world)
    assert event["metadata"]["name"].startswith("cart-")
    assert event["metadata"]["namespace"] == "shop"
    assert {name: event[name] for name in event if name not in ("metadata", "eventTime")} == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "type": "Warning",
        "reason": "InvalidAnnotation",
        "action": "Reconcile",
        "note": "not JSON",
        "regarding": {"apiVersion": "v1", "kind": "Service", "namespace": "shop", "name": "cart", "uid": "uid-1"},
        "reportingController": "hedgerow",
        "reportingInstance": "hedgerow-0",
    }


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(replace(WARNING, note="n" * 5000), id="a long note"),
        pytest.param(replace(WARNING, note="ü" * 1000), id="a note that is longer in bytes than in characters"),
        pytest.param(replace(WARNING, note="\ud800"), id="a note that no encoding has room for"),
        pytest.param(replace(WARNING, note=""), id="no note"),
        pytest.param(replace(WARNING, uid=None), id="an object that no server has stored"),
        pytest.param(replace(WARNING, type="Normal"), id="a normal event"),
        pytest.param(replace(WARNING, key=ObjectKey("shop", f"{'a' * 199}.{'b' * 50}")), id="a long name cut at a dot"),
        pytest.param(Event(NAMESPACES, ObjectKey("", "shop"), None, "Warning", "R", "n"), id="a cluster-scoped object"),
    ],
)
@virtual_time
async def test_every_event_is_one_that_the_api_server_accepts(event: Event) -> None:
    world = World()
    async with recording(world, instance="i" * 300) as recorder:
        recorder.record([event])
        await asyncio.sleep(1)

    (recorded,) = events(world)
    assert len(recorded.get("note", "").encode()) <= 1024
    assert len(recorded["reportingInstance"]) == 128
    assert recorded["metadata"]["namespace"] == (event.key.namespace or "default")


@virtual_time
async def test_the_same_event_is_recorded_once_in_ten_minutes() -> None:
    world = World()
    async with recording(world) as recorder:
        for _ in range(59):
            recorder.record([WARNING, WARNING])
            await asyncio.sleep(10)
        assert len(events(world)) == 1
        recorder.record([replace(WARNING, note="another"), replace(WARNING, key=ObjectKey("shop", "other"))])
        await asyncio.sleep(11)
        assert len(events(world)) == 3
        recorder.record([WARNING])
        await asyncio.sleep(1)
        assert len(events(world)) == 4


DENIAL = 'User "hedgerow" cannot create resource "events" in API group "events.k8s.io" in the namespace "shop"'
FORBIDDEN = {"kind": "Status", "code": 403, "message": f"events.events.k8s.io is forbidden: {DENIAL}"}


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        pytest.param(Lost(), [], id="lost"),
        pytest.param(
            Answered(Response(503, None)), ["the API server answered with status 503 and no message"], id="unavailable"
        ),
        pytest.param(
            Answered(Response(403, FORBIDDEN)),
            ["missing permission: create events.events.k8s.io in namespace shop"],
            id="forbidden",
        ),
    ],
)
@virtual_time
async def test_what_could_not_be_recorded_is_dropped_until_it_is_asked_for_again(
    outcome: Lost | Answered, told: list[str]
) -> None:
    world = World()
    world.faults.append(Fault(CREATION, outcome))
    refusals: list[str] = []
    async with recording(world, on_refusal=refusals.append) as recorder:
        recorder.record([WARNING, replace(WARNING, note="the next one")])
        await asyncio.sleep(300)
        assert [event["note"] for event in events(world)] == ["the next one"]
        recorder.record([WARNING, replace(WARNING, note="the next one")])
        await asyncio.sleep(1)
        assert sorted(event["note"] for event in events(world)) == ["not JSON", "the next one"]
    assert refusals == told


@virtual_time
async def test_without_the_lease_nothing_is_recorded_and_nothing_counts_as_recorded() -> None:
    leads = False
    world = World()
    async with recording(world, may_write=lambda: leads) as recorder:
        recorder.record([WARNING])
        await asyncio.sleep(1)
        assert events(world) == []
        leads = True
        recorder.record([WARNING])
        await asyncio.sleep(1)
        assert len(events(world)) == 1


@virtual_time
async def test_a_lease_that_is_lost_while_an_event_waits_to_leave_holds_it_back() -> None:
    leads = True
    world = World()

    class Waiting(MemoryTransport):
        async def send(
            self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            await asyncio.sleep(5)
            return await super().send(request, timeout=timeout, may_send=may_send)

    recorder = EventRecorder(Waiting(world), component="hedgerow", instance="hedgerow-0", may_write=lambda: leads)
    task = asyncio.create_task(recorder.run())
    recorder.record([WARNING])
    await asyncio.sleep(1)
    leads = False
    await asyncio.sleep(10)
    task.cancel()

    assert events(world) == []


@virtual_time
async def test_a_defect_in_sending_one_event_does_not_cost_the_others() -> None:
    class Defective(MemoryTransport):
        async def send(
            self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            if request.body["note"] == "odd":
                raise ValueError("odd")
            return await super().send(request, timeout=timeout, may_send=may_send)

    world = World()
    recorder = EventRecorder(Defective(world), component="hedgerow", instance="hedgerow-0", may_write=lambda: True)
    task = asyncio.create_task(recorder.run())
    recorder.record([replace(WARNING, note="odd"), WARNING])
    await asyncio.sleep(1)
    task.cancel()

    assert [event["note"] for event in events(world)] == ["not JSON"]


@virtual_time
async def test_a_flood_is_cut_off_and_what_was_cut_off_may_come_later() -> None:
    world = World()
    world.faults.append(Fault(CREATION, Lost(hangs=True)))
    flood = [replace(WARNING, note=f"{number}") for number in range(3 * WAITING)]
    async with recording(world) as recorder:
        recorder.record(flood)
        await asyncio.sleep(60)
        assert len(events(world)) == WAITING - 1
        recorder.record(flood[WAITING : WAITING + 5])
        await asyncio.sleep(1)
        assert len(events(world)) == WAITING + 4


@virtual_time
async def test_no_more_is_remembered_than_there_is_room_for() -> None:
    world = World()
    async with recording(world) as recorder:
        for number in range(REMEMBERED + 10):
            recorder.record([replace(WARNING, note=f"{number}")])
            await asyncio.sleep(0)
        await asyncio.sleep(1)
        assert len(recorder._recent) == REMEMBERED
        recorder.record([replace(WARNING, note="0"), replace(WARNING, note=f"{REMEMBERED}")])
        await asyncio.sleep(1)
        assert len(events(world)) == REMEMBERED + 11


@virtual_time
async def test_who_stops_can_wait_until_the_last_event_has_left() -> None:
    world = World()
    async with recording(world) as recorder:
        await recorder.emptied()
        recorder.record([replace(WARNING, note=f"{number}") for number in range(5)])
        await recorder.emptied()

        assert len(events(world)) == 5
