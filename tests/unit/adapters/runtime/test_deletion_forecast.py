"""The deletion guard foresees decisions that read live before they delete, on virtual time. Source: decision A-5."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.api.kubernetes import EVENTS
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS, SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import ListQuestion, ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce, Step
from hedgerow.registration.planning import PlanningConfig
from hedgerow.registration.seed_controller import seed_controller
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.runtime.deletions import MOST_READS, Forecast
from tests.executions import plan_of
from tests.unit.adapters.runtime.test_deletion_guard import SHOPS_ONLY, settled
from tests.unit.adapters.runtime.test_deletions import Site, owner
from tests.unit.adapters.runtime.world import CONTROLLER, SERVICES, Ears, at_work, shops
from tests.unit.core.registration.objects import KINDS, registration, seed
from tests.virtual_clock import virtual_time


class Garden(InMemoryCluster):
    """Seeds into which every registration is installed."""

    def __init__(self, seeds: int, registrations: int) -> None:
        super().__init__(resources=(*DEFAULT_RESOURCES, *KINDS), namespaces=("default",))
        for number in range(seeds):
            self._has(SEEDS, seed(f"s{number}", spec={"provider": {"type": "p"}}))
        for number in range(registrations):
            self._has(CONTROLLER_REGISTRATIONS, registration(f"r{number}", policy="Always", type="x"))

    def _has(self, resource: Resource, manifest: Manifest) -> None:
        assert self.handle(requests.create(resource, manifest, "")).is_success

    def installs_on_demand(self, registrations: Iterable[int]) -> None:
        patch = {"spec": {"deployment": {"policy": "OnDemand"}}}
        for number in registrations:
            key = ObjectKey("", f"r{number}")
            assert self.handle(requests.merge_patch(CONTROLLER_REGISTRATIONS, key, patch)).is_success

    @property
    def installations(self) -> int:
        return len(self.objects(CONTROLLER_INSTALLATIONS))


async def after_a_change(garden: Garden, registrations: Iterable[int]) -> Ears:
    """What was told after registrations became unwanted everywhere."""
    ears = Ears()
    async with at_work(garden, seed_controller(PlanningConfig(seed_provider_extensions=False)), observer=ears):
        await asyncio.sleep(60)
        assert garden.installations == len(garden.objects(SEEDS)) * len(garden.objects(CONTROLLER_REGISTRATIONS))
        garden.installs_on_demand(registrations)
        await asyncio.sleep(600)
    assert ears.errors == []
    return ears


@virtual_time
async def test_installations_that_go_from_every_seed_at_once_are_held() -> None:
    garden = Garden(seeds=3, registrations=15)
    ears = await after_a_change(garden, range(15))

    assert garden.installations == 45
    assert {(key.name, deletions) for key, deletions in ears.held} == {("s0", 15), ("s1", 15), ("s2", 15)}
    notes = {event["note"].partition(";")[0] for event in garden.objects(EVENTS) if event["reason"] == "DeletionsHeld"}
    assert notes == {"deletions are held back: 45 of 45 owned objects would be deleted"}


@virtual_time
async def test_one_seed_may_lose_more_installations_than_are_always_allowed() -> None:
    garden = Garden(seeds=1, registrations=80)
    ears = await after_a_change(garden, range(21))

    assert garden.installations == 59
    assert ears.held == []


def list_of(resource: Resource, selector: str = "") -> Callable[[ObjectKey], ListQuestion]:
    return lambda key: ListQuestion(resource, Cluster.TARGET, key.namespace, selector)


def itself(key: ObjectKey) -> ObjectQuestion:
    return ObjectQuestion(SERVICES, key, Cluster.TARGET)


@pytest.mark.parametrize(
    ("first", "is_foreseen"),
    [
        (itself, True),
        (list_of(SERVICES), True),
        (lambda key: AtOnce((itself(key), AtOnce((list_of(SERVICES)(key),)))), True),
        (list_of(SERVICES, "a=b"), False),  # the cache need not hold the labels
        (list_of(EVENTS), False),
        (lambda key: AtOnce((itself(key), list_of(EVENTS)(key))), False),
    ],
)
@virtual_time
async def test_a_forecast_answers_what_caches_hold(first: Callable[[ObjectKey], Step[Any]], is_foreseen: bool) -> None:  # noqa: FBT001 -- a case
    async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        await first(key)
        return plan_of(SHOPS_ONLY.reconcile(key, snapshot, context))

    world = await settled(*shops(15))
    async with at_work(world, replace(SHOPS_ONLY, reconcile=reconcile)):
        await asyncio.sleep(1)

    assert (len(world.policies) == 30) is is_foreseen


@virtual_time
async def test_a_decision_that_never_stops_reading_does_not_stop_the_forecast_of_others() -> None:
    reads = 0

    async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        nonlocal reads
        while key == owner(0):
            reads += 1
            await itself(key)
        return plan_of(CONTROLLER.reconcile(key, snapshot, context))

    site = Site(missing=16)
    site.ledger.reconfigure(replace(CONTROLLER, reconcile=reconcile))

    assert await site.ledger.look_again(2) == Forecast(30, 32)
    assert reads == 2 * (MOST_READS + 1)  # again after fresh lists
