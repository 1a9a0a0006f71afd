"""The controller beside somebody who undoes what it does, on virtual time."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Watch
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.plan import MergePatch, Plan, Update
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from tests.unit.adapters.runtime.mirrors import CONFIG_MAPS, MIRRORING, kept, own_key
from tests.unit.adapters.runtime.world import (
    CART,
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
)
from tests.virtual_clock import virtual_time

HOUR = 3600.0
INGRESS = ObjectKey("shop", "ingress-to-cart-tcp-8080")
EGRESS = ObjectKey("shop", "egress-to-cart-tcp-8080")
EMPTIED = {"spec": {"ingress": None}}


def claim(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
    """Each object is to say that it is claimed."""
    claimed = snapshot.get(CONFIG_MAPS, key)
    if claimed is None or claimed.get("data"):
        return Plan()
    return Plan((MergePatch(CONFIG_MAPS, key, {"data": {"claimed": "yes"}}, "claim"),))


CLAIMING = replace(
    MIRRORING,
    watches=(Watch(CONFIG_MAPS, kept, own_key),),
    reconcile=claim,
    primary_cluster=Cluster.TARGET,
)


def write_again(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
    """Each object is written as it is, once a minute."""
    stored = snapshot.get(CONFIG_MAPS, key)
    return Plan() if stored is None else Plan((Update(CONFIG_MAPS, stored, "always"),), requeue_after=60)


class Opponent:
    """Somebody who undoes every change of one policy at once, as long as it acts."""

    def __init__(self, world: World, undo: Callable[[World], None]) -> None:
        self.acts = True
        self._world = world
        self._undo = undo
        world.subscribe(POLICIES, self._see)

    def _see(self, change: Change) -> None:
        asyncio.get_running_loop().call_soon(self._answer, change)

    def _answer(self, change: Change) -> None:
        if self.acts and change.new is not None and key_of(change.new) == INGRESS and change.new["spec"].get("ingress"):
            self._undo(self._world)


def empties(world: World) -> None:
    world.patch(POLICIES, INGRESS, EMPTIED)


def deletes(world: World) -> None:
    world.delete(POLICIES, INGRESS)


def in_turns(*undo: Callable[[World], None]) -> Callable[[World], None]:
    ways = itertools.cycle(undo)

    def next_way(world: World) -> None:
        next(ways)(world)

    return next_way


def redirects(world: World) -> None:
    world.patch(POLICIES, INGRESS, {"spec": {"ingress": None, "podSelector": {"matchLabels": {"app": "other"}}}})


@pytest.mark.parametrize(
    "undo", [empties, deletes, in_turns(empties, redirects), in_turns(empties, deletes, redirects)]
)
@virtual_time
async def test_who_is_undone_at_once_for_ever_writes_15_times_in_an_hour_and_then_6_times(
    undo: Callable[[World], None],
) -> None:
    world, ears = World(service()), Ears()
    Opponent(world, undo)
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears):
        await asyncio.sleep(HOUR)
        assert wire.writes <= 15 + 1, "15 of the policy that is fought over, and the creation of the other one"
        in_first_hour = wire.writes
        await asyncio.sleep(10 * HOUR)
        assert wire.writes - in_first_hour <= 60

        verb = "corrected 6 times within 1 minute"
        pauses = "the next write follows in 30s, later ones after pauses of up to 10m0s"
        reason = ears.conflicts[0][1].action.reason
        note = f"NetworkPolicy {INGRESS} was {verb} ({reason}): somebody undoes it; {pauses}"
        assert world.recorded == [("shop/cart", "WriteConflict", note)]
        assert [(key, wait) for key, _, wait in ears.conflicts] == [(CART, 30.0)]
        assert ears.slowed_keys == 1
    assert ears.errors == []


@virtual_time
async def test_what_an_owner_asks_for_does_not_wait_because_of_a_fight() -> None:
    world, ears = World(service(annotations=PODS_OF_WEB)), Ears()
    Opponent(world, empties)
    wire = Wire(MemoryTransport(world))
    async with at_work(world, transport=wire, observer=ears):
        await asyncio.sleep(HOUR)
        world.annotate(CART, dict.fromkeys(PODS_OF_WEB))
        await asyncio.sleep(0.1)
        assert world.policies == own_policies("cart"), "no other access than the one asked for stays open"

        before = wire.writes
        await asyncio.sleep(HOUR)
        assert wire.writes - before <= 6, "the conflict is no younger for that"

        world.delete(SERVICES, CART)
        await asyncio.sleep(0.1)
        assert world.policies == set()
    assert len(ears.conflicts) == 1


@virtual_time
async def test_where_the_owner_itself_is_fought_over_its_changes_end_no_wait() -> None:
    cluster = InMemoryCluster()
    wire = Wire(MemoryTransport(cluster))
    key = ObjectKey("default", "a")
    assert cluster.handle(requests.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {}}, "default")).is_success

    def undo(change: Change) -> None:
        if change.new is not None and change.new.get("data"):
            patch = requests.merge_patch(CONFIG_MAPS, key, {"data": None})
            asyncio.get_running_loop().call_later(1, cluster.handle, patch)

    cluster.subscribe(CONFIG_MAPS, undo)
    async with at_work(cluster, CLAIMING, transport=wire):
        await asyncio.sleep(HOUR)
        assert 10 <= wire.writes <= 15


@virtual_time
async def test_who_writes_what_is_there_already_fights_with_nobody() -> None:
    cluster, ears = InMemoryCluster(), Ears()
    wire = Wire(MemoryTransport(cluster))
    assert cluster.handle(requests.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {}}, "default")).is_success
    writing = replace(
        CLAIMING, watches=(Watch(CONFIG_MAPS, lambda manifest: manifest, own_key),), reconcile=write_again
    )
    async with at_work(cluster, writing, transport=wire, observer=ears):
        await asyncio.sleep(HOUR)

    assert wire.writes >= 59
    assert ears.conflicts == []


@virtual_time
async def test_other_keys_are_as_fast_as_ever_and_so_is_the_key_when_the_fight_is_over() -> None:
    world, ears = World(service(), service(ObjectKey("shop", "other"))), Ears()
    opponent = Opponent(world, empties)
    async with at_work(world, observer=ears):
        await asyncio.sleep(HOUR)
        world.annotate(ObjectKey("shop", "other"), PODS_OF_WEB)
        world.patch(POLICIES, EGRESS, {"spec": {"podSelector": {"matchLabels": {"app": "nobody"}}}})
        await asyncio.sleep(0.1)
        assert "shop/ingress-to-other-tcp-8080-from-web" in world.policies
        assert world.pending() != [], "a live change does not end the wait"

        opponent.acts = False
        await asyncio.sleep(2 * 600)
        assert world.pending() == []
        assert ears.slowed_keys == 0

        world.annotate(CART, SCRAPED)
        await asyncio.sleep(0.1)
        assert world.pending() == []
        world.delete(SERVICES, CART)
        await asyncio.sleep(0.1)
        assert world.pending() == []
    assert len(ears.conflicts) == 1


@virtual_time
async def test_a_user_who_changes_a_mind_again_and_again_is_no_conflict() -> None:
    world, ears = World(service()), Ears()
    async with at_work(world, observer=ears):
        for _ in range(20):
            for annotations in (PODS_OF_WEB, dict.fromkeys(PODS_OF_WEB)):
                world.annotate(CART, annotations)
                await asyncio.sleep(1)
                assert world.pending() == []
    assert world.policies == own_policies("cart")
    assert ears.conflicts == []
