"""Mass deletions that are meant, and those that only look so, on virtual time. Source: decision A-5."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.machinery.controller import Context
from hedgerow.machinery.deletion_guard import ALLOW_DELETIONS
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.memory import Answered, Fault, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol.transport import Response
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

SHOPS_ONLY = network_policy_controller(NetworkPolicyConfig((LabelSelector((("handled", "yes"),)),)))
"""Handles the namespaces with that label, which is none at first."""
HANDLED = {"metadata": {"labels": {"handled": "yes"}}}
SHOP = ObjectKey("", "shop")


async def settled(*services: Any) -> World:
    """A world whose policies are all there."""
    world = World(*services)
    async with at_work(world):
        await asyncio.sleep(60)
    assert world.pending() == []
    return world


def empty_list(world: World, times: int | None = 1, *, but: Sequence[Manifest] = ()) -> Fault:
    body = {"kind": "ServiceList", "metadata": {"resourceVersion": world.resource_version}, "items": list(but)}
    return Fault(
        lambda request: request.path == "/api/v1/services" and "watch" not in request.query,
        Answered(Response(200, body)),
        times=times,
    )


@pytest.mark.parametrize("count", [11, 60])
@virtual_time
async def test_a_first_list_that_is_empty_by_mistake_deletes_nothing(count: int) -> None:
    world, ears = await settled(*shops(count)), Ears()
    before = world.resource_version
    world.faults.append(empty_list(world))
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears):
        await asyncio.sleep(0.5)
        assert wire.lists == 2 * len(CONTROLLER.watches), "the fresh lists show the truth"
        await asyncio.sleep(60)

    assert wire.writes == 0
    assert world.resource_version == before
    assert ears.troubles == []


@virtual_time
async def test_services_that_stay_away_are_believed_to_be_a_mistake_and_creates_still_work() -> None:
    world, ears = await settled(*shops(15)), Ears()
    policies = world.policies
    world.faults.append(empty_list(world, times=None))
    async with at_work(world, observer=ears):
        await asyncio.sleep(610)
        assert world.policies == policies
        assert {key.name for key, _ in ears.held} == {f"svc-{number}" for number in range(15)}

        world.create(SERVICES, service())
        await asyncio.sleep(1)
        assert world.policies == policies | own_policies("cart")

        world.faults.clear()
        world.compact()
        world.close_watches()
        await asyncio.sleep(60)
        assert world.pending() == []
        held = len(ears.held)
        await asyncio.sleep(600)
        assert len(ears.held) == held
    assert world.policies == policies | own_policies("cart")


@virtual_time
async def test_a_list_that_keeps_showing_hardly_anything_is_believed_to_be_a_mistake_as_well() -> None:
    world, ears = await settled(service(), *shops(15)), Ears()
    policies = world.policies
    cart = [each for each in world.objects(SERVICES) if key_of(each) == CART]
    world.faults.append(empty_list(world, times=None, but=cart))
    async with at_work(world, observer=ears):
        await asyncio.sleep(610)

    assert world.policies == policies
    assert {note.partition(";")[0] for _, _, note in world.recorded} == {
        "deletions are held back: 30 of 32 owned objects would be deleted"
    }


@virtual_time
async def test_a_configuration_that_handles_no_namespace_is_stopped_and_told() -> None:
    world, ears = await settled(*shops(15)), Ears()
    policies = world.policies
    async with at_work(world, SHOPS_ONLY, observer=ears):
        await asyncio.sleep(600)
        assert world.policies == policies
        assert {deletions for _, deletions in ears.held} == {2}
        assert ears.troubles == ears.held

        events = [(reason, note.partition(";")[0]) for _, reason, note in world.recorded]
        assert set(events) == {("DeletionsHeld", "deletions are held back: 30 of 30 owned objects would be deleted")}
        assert len(events) <= 15

        world.patch(NAMESPACES, ObjectKey("", "web"), HANDLED)
        world.create(SERVICES, service(ObjectKey("web", "front")))
        await asyncio.sleep(1)
        assert "web/ingress-to-front-tcp-8080" in world.policies

        world.patch(NAMESPACES, SHOP, HANDLED)
        await asyncio.sleep(600)
        assert world.pending(SHOPS_ONLY) == []
        assert policies < world.policies


def way_told(world: World, annotated: str) -> dict[str, str]:
    """The annotation that an event names, to be set on an owner or a Namespace."""
    notes = [note for _, reason, note in world.recorded if reason == "DeletionsHeld"]
    (way,) = {found[1] for note in notes if (found := re.search(rf"annotate {annotated} with (\S+=\w+)", note))}
    name, _, value = way.partition("=")
    return {name: value}


def allowed(world: World) -> list[str]:
    return [note for _, reason, note in world.recorded if reason == "DeletionsAllowed"]


@virtual_time
async def test_an_annotation_of_a_namespace_allows_what_is_held_of_owners_that_are_gone() -> None:
    world = await settled(*shops(15), service(ObjectKey("default", "other")))
    world.faults.append(empty_list(world, times=None))
    async with at_work(world):
        await asyncio.sleep(1)
        assert len(world.policies) == 32

        world.patch(NAMESPACES, SHOP, {"metadata": {"annotations": {ALLOW_DELETIONS: "0123456789ab"}}})
        await asyncio.sleep(200)
        assert len(world.policies) == 32, "another fingerprint"

        world.patch(NAMESPACES, SHOP, {"metadata": {"annotations": way_told(world, "Namespace shop")}})
        await asyncio.sleep(5)
        assert {policy for policy in world.policies if policy.startswith("shop/")} == set()
    assert allowed(world) == [f"the annotation {ALLOW_DELETIONS} of Namespace shop allows 30 deletions"]


@virtual_time
async def test_an_annotation_of_an_owner_allows_its_own_deletions_alone() -> None:
    world = await settled(*shops(15))
    async with at_work(world, SHOPS_ONLY):
        await asyncio.sleep(1)
        (told,) = {owner for owner, reason, _ in world.recorded if reason == "DeletionsHeld"}
        key = ObjectKey(*told.split("/"))

        world.annotate(key, {ALLOW_DELETIONS: "0123456789ab"})
        await asyncio.sleep(200)
        assert len(world.policies) == 30, "another fingerprint is no evidence either"

        world.annotate(key, way_told(world, f"Service {key}"))
        await asyncio.sleep(1)
        assert len(world.policies) == 28
        assert not own_policies(key.name) & world.policies
    assert allowed(world) == [f"the annotation {ALLOW_DELETIONS} of Service {key} allows 2 deletions"]


@virtual_time
async def test_an_annotation_that_was_left_behind_allows_nothing_later() -> None:
    world = await settled(*shops(15))
    async with at_work(world, SHOPS_ONLY):
        await asyncio.sleep(1)
        annotations = way_told(world, "Namespace shop")
        world.patch(NAMESPACES, SHOP, {"metadata": {"annotations": annotations}})
        await asyncio.sleep(1)
        assert world.policies == set()

        world.patch(NAMESPACES, SHOP, HANDLED)
        await asyncio.sleep(1)
        assert len(world.policies) == 30
        world.patch(NAMESPACES, SHOP, {"metadata": {"labels": {"handled": None}}})
        await asyncio.sleep(600)
        assert len(world.policies) == 30
    assert len(allowed(world)) == 1


@virtual_time
async def test_up_to_twenty_deletions_are_nothing_to_stop_for() -> None:
    world, ears = await settled(*shops(10)), Ears()
    wire = Wire(MemoryTransport(world))
    async with at_work(world, SHOPS_ONLY, transport=wire, observer=ears):
        await asyncio.sleep(1)

    assert world.policies == set()
    assert wire.lists == len(SHOPS_ONLY.watches)
    assert ears.troubles == []


@virtual_time
async def test_less_than_a_third_of_many_is_deleted_without_more_ado() -> None:
    others = [service(ObjectKey("web", f"web-{number}")) for number in range(60)]
    world, ears = await settled(*shops(20), *others), Ears()
    world.patch(NAMESPACES, ObjectKey("", "web"), HANDLED)
    wire = Wire(MemoryTransport(world))
    async with at_work(world, SHOPS_ONLY, transport=wire, observer=ears):
        await asyncio.sleep(1)

    assert len(world.policies) == 120
    assert wire.lists == len(SHOPS_ONLY.watches)
    assert ears.troubles == []


@virtual_time
async def test_more_of_many_is_deleted_once_a_fresh_list_has_confirmed_it() -> None:
    others = [service(ObjectKey("web", f"web-{number}")) for number in range(20)]
    world, ears = await settled(*shops(60), *others), Ears()
    world.patch(NAMESPACES, ObjectKey("", "web"), HANDLED)
    wire = Wire(MemoryTransport(world))
    async with at_work(world, SHOPS_ONLY, transport=wire, observer=ears):
        await asyncio.sleep(1)

    assert len(world.policies) == 40
    assert wire.lists == 2 * len(SHOPS_ONLY.watches)
    assert ears.troubles == []


@virtual_time
async def test_without_fresh_lists_nothing_is_confirmed_and_other_work_goes_on_in_time() -> None:
    others = [service(ObjectKey("web", f"web-{number}")) for number in range(20)]
    world, ears = await settled(*shops(60), *others), Ears()
    async with at_work(world, SHOPS_ONLY, observer=ears, start=False) as runner:
        await runner.synced.wait()
        world.patch(NAMESPACES, ObjectKey("", "web"), HANDLED)
        await asyncio.sleep(1)
        world.faults.append(Fault(requests("GET", "policies"), Lost(), times=None))
        runner.start()
        await asyncio.sleep(70)
        assert len(world.policies) == 160
        world.create(SERVICES, service(ObjectKey("web", "late")))
        await asyncio.sleep(1)
        assert "web/ingress-to-late-tcp-8080" in world.policies

        world.faults.clear()
        await asyncio.sleep(300)
        assert len(world.policies) == 42
    assert ears.errors == []


@virtual_time
async def test_services_that_are_seen_to_go_take_their_policies_along_however_many_they_are() -> None:
    world, ears = World(*shops(100, PODS_OF_WEB)), Ears()
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears):
        await asyncio.sleep(1)
        assert len(world.policies) == 400
        for number in range(100):
            world.delete(SERVICES, ObjectKey("shop", f"svc-{number}"))
        await asyncio.sleep(1)

    assert world.policies == set()
    assert wire.lists == len(CONTROLLER.watches)
    assert ears.troubles == []


@virtual_time
async def test_services_that_went_while_this_process_was_on_standby_are_seen_to_go() -> None:
    world, ears = await settled(*shops(30)), Ears()
    async with at_work(world, observer=ears, start=False) as runner:
        await runner.synced.wait()
        for number in range(30):
            world.delete(SERVICES, ObjectKey("shop", f"svc-{number}"))
        await asyncio.sleep(60)
        runner.start()
        await asyncio.sleep(1)

    assert world.policies == set()
    assert ears.troubles == []


@virtual_time
async def test_a_standby_does_not_collect_what_the_leader_has_long_done() -> None:
    world = await settled(*shops(30))
    world.create(SERVICES, {**service(), "spec": {"ports": [{"port": 80}]}})
    async with at_work(world, start=False) as standby:
        await standby.synced.wait()
        await asyncio.sleep(1)  # its watches are open
        async with at_work(world) as leader:
            await leader.synced.wait()
            for each in world.objects(SERVICES):
                world.delete(SERVICES, key_of(each))
            await asyncio.sleep(60)
            assert world.policies == set()
        assert standby._deletions._seen_to_go == leader._deletions._seen_to_go == set()


@virtual_time
async def test_services_that_are_going_take_their_policies_along_too() -> None:
    services = shops(30)
    for each in services:
        each["metadata"] = {**each["metadata"], "finalizers": ["example.com/slow"]}  # type: ignore[index]  # ours
    world, ears = await settled(*services), Ears()
    for number in range(30):
        world.delete(SERVICES, ObjectKey("shop", f"svc-{number}"))
    async with at_work(world, observer=ears):
        await asyncio.sleep(1)

    assert world.policies == set()
    assert ears.troubles == []


@virtual_time
async def test_what_was_seen_to_go_and_came_back_is_guarded_again() -> None:
    world, ears = World(*shops(30)), Ears()
    async with at_work(world, observer=ears):
        await asyncio.sleep(1)
        for number in range(30):
            world.delete(SERVICES, ObjectKey("shop", f"svc-{number}"))
        for each in shops(30):
            world.create(SERVICES, each)
        await asyncio.sleep(1)
        assert len(world.policies) == 60
        world.faults.append(empty_list(world, times=None))
        world.compact()
        world.close_watches()
        await asyncio.sleep(60)

    assert len(world.policies) == 60
    assert ears.held


@virtual_time
async def test_what_one_forecast_allowed_says_nothing_about_a_later_day() -> None:
    """A few deletions are fine; an hour later everything is to go at once, and hardly anything does."""
    controller = network_policy_controller(NetworkPolicyConfig((LabelSelector((("handled", "yes"),)),)))
    world, ears = World(service(annotations=SCRAPED), *shops(100)), Ears()
    world.patch(NAMESPACES, SHOP, HANDLED)
    async with at_work(world, controller, observer=ears):
        await asyncio.sleep(1)
        world.annotate(CART, dict.fromkeys(SCRAPED))
        await asyncio.sleep(3600)
        assert len(world.policies) == 202
        world.patch(NAMESPACES, SHOP, {"metadata": {"labels": {"handled": None}}})
        await asyncio.sleep(600)
        assert len(world.policies) == 202
    assert ears.held


@virtual_time
async def test_a_key_that_cannot_be_decided_does_not_hold_up_the_deletions_of_others() -> None:
    def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        if key == CART:
            raise ZeroDivisionError
        return plan_of(CONTROLLER.reconcile(key, snapshot, context))

    world, ears = await settled(service(), service(ObjectKey("shop", "other"), SCRAPED)), Ears()
    async with at_work(world, replace(CONTROLLER, reconcile=reconcile), observer=ears):
        await asyncio.sleep(1)
        world.annotate(ObjectKey("shop", "other"), dict.fromkeys(SCRAPED))
        await asyncio.sleep(1)
        assert world.policies == own_policies("cart") | own_policies("other")
    assert {key for key, _ in ears.errors} == {CART}


@virtual_time
async def test_a_policy_that_nobody_asks_for_any_more_goes_with_the_first_look() -> None:
    world = await settled(service())
    labels = {f"{DOMAIN}/service-name": "gone", f"{DOMAIN}/service-namespace": "shop"}
    metadata = {"name": "left-over", "namespace": "web", "labels": labels}
    world.create(POLICIES, {"metadata": metadata, "spec": {"podSelector": {}}})
    async with at_work(world):
        await asyncio.sleep(1)

    assert world.policies == own_policies("cart")


@virtual_time
async def test_services_that_are_seen_to_change_lose_what_they_no_longer_ask_for_however_much_it_is() -> None:
    world, ears = World(*shops(30)), Ears()
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears):
        await asyncio.sleep(1)
        assert len(world.policies) == 60
        for number in range(30):
            world.patch(SERVICES, ObjectKey("shop", f"svc-{number}"), {"spec": {"selector": None}})
        await asyncio.sleep(1)

    assert world.policies == set()
    assert wire.lists == len(CONTROLLER.watches)
    assert ears.troubles == []


@virtual_time
async def test_changes_that_ask_for_nothing_are_no_evidence_that_policies_are_to_go() -> None:
    """Every Service has been touched at some time; then its namespace is no longer handled."""
    world, ears = World(*shops(15)), Ears()
    world.patch(NAMESPACES, SHOP, HANDLED)
    async with at_work(world, SHOPS_ONLY, observer=ears):
        await asyncio.sleep(1)
        for number in range(15):
            world.patch(SERVICES, ObjectKey("shop", f"svc-{number}"), {"metadata": {"labels": {"touched": "yes"}}})
        await asyncio.sleep(1)
        world.patch(NAMESPACES, SHOP, {"metadata": {"labels": {"handled": None}}})
        await asyncio.sleep(600)

    assert len(world.policies) == 30
    assert {key.name for key, _ in ears.held} == {f"svc-{number}" for number in range(15)}


@virtual_time
async def test_nor_are_changes_that_were_seen_on_standby() -> None:
    world, ears = await settled(*shops(15)), Ears()
    async with at_work(world, SHOPS_ONLY, observer=ears, start=False) as runner:
        await runner.synced.wait()
        for number in range(15):
            world.annotate(ObjectKey("shop", f"svc-{number}"), SCRAPED)
        await asyncio.sleep(1)
        runner.start()
        await asyncio.sleep(600)

    assert len(world.policies) == 30
    assert ears.held


@virtual_time
async def test_what_was_fine_before_a_list_says_nothing_about_what_the_list_shows() -> None:
    """A namespace loses its label, a few policies go; moments later a list is empty by mistake."""
    world, ears = World(service(annotations=PODS_OF_WEB), *shops(15)), Ears()
    async with at_work(world, observer=ears):
        await asyncio.sleep(1)
        world.patch(NAMESPACES, ObjectKey("", "web"), {"metadata": {"labels": {"tier": None}}})
        await asyncio.sleep(1)
        assert len(world.policies) == 32
        world.faults.append(empty_list(world, times=None))
        world.compact()
        world.close_watches()
        await asyncio.sleep(60)

    assert len(world.policies) == 32
    assert ears.held
