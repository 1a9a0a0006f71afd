"""A controller that is given another configuration while it runs, on virtual time."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from hedgerow.api.kubernetes import NAMESPACES, NETWORK_POLICIES
from hedgerow.machinery.controller import Change, Context, Controller
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.plan import Create, Delete, MergePatch, Plan
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.operator.namespace_network_policies import (
    NamespacePolicyConfig,
    RuntimeNetworks,
    namespace_network_policy_controller,
)
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.runner import ControllerRunner
from tests.unit.adapters.runtime import wishes
from tests.unit.adapters.runtime.world import Ears, Wire, World, at_work, shops
from tests.virtual_clock import virtual_time

EXTENSIONS = [f"extension-{number}" for number in range(12)]
BLOCKED_CIDRS = ObjectKey("extension-0", "allow-to-blocked-cidrs")


def blocking(*cidrs: str) -> NamespacePolicyConfig:
    return NamespacePolicyConfig(RuntimeNetworks("10.0.0.0/16", "10.1.0.0/16", None, cidrs))


def runtime_cluster(extensions: Sequence[str] = EXTENSIONS) -> InMemoryCluster:
    """Extensions' namespaces, and where the API server is."""
    cluster = InMemoryCluster()
    for name in extensions:
        labels = {"gardener.cloud/role": "extension"}
        cluster.handle(requests.create(NAMESPACES, {"metadata": {"name": name, "labels": labels}}))
    subsets = [{"addresses": [{"ip": "10.2.0.5"}], "ports": [{"port": 443, "protocol": "TCP"}]}]
    endpoints = {"metadata": {"name": "kubernetes"}, "subsets": subsets}
    watch = namespace_network_policy_controller(blocking()).watches[1]
    cluster.handle(requests.create(watch.resource, endpoints, "default"))
    return cluster


def blocked(cluster: InMemoryCluster) -> dict[str, list[str]]:
    """What each namespace says is blocked."""
    return {
        policy["metadata"]["namespace"]: [rule["to"][0]["ipBlock"]["cidr"] for rule in policy["spec"].get("egress", [])]
        for policy in cluster.objects(NETWORK_POLICIES)
        if policy["metadata"]["name"] == BLOCKED_CIDRS.name
    }


def everywhere(cidr: str, extensions: Sequence[str] = EXTENSIONS) -> dict[str, list[str]]:
    """What is blocked where all namespaces say the same."""
    return {name: [cidr] for name in extensions}


@virtual_time
async def test_every_key_is_decided_about_by_the_new_configuration() -> None:
    cluster, ears = runtime_cluster(), Ears()

    async with at_work(cluster, namespace_network_policy_controller(blocking("1.1.1.1/32")), observer=ears) as runner:
        await asyncio.sleep(10)
        assert blocked(cluster) == everywhere("1.1.1.1/32")
        ears.results.clear()

        runner.reconfigure(blocking("2.2.2.2/32"))
        await asyncio.sleep(10)

    assert blocked(cluster) == everywhere("2.2.2.2/32")
    assert {key.name for key, _ in ears.results} >= {*EXTENSIONS, "default", "kube-system"}
    assert ears.troubles == []


@virtual_time
async def test_only_keys_that_the_configuration_concerns_are_looked_at_again() -> None:
    cluster, ears = runtime_cluster(), Ears()

    async with at_work(cluster, namespace_network_policy_controller(blocking()), observer=ears) as runner:
        await asyncio.sleep(10)
        ears.results.clear()
        runner.reconfigure(blocking("2.2.2.2/32"), concerned=lambda key: key.name == "extension-3")
        await asyncio.sleep(10)

    assert {key.name for key, _ in ears.results} == {"extension-3"}
    assert [name for name, cidrs in blocked(cluster).items() if cidrs] == ["extension-3"]


@virtual_time
async def test_a_turn_that_is_under_way_ends_by_its_own_configuration_and_is_followed_by_one_more() -> None:
    cluster, ears = runtime_cluster(), Ears()
    runners: list[ControllerRunner] = []

    async def reconfigured_in_mid_write(number: int) -> None:
        if number == 1:
            runners[0].reconfigure(blocking("2.2.2.2/32"))
        await asyncio.sleep(1)

    wire = Wire(MemoryTransport(cluster), before_write=reconfigured_in_mid_write)
    controller = namespace_network_policy_controller(blocking("1.1.1.1/32"), concurrency=1)
    async with at_work(cluster, controller, transport=wire, observer=ears) as runner:
        runners.append(runner)
        await asyncio.sleep(120)

    by_the_first = [
        action.key
        for action in ears.actions
        if isinstance(action, Create) and "1.1.1.1/32" in str(action.manifest["spec"].get("egress"))
    ]
    corrected = [action.key for action in ears.actions if isinstance(action, MergePatch)]
    assert 0 < len(by_the_first) < len(EXTENSIONS)
    assert sorted(corrected) == sorted(by_the_first)
    assert blocked(cluster) == everywhere("2.2.2.2/32")


@virtual_time
async def test_what_has_not_started_starts_with_the_new_configuration() -> None:
    cluster, ears = runtime_cluster(), Ears()
    controller = namespace_network_policy_controller(blocking("1.1.1.1/32"))

    async with at_work(cluster, controller, observer=ears, start=False) as runner:
        runner.reconfigure(blocking("2.2.2.2/32"))
        await asyncio.sleep(10)
        assert ears.results == []
        runner.start()
        await asyncio.sleep(10)

    assert blocked(cluster) == everywhere("2.2.2.2/32")
    assert not any(isinstance(action, MergePatch) for action in ears.actions)


@virtual_time
async def test_a_key_that_failed_by_the_last_configuration_does_not_wait_for_its_next_attempt() -> None:
    cluster, ears = runtime_cluster(), Ears()

    async with at_work(cluster, namespace_network_policy_controller(blocking("bad")), observer=ears) as runner:
        await asyncio.sleep(10)
        assert {failure.key.name for failure in ears.failures} >= {BLOCKED_CIDRS.name}
        assert blocked(cluster) == {}

        runner.reconfigure(blocking("2.2.2.2/32"))
        await asyncio.sleep(10)

    assert blocked(cluster) == everywhere("2.2.2.2/32")


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from([0.0, 0.3, 2.0]), min_size=1, max_size=7),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(EXTENSIONS[:2])), max_size=4),
)
@virtual_time
async def test_no_key_is_lost_whenever_the_configuration_changes(
    moments: Sequence[int], delays: Sequence[float], edits: Sequence[tuple[int, str]]
) -> None:
    cluster = runtime_cluster(EXTENSIONS[:2])
    loop = asyncio.get_running_loop()

    async def late(number: int) -> None:
        await asyncio.sleep(delays[number % len(delays)])

    def edit(name: str) -> None:
        key = ObjectKey(name, BLOCKED_CIDRS.name)
        cluster.handle(requests.merge_patch(NETWORK_POLICIES, key, {"spec": {"egress": [{}]}}))

    wire = Wire(MemoryTransport(cluster), before_write=late, after_write=late)
    async with at_work(cluster, namespace_network_policy_controller(blocking()), transport=wire) as runner:
        for order, moment in enumerate(sorted(moments), start=1):
            loop.call_at(moment, runner.reconfigure, blocking(f"{order}.0.0.0/8"))
        for moment, name in edits:
            loop.call_at(moment, edit, name)
        await asyncio.sleep(150)

    assert blocked(cluster) == everywhere(f"{len(moments)}.0.0.0/8", EXTENSIONS[:2])


@virtual_time
async def test_what_turns_have_left_for_later_ones_counts_for_nothing_after_that() -> None:
    cluster, told, runners = wishes.world(), list[tuple[Any, Any]](), list[ControllerRunner]()

    def decide(_snapshot: Snapshot, context: Context[Any]) -> Plan:
        told.append((context.config, context.state))
        if len(told) == 2:
            runners[0].reconfigure("new")
        return Plan(state=f"left by {context.config}")

    controller: Controller[Any] = wishes.controller(decide, config="old")
    async with at_work(cluster, controller) as runner:
        runners.append(runner)
        await asyncio.sleep(2)
        wishes.touch(cluster, "once")
        await asyncio.sleep(2)
        wishes.touch(cluster, "twice")
        await asyncio.sleep(2)
        runner.reconfigure("newest")
        await asyncio.sleep(2)

    assert told == [
        ("old", None),
        ("old", "left by old"),
        ("new", None),
        ("new", "left by new"),
        ("newest", None),
    ]


NOBODY = NetworkPolicyConfig((LabelSelector((("handled", "yes"),)),))


@virtual_time
async def test_a_configuration_by_which_almost_everything_would_go_is_stopped_until_it_is_taken_back() -> None:
    world, ears = World(*shops(15)), Ears()

    async with at_work(world, observer=ears) as runner:
        await asyncio.sleep(60)
        policies = world.policies
        runner.reconfigure(NOBODY)
        await asyncio.sleep(2)
        assert world.policies == policies
        assert len(ears.held) == 15
        ears.held.clear()

        runner.reconfigure(NetworkPolicyConfig())
        await asyncio.sleep(300)

    assert world.policies == policies
    assert ears.held == []
    assert {note.partition(";")[0] for _, _, note in world.recorded} == {
        "deletions are held back: 30 of 30 owned objects would be deleted"
    }


class SlowLists(Wire):
    """Takes a second for everything that is asked."""

    @override
    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        await asyncio.sleep(1 if request.method == "GET" else 0)
        return await super().send(request, timeout=timeout, may_send=may_send)


@virtual_time
async def test_a_configuration_that_is_taken_back_while_its_deletions_are_judged_deletes_nothing() -> None:
    world, ears = World(*shops(15)), Ears()

    async with at_work(world, observer=ears, transport=SlowLists(MemoryTransport(world))) as runner:
        await asyncio.sleep(60)
        policies = world.policies
        runner.reconfigure(NOBODY)
        await asyncio.sleep(0.5)
        runner.reconfigure(NetworkPolicyConfig())
        await asyncio.sleep(300)

    assert world.policies == policies
    assert not any(isinstance(action, Delete) for action in ears.actions)


class Opponent:
    """Somebody who opens a policy to everything, a second after each time that it is corrected."""

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        cluster.subscribe(NETWORK_POLICIES, self._see)

    def _see(self, change: Change) -> None:
        if change.new is not None and key_of(change.new) == BLOCKED_CIDRS and change.new["spec"]["egress"] != [{}]:
            opening = requests.merge_patch(NETWORK_POLICIES, BLOCKED_CIDRS, {"spec": {"egress": [{}]}})
            asyncio.get_running_loop().call_later(1, self._cluster.handle, opening)


@virtual_time
async def test_a_key_that_waits_because_of_a_fight_does_not_let_the_new_configuration_wait() -> None:
    cluster, ears = runtime_cluster(), Ears()
    Opponent(cluster)

    async with at_work(cluster, namespace_network_policy_controller(blocking("1.1.1.1/32")), observer=ears) as runner:
        await asyncio.sleep(3600)
        assert ears.slowed_keys == 1
        runner.reconfigure(blocking("2.2.2.2/32"))
        await asyncio.sleep(0.5)

    assert blocked(cluster) == everywhere("2.2.2.2/32")


@virtual_time
async def test_a_turn_by_the_last_configuration_that_ends_in_a_fight_is_followed_at_once_as_well() -> None:
    cluster, ears, runners = runtime_cluster(), Ears(), list[ControllerRunner]()
    Opponent(cluster)

    async def reconfigured_in_the_first_fight(_number: int) -> None:
        corrections = [action for action in ears.actions if isinstance(action, MergePatch)]
        if len(corrections) == 4:
            runners[0].reconfigure(blocking("2.2.2.2/32"))

    wire = Wire(MemoryTransport(cluster), before_write=reconfigured_in_the_first_fight)
    controller = namespace_network_policy_controller(blocking("1.1.1.1/32"))
    async with at_work(cluster, controller, transport=wire, observer=ears) as runner:
        runners.append(runner)
        await asyncio.sleep(20)

    corrections = [action for action in ears.actions if isinstance(action, MergePatch) and action.key == BLOCKED_CIDRS]
    _, conflict, _ = ears.conflicts[0]
    assert conflict.action == corrections[4]
    assert ["2.2.2.2/32" in str(action.patch) for action in corrections[:6]] == [False] * 5 + [True]
