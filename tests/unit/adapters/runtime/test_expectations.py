"""Whether a key waits for what was written for it, on virtual time."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch, Update
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.runtime.executor import Written
from hedgerow_adapters.runtime.expectations import MOST_IDLE, PATIENCE, Expectations
from tests.snapshots import snapshot_over
from tests.unit.adapters.cache.stores import replace_all
from tests.virtual_clock import virtual_time

CONTROLLER = network_policy_controller(NetworkPolicyConfig())
POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
UNWATCHED = Resource("", "v1", "secrets", "Secret")
CART, OTHER = ObjectKey("shop", "cart"), ObjectKey("shop", "other")


@dataclass(eq=False)
class Watcher:
    """Keeps the cache of one namespace."""

    resource_version: int


class World:
    """Caches that have seen versions up to a number, namespace by namespace."""

    def __init__(self, **versions: int) -> None:
        self.snapshot = snapshot_over(CONTROLLER)
        self.watchers = {namespace: Watcher(version) for namespace, version in (versions or {"shop": 10}).items()}
        self.expectations = Expectations(self.snapshot, self.watcher_of)

    def watcher_of(self, cluster: Cluster, resource: Resource, key: ObjectKey) -> Watcher | None:
        is_watched = (resource, cluster) == (POLICIES, Cluster.TARGET)
        return self.watchers.get(key.namespace) if is_watched else None

    def shows(self, *policies: dict[str, Any], **versions: int) -> None:
        replace_all(self.snapshot.store(POLICIES), policies)
        for namespace, version in versions.items():
            self.watchers[namespace].resource_version = version
        self.expectations.progressed()

    async def waited(self, key: ObjectKey = CART) -> tuple[bool, float]:
        """Whether the caches caught up, and after how many seconds."""
        began = asyncio.get_running_loop().time()
        wait = await self.expectations.catch_up(key)
        seconds = asyncio.get_running_loop().time() - began
        assert (wait.seconds if wait else 0.0) == seconds, "what is told is what went by"
        return wait is None or wait.caught_up, seconds


def policy(name: str = "p", uid: str = "1", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop", "uid": uid, **metadata}}


def created(version: int | None, namespace: str = "shop", resource: Resource = POLICIES) -> Written:
    return Written(Create(resource, {"metadata": {"name": "p", "namespace": namespace}}, "wanted"), version)


def deleted(uid: str | None = "1") -> Written:
    return Written(Delete(POLICIES, ObjectKey("shop", "p"), "unwanted", uid), None)


@virtual_time
async def test_a_key_for_which_nothing_was_written_waits_for_nothing() -> None:
    world = World()
    world.expectations.expect(CART, created(99))

    assert await world.waited(OTHER) == (True, 0.0)


@virtual_time
async def test_a_key_waits_until_the_cache_has_seen_the_last_version_written_for_it() -> None:
    world = World()
    world.expectations.expect(CART, created(12))
    world.expectations.expect(CART, created(11))
    loop = asyncio.get_running_loop()
    loop.call_later(1, lambda: world.shows(shop=11))
    loop.call_later(2, lambda: world.shows(shop=12))

    assert await world.waited() == (True, 2.0)
    assert await world.waited() == (True, 0.0)


@virtual_time
async def test_a_write_that_the_cache_has_seen_already_is_not_waited_for() -> None:
    world = World()
    world.expectations.expect(CART, created(10))

    assert await world.waited() == (True, 0.0)


@virtual_time
async def test_a_deletion_is_seen_when_the_object_is_gone_going_or_another() -> None:
    for left in ([], [policy(deletionTimestamp="2026-01-01T00:00:00Z")], [policy(uid="2")]):
        world = World()
        world.shows(policy())
        world.expectations.expect(CART, deleted())
        asyncio.get_running_loop().call_later(3, world.shows, *left)

        assert await world.waited() == (True, 3.0)


@virtual_time
async def test_patience_ends_and_then_nothing_old_is_waited_for_again() -> None:
    world = World()
    world.shows(policy())
    world.expectations.expect(CART, created(12))
    world.expectations.expect(CART, deleted())
    for second in range(1, 20):
        asyncio.get_running_loop().call_later(second, world.shows, policy())

    assert await world.waited() == (False, PATIENCE)
    assert await world.waited() == (True, 0.0)


@virtual_time
async def test_what_no_cache_will_ever_see_is_not_waited_for() -> None:
    world = World(shop=10, web=5)
    world.expectations.expect(CART, created(99, "unwatched"))
    world.expectations.expect(CART, created(99, resource=UNWATCHED))
    world.expectations.expect(CART, Written(Delete(UNWATCHED, CART, "unwanted"), None))
    world.expectations.expect(CART, created(None))

    assert await world.waited() == (True, 0.0)


@virtual_time
async def test_what_was_deleted_and_made_anew_is_seen_with_its_new_version() -> None:
    world = World()
    world.shows(policy())
    world.expectations.expect(CART, Written(Delete(POLICIES, KEY, "unwanted"), None))
    world.expectations.expect(CART, Written(Create(POLICIES, policy(), "wanted"), 12))
    asyncio.get_running_loop().call_later(1, lambda: world.shows(policy(uid="2"), shop=12))

    assert await world.waited() == (True, 1.0)


@virtual_time
async def test_keys_without_a_next_turn_are_forgotten_once_their_writes_were_seen() -> None:
    expectations = World(shop=10, late=5).expectations

    for number in range(10 * MOST_IDLE):
        expectations.expect(ObjectKey("shop", str(number)), created(5))
    expectations.expect(ObjectKey("late", "k"), created(7, namespace="late"))

    assert len(expectations) <= MOST_IDLE
    assert expectations.awaits(ObjectKey("late", "k"))


@virtual_time
async def test_each_namespace_is_waited_for_by_itself() -> None:
    """A quiet namespace's cache stays at an old version for long, which says nothing about another one's."""
    world = World(shop=12, web=5)
    world.expectations.expect(CART, created(12, "shop"))

    assert await world.waited() == (True, 0.0)


@virtual_time
async def test_several_keys_wait_at_once_each_for_its_own() -> None:
    world = World()
    world.expectations.expect(CART, created(11))
    world.expectations.expect(OTHER, created(12))
    loop = asyncio.get_running_loop()
    loop.call_later(1, lambda: world.shows(shop=11))
    loop.call_later(2, lambda: world.shows(shop=12))

    first, second = await asyncio.gather(world.waited(), world.waited(OTHER))

    assert (first, second) == ((True, 1.0), (True, 2.0))


def overtaken(action: Action, shown: dict[str, Any] | None) -> bool:
    world = World()
    world.shows(*([shown] if shown else []))
    return world.expectations.overtaken(action)


SEEN, SEEN_LATER = policy(resourceVersion="7"), policy(resourceVersion="8")
KEY = ObjectKey("shop", "p")


@pytest.mark.parametrize(
    ("action", "unchanged", "changed"),
    [
        (created(None).action, None, SEEN),
        (MergePatch(POLICIES, KEY, {}, "edited", "7"), SEEN, SEEN_LATER),
        (Delete(POLICIES, KEY, "unwanted", "1", "7"), SEEN, SEEN_LATER),
        (Delete(POLICIES, KEY, "unwanted", "1", "7"), SEEN, None),
        (Update(POLICIES, SEEN, "edited"), SEEN, SEEN_LATER),
        (Update(POLICIES, SEEN_LATER, "edited"), SEEN, None),
    ],
    ids=[
        "it exists now",
        "it was edited since",
        "it was edited before it went",
        "it has gone",
        "it was edited since it was read",
        "it has gone since it was read, of which the cache had not yet seen that version",
    ],
)
def test_an_action_is_overtaken_once_a_cache_shows_another_version_than_it_was_planned_for(
    action: Action, unchanged: dict[str, Any] | None, changed: dict[str, Any] | None
) -> None:
    assert not overtaken(action, unchanged)
    assert overtaken(action, changed)


def test_a_cache_that_is_behind_what_a_decision_was_told_says_nothing() -> None:
    told = policy(resourceVersion="12")

    for shown in (None, SEEN, policy()):
        assert not overtaken(Update(POLICIES, told, "edited"), shown)


def test_what_is_asked_of_a_subresource_is_not_overtaken_by_the_object_that_it_is_asked_of() -> None:
    assert not overtaken(Create(POLICIES, SEEN, "due", subresource="token"), SEEN)


def test_what_names_no_version_or_is_not_watched_is_never_overtaken() -> None:
    for unconditional in (
        Update(POLICIES, policy(), "edited"),
        JsonPatch(POLICIES, KEY, [], "edited"),
    ):
        assert not overtaken(unconditional, SEEN)
    assert not overtaken(Delete(POLICIES, KEY, "unwanted", "1"), None)
    assert not overtaken(MergePatch(POLICIES, KEY, {}, "edited"), SEEN)
    assert not overtaken(created(None, resource=UNWATCHED).action, None)
