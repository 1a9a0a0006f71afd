"""The NetworkPolicy controller at work in an in-memory cluster, on virtual time."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.memory import MemoryTransport
from tests.executions import plan_of
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


OTHER = ObjectKey("shop", "other")


async def a_while(seconds: float = 2.0) -> None:
    """Long enough for everything that does not wait on purpose."""
    await asyncio.sleep(seconds)


@virtual_time
async def test_from_nothing_to_all_policies_each_written_once() -> None:
    world, ears = World(*shops(30, SCRAPED)), Ears()
    wire = Wire(MemoryTransport(world))

    async with at_work(world, transport=wire, observer=ears) as runner:
        await a_while()
        assert runner.synced.is_set()
        assert runner.queue.idle

    assert world.pending() == []
    assert len(world.policies) == 30 * 4
    assert wire.writes == 30 * 4
    assert {result for _, result in ears.results} == {"success"}
    assert ears.troubles == []


@virtual_time
async def test_what_it_wrote_itself_is_looked_at_after_what_still_waits_for_its_first_turn() -> None:
    world, ears = World(*shops(30)), Ears()

    async with at_work(world, observer=ears) as runner:
        await a_while()
        assert runner.queue.idle

    turns = [key for key, _ in ears.results]
    assert len(set(turns[:30])) == 30
    assert len(turns) > 30


@virtual_time
async def test_nothing_is_written_before_it_is_told_to_start() -> None:
    world = World(service())
    wire = Wire(MemoryTransport(world))

    async with at_work(world, transport=wire, start=False) as runner:
        await runner.synced.wait()
        world.delete(SERVICES, CART)
        world.create(SERVICES, service(OTHER))
        await a_while(100)
        assert wire.writes == 0

        runner.start()
        await a_while()
        assert world.policies == own_policies("other")


@virtual_time
async def test_whatever_changes_is_followed() -> None:
    world, ears = World(service()), Ears()
    async with at_work(world, observer=ears):
        await a_while()
        assert world.policies == own_policies("cart")

        world.create(SERVICES, service(OTHER))
        await a_while()
        assert world.policies == own_policies("cart") | own_policies("other")

        world.patch(SERVICES, CART, {"spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 9090}]}})
        await a_while()
        assert world.policies == own_policies("cart", 9090) | own_policies("other")

        world.delete(SERVICES, OTHER)
        await a_while()
        assert world.policies == own_policies("cart", 9090)
        assert world.pending() == []
    assert ears.troubles == []


@virtual_time
async def test_what_somebody_edits_or_deletes_by_hand_is_reverted() -> None:
    world = World(service())
    policy = ObjectKey("shop", "ingress-to-cart-tcp-8080")
    async with at_work(world):
        await a_while()
        contents = world.contents

        world.patch(POLICIES, policy, {"spec": {"ingress": None}, "metadata": {"annotations": {"mine": "stays"}}})
        await a_while()
        edited = world.get(POLICIES, policy)
        assert edited is not None
        assert edited["metadata"]["annotations"]["mine"] == "stays"
        assert world.contents[str(policy)][2] == contents[str(policy)][2]

        world.delete(POLICIES, policy)
        await a_while()
        assert world.contents == contents


@virtual_time
async def test_a_namespace_that_gets_the_label_is_let_in_and_out_again_without_it() -> None:
    world = World(service(annotations=PODS_OF_WEB))
    world.create(NAMESPACES, {"metadata": {"name": "late"}})
    to_late = {"shop/ingress-to-cart-tcp-8080-from-late", "late/egress-to-shop-cart-tcp-8080"}
    async with at_work(world):
        await a_while()
        assert world.policies == own_policies("cart") | TO_WEB

        world.patch(NAMESPACES, ObjectKey("", "late"), {"metadata": {"labels": {"tier": "web"}}})
        await a_while()
        assert world.policies == own_policies("cart") | TO_WEB | to_late

        world.patch(NAMESPACES, ObjectKey("", "web"), {"metadata": {"labels": {"tier": "none"}}})
        await a_while()
        assert world.policies == own_policies("cart") | to_late


@virtual_time
async def test_a_namespace_that_terminates_loses_its_policies_and_nothing_is_tried_in_it() -> None:
    world, ears = World(service(annotations=PODS_OF_WEB)), Ears()
    async with at_work(world, observer=ears):
        await a_while()
        world.delete(NAMESPACES, ObjectKey("", "web"))
        await a_while()
        assert world.policies == own_policies("cart")

        world.delete(NAMESPACES, ObjectKey("", "shop"))
        await a_while()
        world.run_controllers()
        await a_while()
        assert world.policies == set()
        assert world.get(NAMESPACES, ObjectKey("", "shop")) is None
    assert ears.troubles == []


@virtual_time
async def test_an_annotation_that_cannot_be_understood_is_told_touches_nothing_and_heals_when_corrected() -> None:
    world, ears = World(service(), service(OTHER)), Ears()
    selectors = f"{DOMAIN}/namespace-selectors"
    async with at_work(world, observer=ears):
        await a_while()
        world.annotate(CART, {selectors: "not JSON"})
        world.annotate(OTHER, PODS_OF_WEB)
        await a_while(1000)

        assert len(world.policies) == 2 + 2 + 2
        assert [(key, result) for key, result in ears.results if result == "error"] == [(CART, "error")]
        assert [failure.key for failure in ears.failures] == [CART]
        ((about, reason, note),) = world.recorded
        assert (about, reason) == ("shop/cart", "InvalidAnnotation")
        assert note.startswith(f"metadata.annotations[{selectors}]: ")

        world.annotate(CART, PODS_OF_WEB)
        await a_while()
        assert own_policies("cart") | TO_WEB < world.policies
        assert world.pending() == []


@virtual_time
async def test_a_reconciliation_that_raises_is_told_and_tried_again_and_stops_nothing_else() -> None:
    moody = ObjectKey("shop", "svc-3")
    tries: list[float] = []

    def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        if key == moody and len(tries) < 5:
            tries.append(asyncio.get_running_loop().time())
            raise ZeroDivisionError("division by zero")
        return plan_of(CONTROLLER.reconcile(key, snapshot, context))

    world, ears = World(*shops(8)), Ears()
    async with at_work(world, replace(CONTROLLER, reconcile=reconcile), observer=ears):
        await asyncio.sleep(0.001)
        assert len(world.policies) == 7 * 2
        await a_while()
        assert len(world.policies) == 8 * 2

    assert ears.errors == [(moody, "ZeroDivisionError: division by zero")] * 5
    assert tries == pytest.approx([0.0, 0.005, 0.015, 0.035, 0.075])
    assert Counter(result for key, result in ears.results if key == moody)["error"] == 5


@virtual_time
async def test_a_key_that_has_succeeded_has_its_failures_forgotten() -> None:
    tries: list[float] = []

    def reconcile(_key: ObjectKey, _snapshot: Snapshot, _context: Context[Any]) -> Plan:
        tries.append(asyncio.get_running_loop().time())
        if len(tries) % 4:
            raise ZeroDivisionError
        return Plan()

    world = World(service())
    async with at_work(world, replace(CONTROLLER, reconcile=reconcile)):
        await asyncio.sleep(100)
        world.annotate(CART, SCRAPED)
        await asyncio.sleep(100)

    first_series, second_series = tries[:4], tries[4:]
    assert first_series == pytest.approx([0.0, 0.005, 0.015, 0.035])
    assert second_series == pytest.approx([100.0, 100.005, 100.015, 100.035])


@virtual_time
async def test_a_reconciliation_that_takes_too_long_is_given_up_told_and_tried_again() -> None:
    stuck = True

    async def never(_number: int) -> None:
        if stuck:
            await asyncio.sleep(100_000)

    world, ears = World(service()), Ears()
    async with at_work(world, transport=Wire(MemoryTransport(world), before_write=never), observer=ears):
        await asyncio.sleep(179)
        assert ears.results == []
        await asyncio.sleep(2)
        stuck = False
        await asyncio.sleep(200)
        assert world.policies == own_policies("cart")

    assert ears.errors == [(CART, "TimeoutError: the turn did not end within 180 s")] * 2


@virtual_time
async def test_a_change_whose_keys_cannot_be_found_out_is_told_and_the_others_get_through() -> None:
    services, *others = CONTROLLER.watches

    def keys(manifest: Manifest, _snapshot: Snapshot) -> list[ObjectKey]:
        if key_of(manifest) == OTHER:
            raise ValueError("no idea")
        return [key_of(manifest)]

    controller = replace(CONTROLLER, watches=(replace(services, enqueue=keys), *others))
    world, ears = World(), Ears()
    async with at_work(world, controller, observer=ears):
        await a_while()
        for key in (OTHER, CART):
            world.create(SERVICES, service(key))
        await a_while()
        assert world.policies == own_policies("cart")

    assert ears.unreadable == [(SERVICES, "no idea")]
    assert ears.causes == []


@virtual_time
async def test_an_observer_with_a_defect_ends_the_run_with_its_error() -> None:
    class Deaf(Ears):
        def reconciled(self, *_: object) -> None:
            raise RuntimeError("no ears")

    async def work() -> None:
        async with at_work(world := World(*shops(20)), observer=Deaf()):
            await a_while()
            assert len(world.policies) < 20

    with pytest.raises(ExceptionGroup) as caught:
        await work()
    assert caught.group_contains(RuntimeError, match="no ears")


@virtual_time
async def test_a_plan_that_wants_to_be_looked_at_again_gets_it_at_its_time() -> None:
    seen: list[float] = []

    def reconcile(_key: ObjectKey, _snapshot: Snapshot, _context: Context[Any]) -> Plan:
        seen.append(asyncio.get_running_loop().time())
        return Plan(requeue_after=300.0)

    ears = Ears()
    async with at_work(World(service()), replace(CONTROLLER, reconcile=reconcile), observer=ears):
        await asyncio.sleep(1000)

    assert seen == [0.0, 300.0, 600.0, 900.0]
    assert {result for _, result in ears.results} == {"requeue_after"}


@virtual_time
async def test_no_key_is_in_two_hands_at_a_time() -> None:
    busy: set[ObjectKey] = set()

    class Jealous(Ears):
        def began(self, key: ObjectKey) -> None:
            assert key not in busy
            busy.add(key)

        def reconciled(self, key: ObjectKey, *_: object) -> None:
            busy.remove(key)

    async def slowly(_number: int) -> None:
        await asyncio.sleep(0.5)

    world = World(*shops(12, SCRAPED))
    async with at_work(world, observer=Jealous(), transport=Wire(MemoryTransport(world), before_write=slowly)):
        for number in range(40):
            world.annotate(ObjectKey("shop", f"svc-{number % 12}"), SCRAPED if number % 2 else PODS_OF_WEB)
            await asyncio.sleep(0.2)
        await a_while(20)
        assert world.pending() == []
