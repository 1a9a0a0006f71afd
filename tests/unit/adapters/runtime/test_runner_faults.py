"""The controller against a server and a network that fail it in every way, on virtual time."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable

import pytest

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow_adapters.memory import Answered, Fault, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol.transport import Request, Response, TransportError
from tests.unit.adapters.runtime.world import (
    CART,
    CONTROLLER,
    NAMESPACES,
    PODS_OF_WEB,
    POLICIES,
    SCRAPED,
    SERVICES,
    Ears,
    Wire,
    World,
    at_work,
    own_policies,
    service,
    shops,
)
from tests.virtual_clock import virtual_time

HOUR = 3600.0


def refusal(code: int, reason: str) -> Response:
    return Response(code, {"kind": "Status", "code": code, "reason": reason, "message": reason})


TROUBLE = (
    Answered(refusal(409, "Conflict")),
    Answered(refusal(429, "TooManyRequests")),
    Answered(refusal(500, "InternalError")),
    Answered(refusal(503, "ServiceUnavailable")),
    Lost(),
    Lost(after_commit=True),
    Lost(hangs=True),
)


def trouble_with(share: float, seed: int) -> list[Fault]:
    """Faults that hit a share of all requests, watches included, each kind equally often."""
    numbers = random.Random(seed)  # noqa: S311 -- no secret, but the same numbers every time

    def hit(_request: Request) -> bool:
        return numbers.random() < share / len(TROUBLE)

    return [Fault(hit, outcome, times=None) for outcome in TROUBLE]


class Census:
    """How often each policy came to be and went."""

    def __init__(self, world: World) -> None:
        self.created: Counter[ObjectKey] = Counter()
        self.deleted: Counter[ObjectKey] = Counter()
        world.subscribe(POLICIES, self._count)

    def _count(self, change: Change) -> None:
        if change.old is None and change.new is not None:
            self.created[key_of(change.new)] += 1
        if change.new is None and change.old is not None:
            self.deleted[key_of(change.old)] += 1


@pytest.mark.parametrize("seed", range(6))
@virtual_time
async def test_with_every_tenth_request_failing_all_comes_out_as_if_none_had(seed: int) -> None:
    world, ears = World(*shops(40, PODS_OF_WEB)), Ears()
    census = Census(world)
    world.faults = trouble_with(0.1, seed)
    async with at_work(world, observer=ears):
        await asyncio.sleep(HOUR)
        assert world.pending() == []
        assert set(census.created.values()) == {1}
        assert len(census.created) == 40 * 4

        for number in range(20):
            world.annotate(ObjectKey("shop", f"svc-{number}"), SCRAPED)
            world.delete(SERVICES, ObjectKey("shop", f"svc-{number + 20}"))
        world.patch(NAMESPACES, ObjectKey("", "web"), {"metadata": {"labels": {"tier": "none"}}})
        await asyncio.sleep(HOUR)
        assert world.pending() == []
        assert len(world.policies) == 20 * 4
        assert set(census.created.values()) == set(census.deleted.values()) == {1}
    assert ears.failed
    assert ears.errors == []


@virtual_time
async def test_a_server_that_is_down_from_the_start_is_waited_for() -> None:
    world, ears = World(*shops(5)), Ears()
    world.faults = [Fault(requests(), Lost(), times=None)]
    async with at_work(world, observer=ears) as runner:
        await asyncio.sleep(HOUR)
        assert not runner.synced.is_set()
        world.faults = []
        await asyncio.sleep(70)
        assert world.pending() == []


CHANGES: tuple[Callable[[World], None], ...] = (
    lambda world: world.create(SERVICES, service(ObjectKey("shop", "new"))),
    lambda world: world.annotate(CART, SCRAPED),
    lambda world: world.annotate(CART, PODS_OF_WEB),
    lambda world: world.delete(SERVICES, ObjectKey("shop", "svc-0")),
    lambda world: world.patch(NAMESPACES, ObjectKey("", "web"), {"metadata": {"labels": {"tier": "none"}}}),
    lambda world: world.delete(POLICIES, ObjectKey("shop", "ingress-to-cart-tcp-8080")),
)


@pytest.mark.parametrize("forgotten", [False, True], ids=["history kept", "history forgotten"])
@pytest.mark.parametrize("error", [None, TransportError("cut off")], ids=["closed", "broken"])
@virtual_time
async def test_what_happens_while_the_watches_are_down_is_noticed(
    error: TransportError | None, *, forgotten: bool
) -> None:
    world, ears = World(service(), *shops(3)), Ears()
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears):
        await asyncio.sleep(60)
        for change in CHANGES:
            world.close_watches(error)
            change(world)
            if forgotten:
                world.compact()
            await asyncio.sleep(60)
            assert world.pending() == []

    assert wire.lists == len(CONTROLLER.watches) * (1 + (len(CHANGES) if forgotten else 0))
    assert ears.troubles == []


@pytest.mark.parametrize("forgotten", [False, True], ids=["history kept", "history forgotten"])
@virtual_time
async def test_a_hundred_reconnects_with_nothing_changed_write_nothing_and_look_at_nothing(*, forgotten: bool) -> None:
    world, ears = World(*shops(20, PODS_OF_WEB)), Ears()
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears):
        await asyncio.sleep(60)
        writes = wire.writes
        ears.results.clear()
        for number in range(100):
            if forgotten:
                world.compact()
            world.close_watches(TransportError("cut off") if number % 2 else None)
            await asyncio.sleep(60)

    assert len([request for request in wire.asked if "watch" in request.query]) > 300
    assert wire.lists == len(CONTROLLER.watches) * (101 if forgotten else 1)
    assert wire.writes == writes
    assert ears.results == []


@virtual_time
async def test_after_an_outage_that_outlasts_the_history_the_list_does_not_wait() -> None:
    world = World(service())
    async with at_work(world):
        await asyncio.sleep(10)
        world.compact()
        world.close_watches()
        world.create(SERVICES, service(ObjectKey("shop", "late")))
        world.compact()
        await asyncio.sleep(0.1)

    assert world.policies == own_policies("cart") | own_policies("late")
