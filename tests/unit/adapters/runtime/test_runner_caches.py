"""What the caches show and when keys are looked at because of it, in an in-memory cluster, on virtual time."""

import asyncio
from dataclasses import replace
from typing import Any

from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.plan import Create
from hedgerow_adapters.memory import MemoryTransport
from hedgerow_adapters.runtime.runner import keys_under_way
from tests.unit.adapters.runtime.world import (
    CART,
    CONTROLLER,
    DOMAIN,
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

TO_WEB = {"shop/ingress-to-cart-tcp-8080-from-web", "web/egress-to-shop-cart-tcp-8080"}


async def a_while(seconds: float = 2.0) -> None:
    """Long enough for everything that does not wait on purpose."""
    await asyncio.sleep(seconds)


@virtual_time
async def test_a_cache_that_is_behind_the_own_writes_leads_to_no_second_create() -> None:
    """The watch of policies shows nothing for a while, and the Service changes meanwhile."""
    world, ears = World(), Ears()

    class Late(MemoryTransport):
        def stream(self, request: Any, *, timeout: float) -> Any:
            return delayed(super().stream(request, timeout=timeout), 1.0 if "policies" in request.path else 0.0)

    wire = Wire(Late(world))
    async with at_work(world, transport=wire, observer=ears):
        await a_while()
        world.create(SERVICES, service())
        await asyncio.sleep(0.1)
        world.annotate(CART, PODS_OF_WEB)
        await asyncio.sleep(0.1)
        world.annotate(CART, {f"{DOMAIN}/namespace-selectors": None, **SCRAPED})
        await a_while(60)
        assert world.pending() == []

    creations = [key_of(action.manifest) for action in ears.actions if isinstance(action, Create)]
    assert len(creations) == len(set(creations)) == wire.writes == 4
    assert ears.troubles == []


@virtual_time
async def test_patience_with_a_cache_that_is_behind_has_an_end() -> None:
    """The watch of policies shows nothing at all; refused writes are the price of going on."""
    world, ears = World(), Ears()

    class Blind(MemoryTransport):
        def stream(self, request: Any, *, timeout: float) -> Any:
            return delayed(super().stream(request, timeout=timeout), 100_000 if "policies" in request.path else 0.0)

    async with at_work(world, transport=Blind(world), observer=ears):
        await a_while()
        world.create(SERVICES, service())
        await asyncio.sleep(1)
        world.annotate(CART, PODS_OF_WEB)
        await asyncio.sleep(4)
        assert world.policies == own_policies("cart")
        await asyncio.sleep(2)
        assert world.policies == own_policies("cart") | TO_WEB

    assert ears.behind[0] == CART
    assert all(failed.is_race for failed in ears.failed)


def delayed(stream: Any, seconds: float) -> Any:
    """A watch whose events arrive late."""

    class Delayed:
        async def __aenter__(self) -> Any:
            opened = await stream.__aenter__()

            async def events() -> Any:
                async for event in opened.events:
                    await asyncio.sleep(seconds)
                    yield event

            return replace(opened, events=events())

        async def __aexit__(self, *problem: object) -> Any:
            return await stream.__aexit__(*problem)

    return Delayed()


@virtual_time
async def test_looking_at_everything_again_writes_nothing_and_looks_at_every_key_once() -> None:
    world, ears = World(*shops(20, PODS_OF_WEB)), Ears()
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears, resync_period=3600.0):
        await a_while()
        writes = wire.writes
        ears.results.clear()
        await asyncio.sleep(3600)

        assert sorted(ears.results) == sorted((key_of(each), "success") for each in world.objects(SERVICES))
        assert wire.writes == writes


@virtual_time
async def test_looking_at_everything_again_mends_what_no_event_told_of() -> None:
    services, policies, namespaces = CONTROLLER.watches
    blind = replace(policies, predicate=lambda change: change.old is None)
    world = World(service())
    async with at_work(world, replace(CONTROLLER, watches=(services, blind, namespaces)), resync_period=3600.0):
        await a_while()
        world.delete(POLICIES, ObjectKey("shop", "ingress-to-cart-tcp-8080"))
        await a_while()
        assert world.policies < own_policies("cart")
        await asyncio.sleep(3600)
        assert world.policies == own_policies("cart")


@virtual_time
async def test_live_changes_are_served_before_the_rest_of_the_first_look() -> None:
    order: list[ObjectKey] = []

    class Ordered(Ears):
        def began(self, key: ObjectKey) -> None:
            order.append(key)

    async def slowly(_number: int) -> None:
        await asyncio.sleep(0.5)

    world = World(*shops(100))
    transport = Wire(MemoryTransport(world), before_write=slowly)
    async with at_work(world, replace(CONTROLLER, concurrency=1), observer=Ordered(), transport=transport):
        await asyncio.sleep(3)
        begun = len(order)
        world.create(SERVICES, service())
        await asyncio.sleep(3)

    assert begun < 50
    assert order.index(CART) <= begun + 1


@virtual_time
async def test_many_settled_keys_do_not_keep_others_from_their_turns() -> None:
    world, turns, ears = World(*shops(200)), 0, Ears()
    async with at_work(world, observer=ears):
        await a_while()
        ears.results.clear()
        world.patch(NAMESPACES, ObjectKey("", "shop"), {"metadata": {"labels": {"x": "y"}}})
        while len(ears.results) < 200:
            await asyncio.sleep(0)
            turns += 1

    assert turns >= 200 / keys_under_way(CONTROLLER)


@virtual_time
async def test_one_namespace_among_others_is_all_that_is_seen_if_so_restricted() -> None:
    elsewhere = service(ObjectKey("web", "front"))
    world, ears = World(service(), elsewhere, service(ObjectKey("default", "hidden"))), Ears()
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears, namespaces=("shop", "web")):
        await a_while()
        of_front = {"web/ingress-to-front-tcp-8080", "web/egress-to-front-tcp-8080"}
        assert world.policies == own_policies("cart") | of_front
        world.annotate(CART, PODS_OF_WEB)
        await a_while()
        assert world.policies == own_policies("cart") | of_front | TO_WEB
        world.delete(SERVICES, ObjectKey("web", "front"))
        await a_while(60)
        assert world.policies == own_policies("cart") | TO_WEB

    assert ears.troubles == []
    assert {request.path for request in wire.asked if "services" in request.path} == {
        "/api/v1/namespaces/shop/services",
        "/api/v1/namespaces/web/services",
    }


@virtual_time
async def test_a_change_of_a_namespace_looks_at_its_services_and_a_relist_without_changes_at_none() -> None:
    world, ears = World(*shops(50), service(ObjectKey("web", "front"))), Ears()
    async with at_work(world, observer=ears):
        await a_while()
        ears.results.clear()
        world.patch(NAMESPACES, ObjectKey("", "shop"), {"metadata": {"labels": {"x": "y"}}})
        await a_while()
        assert len(ears.results) == 50

        ears.results.clear()
        world.compact()
        world.close_watches()
        await a_while(60)
        assert (NAMESPACES, "expired") in ears.causes
        assert ears.results == []
