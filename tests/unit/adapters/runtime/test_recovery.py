"""What could not be written while the API server was away is written soon after its return, on virtual time."""

import asyncio
from collections.abc import Callable

import pytest

from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow_adapters.memory import Fault, InMemoryCluster, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol.transport import Request, Response, TransportError
from hedgerow_adapters.runtime.clusters import Access, Clusters
from tests.unit.adapters.runtime.world import (
    CONTROLLER,
    POLICIES,
    SERVICES,
    Ears,
    Wire,
    World,
    at_work,
    caches_of,
    service,
    shops,
)
from tests.unit.core.resource_manager.managed_resources.harness import Harness, config_map, managed_resource, secret
from tests.virtual_clock import virtual_time

AWAY = [Fault(requests(), Lost(), times=None)]


class SaysWhetherItIsReady(Wire):
    """The way to a server that also has `/readyz`."""

    def __init__(self, world: InMemoryCluster) -> None:
        super().__init__(MemoryTransport(world))
        self._world = world

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        if request.path != "/readyz":
            return await super().send(request, timeout=timeout, may_send=may_send)
        if self._world.faults:
            raise TransportError("away")
        return Response(200, {})


@pytest.mark.parametrize("outage", [20.0, 60.0, 600.0])
@virtual_time
async def test_a_write_that_failed_and_a_change_that_was_missed_are_caught_up_within_ten_seconds(outage: float) -> None:
    world = World(*shops(5))
    async with at_work(world, transport=SaysWhetherItIsReady(world)):
        await asyncio.sleep(60)
        assert world.pending() == []

        world.faults = [Fault(requests("POST"), Lost(), times=None)]
        world.delete(POLICIES, key_of(next(iter(world.objects(POLICIES)))))
        await asyncio.sleep(0.1)
        world.faults = AWAY
        world.close_watches(TransportError("away"))
        world.create(SERVICES, service(ObjectKey("shop", "missed")))
        await asyncio.sleep(outage)
        world.faults = []
        await asyncio.sleep(10)

        assert world.pending() == []


@virtual_time
async def test_whether_a_server_is_ready_is_asked_where_the_question_waits_behind_nothing() -> None:
    world = World()
    world.faults = AWAY
    throttled, unthrottled = Wire(MemoryTransport(world)), Wire(MemoryTransport(world))
    caches = caches_of(Clusters.single(Access(throttled, unthrottled=unthrottled)))
    caches.reading(CONTROLLER.watches, CONTROLLER.indexes, Ears())
    running = asyncio.create_task(caches.run())
    await asyncio.sleep(10)
    running.cancel()
    await asyncio.wait([running])

    assert {request.path for request in unthrottled.asked} == {"/readyz"}
    assert throttled.asked
    assert "/readyz" not in {request.path for request in throttled.asked}


@pytest.mark.parametrize("outage", [600.0, 610.0, 620.0, 630.0])
@virtual_time
async def test_what_objects_name_is_followed_soon_after_the_return(outage: float) -> None:
    made = Harness()
    made.put(secret(objects=[config_map("a")]), managed_resource("secret"))
    made.turn()
    wire = SaysWhetherItIsReady(made.target)
    made.target.faults.append(Fault(lambda request: request.path == "/api/v1", Lost(), times=None))
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig()), transport=wire):
        await asyncio.sleep(outage)
        assert "/api/v1/configmaps" not in {request.path for request in wire.asked}

        made.target.faults.clear()
        await asyncio.sleep(6)

        assert "/api/v1/configmaps" in {request.path for request in wire.asked}
