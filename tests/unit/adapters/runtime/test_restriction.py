"""A controller that sees some namespaces alone, beside others that are somebody else's, on virtual time."""

import asyncio

from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow_adapters.memory import Answered, Fault, MemoryTransport
from hedgerow_adapters.protocol.transport import Request, Response
from tests.unit.adapters.runtime.world import (
    CART,
    DOMAIN,
    NAMESPACES,
    PODS_OF_WEB,
    POLICIES,
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

WEB = ("web",)
FRONT = ObjectKey("web", "front")
OF_FRONT = {"web/ingress-to-front-tcp-8080", "web/egress-to-front-tcp-8080"}
ALL_PODS = {f"{DOMAIN}/namespace-selectors": "[{}]"}


def fronts(count: int) -> list[Manifest]:
    return [service(ObjectKey("web", f"front-{number}")) for number in range(count)]


async def settled(*services: Manifest) -> World:
    """A world that a controller has looked after which sees everything."""
    world = World(*services)
    async with at_work(world):
        await asyncio.sleep(60)
    assert world.pending() == []
    return world


def places(wire: Wire) -> set[str]:
    """What was asked for: paths and selectors."""
    return {f"{request.path} {request.query.get('fieldSelector', '')}".strip() for request in wire.asked}


def is_list_of_services(request: Request) -> bool:
    return request.path.endswith("/services") and "watch" not in request.query


@virtual_time
async def test_nothing_outside_is_asked_for_and_what_belongs_to_others_is_left_alone() -> None:
    world, ears = await settled(service(annotations=PODS_OF_WEB)), Ears()
    theirs = world.contents
    assert "web/egress-to-shop-cart-tcp-8080" in theirs, "theirs, and in a namespace of ours"
    world.create(SERVICES, service(FRONT))
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears, namespaces=WEB):
        await asyncio.sleep(60)
        assert world.policies == set(theirs) | OF_FRONT
        label = {"metadata": {"labels": {"seen": "yes"}}}
        world.patch(POLICIES, ObjectKey("web", "egress-to-shop-cart-tcp-8080"), label)
        world.delete(SERVICES, CART)
        world.delete(SERVICES, FRONT)
        await asyncio.sleep(600)

    assert world.policies == set(theirs)
    assert ears.troubles == []
    assert {key for key, _ in ears.results} == {FRONT}
    of_policies = "/apis/networking.k8s.io/v1/namespaces/web/networkpolicies"
    names = {key.rpartition("/")[2] for key in OF_FRONT}
    assert places(wire) == {
        "/api/v1/namespaces/web/services",
        "/api/v1/namespaces metadata.name=web",
        of_policies,
        *(f"{of_policies}/{name}" for name in names),
    }


@virtual_time
async def test_peers_out_of_sight_get_nothing_and_those_in_sight_everything() -> None:
    world, ears = World(service(FRONT, ALL_PODS)), Ears()
    async with at_work(world, observer=ears, namespaces=("web", "default")):
        await asyncio.sleep(60)

    assert world.policies == OF_FRONT | {
        "web/ingress-to-front-tcp-8080-from-default",
        "default/egress-to-web-front-tcp-8080",
    }
    assert ears.troubles == []


@virtual_time
async def test_a_namespace_in_sight_is_watched_and_one_out_of_sight_is_not() -> None:
    world, ears = World(service(FRONT)), Ears()
    async with at_work(world, observer=ears, namespaces=WEB):
        await asyncio.sleep(60)
        ears.results.clear()
        world.patch(NAMESPACES, ObjectKey("", "shop"), {"metadata": {"labels": {"x": "y"}}})
        await asyncio.sleep(60)
        assert ears.results == []
        world.patch(NAMESPACES, ObjectKey("", "web"), {"metadata": {"labels": {"x": "y"}}})
        await asyncio.sleep(60)

    assert ears.results == [(FRONT, "success")]


@virtual_time
async def test_a_policy_that_a_service_out_of_sight_holds_is_not_taken_from_it() -> None:
    world, ears = World(service()), Ears()
    labels = {f"{DOMAIN}/service-name": "x", f"{DOMAIN}/service-namespace": "hidden"}
    name = "ingress-to-cart-tcp-8080"
    metadata = {"namespace": "shop", "name": name, "labels": labels, "annotations": {"of": "theirs"}}
    world.create(POLICIES, {"metadata": metadata, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}})
    before = world.contents
    async with at_work(world, observer=ears, namespaces=("shop",)):
        await asyncio.sleep(60)

    assert world.policies == own_policies("cart")
    assert world.contents[f"shop/{name}"] == before[f"shop/{name}"]
    assert {str(failure) for failure in ears.failures} == {
        f"NetworkPolicy shop/{name}: belongs to hidden/x, which is in a namespace that is not looked after here"
    }


@virtual_time
async def test_policies_of_others_do_not_hold_back_own_deletions() -> None:
    world, ears = await settled(service(FRONT), *shops(60, PODS_OF_WEB)), Ears()
    theirs = world.policies - OF_FRONT
    world.delete(SERVICES, FRONT)
    async with at_work(world, observer=ears, namespaces=WEB):
        await asyncio.sleep(60)

    assert world.policies == theirs
    assert ears.troubles == []


@virtual_time
async def test_policies_of_others_do_not_make_own_mass_deletions_look_small() -> None:
    world, ears = await settled(*fronts(15), *shops(60, PODS_OF_WEB)), Ears()
    before = world.policies
    body = {"kind": "ServiceList", "metadata": {"resourceVersion": world.resource_version}, "items": []}
    world.faults.append(Fault(is_list_of_services, Answered(Response(200, body)), times=None))
    async with at_work(world, observer=ears, namespaces=WEB):
        await asyncio.sleep(60)

    assert world.policies == before
    assert {key.name for key, _ in ears.held} == {key_of(each).name for each in fronts(15)}
