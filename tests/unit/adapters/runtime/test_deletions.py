"""What the ledger of deletions allows, and after which evidence, on virtual time. Source: decision A-5."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.machinery.controller import Change, Context
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Plan
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.runtime.deletions import COVERED_FOR, LISTED_WITHIN, STOPPED_FOR, DeletionGuard, Forecast
from tests.executions import plan_of
from tests.snapshots import snapshot_over
from tests.unit.adapters.cache.stores import replace_all
from tests.unit.adapters.runtime.world import CONTROLLER, DOMAIN, NAMESPACES, POLICIES, SERVICES, service
from tests.virtual_clock import virtual_time

assert CONTROLLER.owned is not None
OWNED = CONTROLLER.owned


def owner(name: str | int) -> ObjectKey:
    return ObjectKey("shop", f"svc-{name}")


class Site:
    """A ledger over caches that a test fills; a Service that is missing leaves its policies to be deleted."""

    def __init__(self, present: int = 0, *, missing: int = 0, policies: int = 2) -> None:
        self.snapshot = snapshot_over(CONTROLLER)
        self.ledger = DeletionGuard(CONTROLLER, self.snapshot, self._relist)
        self.relists = 0
        self.server_answers = True
        self.truth: Callable[[], None] = lambda: None
        self.snapshot.store(NAMESPACES).put({"metadata": {"name": "shop", "labels": {}}})
        for number in range(present + missing):
            self.has_policies(owner(number), policies)
        for number in range(present):
            self.has_service(owner(number))

    async def _relist(self) -> None:
        self.relists += 1
        await asyncio.sleep(1 if self.server_answers else 1000)
        self.truth()
        self.ledger.replaced()

    def has_policies(self, key: ObjectKey, count: int = 2) -> None:
        """As many as a Service with one port asks for, or others in their place."""
        wanted = (f"ingress-to-{key.name}-tcp-8080", f"egress-to-{key.name}-tcp-8080")
        for position in range(count):
            name = wanted[position] if position < len(wanted) else f"{key.name}-{position}"
            labels = {f"{DOMAIN}/service-name": key.name, f"{DOMAIN}/service-namespace": key.namespace}
            self.snapshot.store(POLICIES).put({"metadata": {"name": name, "namespace": "shop", "labels": labels}})

    def has_service(self, key: ObjectKey) -> Change:
        return self.snapshot.store(SERVICES).put(service(key))

    def sees_service_go(self, key: ObjectKey) -> None:
        change = self.snapshot.store(SERVICES).remove(key)
        assert change is not None
        self.ledger.owner_changed(change)

    def sees_service_lose_its_selector(self, key: ObjectKey) -> None:
        self.ledger.owner_changed(self.snapshot.store(SERVICES).put(without_selector(key)))

    def sees_policy_go(self, policy: Manifest) -> None:
        change = self.snapshot.store(POLICIES).remove(key_of(policy))
        assert change is not None
        self.ledger.owned_changed(change)

    def allows(self, key: ObjectKey) -> bool:
        return self.ledger.allows(key, self.plan(key), CONTROLLER)

    def plan(self, key: ObjectKey) -> Plan:
        return plan_of(CONTROLLER.reconcile(key, self.snapshot, Context(utc_now(), CONTROLLER.config)))

    async def asked(self, key: ObjectKey) -> tuple[bool, Forecast | None]:
        """Whether a key may delete after a look at the whole, and the forecast that was too much."""
        forecast = await self.ledger.look_again(self.plan(key).deletions)
        return self.allows(key), forecast


@virtual_time
async def test_nothing_is_allowed_before_a_look_at_the_whole() -> None:
    site = Site(present=3, missing=1)

    assert not site.allows(owner(3))
    assert await site.asked(owner(3)) == (True, None)
    assert site.relists == 0


@virtual_time
async def test_what_is_covered_is_used_up() -> None:
    site = Site(present=100, missing=1)
    assert await site.asked(owner(100)) == (True, None)

    allowed = [site.allows(owner(100)) for _ in range(12)]

    assert allowed == [True] * 10 + [False] * 2, "what the forecast found and twenty more"


@virtual_time
async def test_an_owner_that_was_seen_to_go_needs_no_look_and_uses_nothing_up() -> None:
    site = Site(present=60)
    for number in range(50):
        site.sees_service_go(owner(number))

    assert all(site.allows(owner(number)) for number in range(50))


@virtual_time
async def test_owners_that_were_seen_to_go_are_no_reason_to_stop_for_others() -> None:
    site = Site(present=50, missing=1)
    for number in range(49):
        site.sees_service_go(owner(number))

    assert await site.asked(owner(50)) == (True, None)
    assert site.relists == 0


@pytest.mark.parametrize("returns", ["by an event", "by a list"])
@virtual_time
async def test_an_owner_that_came_back_is_no_longer_seen_to_go(returns: str) -> None:
    site = Site(present=3)
    site.sees_service_go(owner(0))
    change = site.has_service(owner(0))
    if returns == "by an event":
        site.ledger.owner_changed(change)
    else:
        site.ledger.replaced()
    site.snapshot.store(SERVICES).remove(owner(0))

    assert not site.allows(owner(0))


@virtual_time
async def test_an_owner_that_has_nothing_left_to_delete_is_no_longer_seen_to_go() -> None:
    for finish in (settled_by_its_turn, settled_by_its_last_policy):
        site = Site(present=3)
        site.sees_service_go(owner(0))
        finish(site, owner(0))
        site.has_policies(owner(0))

        assert not site.allows(owner(0))


def settled_by_its_turn(site: Site, key: ObjectKey) -> None:
    site.ledger.settled(key)


def settled_by_its_last_policy(site: Site, key: ObjectKey) -> None:
    for policy in site.snapshot.by_index(OWNED, key):
        assert site.allows(key)
        site.sees_policy_go(policy)


@virtual_time
async def test_an_owner_that_was_seen_to_change_needs_no_look_until_it_has_had_its_turn() -> None:
    for ended in (settled_by_its_turn, settled_by_a_list, settled_by_going_and_coming_back):
        site = Site(present=30)
        for number in range(30):
            site.sees_service_lose_its_selector(owner(number))
        assert all(site.allows(owner(number)) for number in range(30))

        ended(site, owner(0))

        assert not site.allows(owner(0))


def settled_by_a_list(site: Site, _key: ObjectKey) -> None:
    site.ledger.replaced()


def settled_by_going_and_coming_back(site: Site, key: ObjectKey) -> None:
    site.sees_service_go(key)
    site.ledger.owner_changed(site.has_service(key))
    site.snapshot.store(SERVICES).put(without_selector(key))


def without_selector(key: ObjectKey) -> dict[str, Any]:
    manifest = service(key)
    return {**manifest, "spec": {"ports": manifest["spec"]["ports"]}}


@virtual_time
async def test_a_list_ends_what_was_covered_before_it() -> None:
    site = Site(present=100, missing=2)
    assert await site.asked(owner(100)) == (True, None)

    site.ledger.replaced()

    assert not site.allows(owner(101))


@virtual_time
async def test_what_was_covered_is_so_for_a_minute() -> None:
    site = Site(present=100, missing=2)
    assert await site.asked(owner(100)) == (True, None)

    await asyncio.sleep(COVERED_FOR - 1)
    assert site.allows(owner(101))
    await asyncio.sleep(2)
    assert not site.allows(owner(101))


@virtual_time
async def test_everything_at_once_is_not_believed_and_said_once_a_minute() -> None:
    site = Site(missing=15)

    assert await site.asked(owner(0)) == (False, Forecast(30, 30))
    assert str(Forecast(30, 30)) == "30 of 30 owned objects would be deleted"
    assert await site.asked(owner(1)) == (False, None)
    assert site.relists == 1
    await asyncio.sleep(STOPPED_FOR)
    assert await site.asked(owner(1)) == (False, Forecast(30, 30))
    assert site.relists == 2


@virtual_time
async def test_what_was_refused_is_looked_at_again_once_hardly_anything_is_left_whose_owner_was_not_seen_to_go() -> (
    None
):
    site = Site(present=15)
    for number in range(15):
        site.snapshot.store(SERVICES).put(without_selector(owner(number)))
    assert await site.asked(owner(14)) == (False, Forecast(30, 30))

    for number in range(4):
        site.sees_service_go(owner(number))
    assert await site.asked(owner(14)) == (False, None), "22 are left"
    for policy in site.snapshot.by_index(OWNED, owner(0)):
        site.sees_policy_go(policy)
    assert await site.asked(owner(14)) == (False, None), "they went with their owner"
    for policy in site.snapshot.by_index(OWNED, owner(4)):
        site.sees_policy_go(policy)
    assert await site.asked(owner(14)) == (True, None), "20 are left"
    assert site.relists == 1


@virtual_time
async def test_a_stop_takes_back_what_was_covered_before() -> None:
    site = Site(present=30, missing=1)
    assert await site.asked(owner(30)) == (True, None)
    site.has_policies(owner("big"), 25)
    replace_all(site.snapshot.store(SERVICES), [])
    site.server_answers = False

    assert (await site.asked(owner("big")))[1] == Forecast(87, 87)
    assert not site.allows(owner(0))
    assert asyncio.get_running_loop().time() == LISTED_WITHIN


@virtual_time
async def test_a_fresh_list_that_shows_the_truth_leaves_nothing_to_delete() -> None:
    site = Site(missing=15)

    def everything() -> None:
        for number in range(15):
            site.has_service(owner(number))

    site.truth = everything
    plan = site.plan(owner(0))
    assert plan.deletions == 2
    assert await site.ledger.look_again(plan.deletions) is None
    assert site.plan(owner(0)).deletions == 0


@virtual_time
async def test_those_who_wait_for_the_same_look_do_not_look_again() -> None:
    site = Site(present=10, missing=30)

    answers = await asyncio.gather(*(site.asked(owner(number)) for number in range(10, 40)))

    assert answers == [(True, None)] * 30
    assert site.relists == 1


@virtual_time
async def test_a_forecast_that_a_list_overtakes_is_made_again() -> None:
    """Of a long forecast the first half saw the world before a list that is empty by mistake."""
    site = Site(present=139, missing=1)
    asking = asyncio.create_task(site.asked(owner(139)))
    await asyncio.sleep(0)
    replace_all(site.snapshot.store(SERVICES), [])
    site.ledger.replaced()

    assert await asking == (False, Forecast(280, 280))
