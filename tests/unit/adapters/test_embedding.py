"""Any controllers at work in memory, as their authors run them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from typing_extensions import override

from hedgerow.api.kubernetes import CONFIG_MAPS, LEASES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.machinery import (
    Context,
    Controller,
    Create,
    Event,
    Now,
    ObjectKey,
    Plan,
    Resource,
    Snapshot,
    Update,
    Watch,
    key_of,
    own_key,
)
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.embedding import planned, run, simulated
from hedgerow_adapters.leader_election.elector import LeaderElector, LeadershipLostError
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.simulation.simulation import RestlessError
from hedgerow_adapters.telemetry.logs import configure_logs
from tests.virtual_clock import virtual_time, wall_clock

POLICIES = network_policy_controller(NetworkPolicyConfig())
CART: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "cart", "namespace": "shop"},
    "spec": {"selector": {"app": "cart"}, "ports": [{"port": 80, "targetPort": 8080}]},
}
NAMES = ["egress-to-cart-tcp-8080", "ingress-to-cart-tcp-8080"]


async def _noted(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
    """Note in a ConfigMap when a Service was looked at last, every hour."""
    now, noted = await Now(), snapshot.get(CONFIG_MAPS, key)
    data = {"data": {"at": now.isoformat()}}
    if noted is None:
        await Create(CONFIG_MAPS, {"metadata": {"namespace": key.namespace, "name": key.name}, **data}, "new")
    elif (now - datetime.fromisoformat(noted["data"]["at"])) >= timedelta(hours=1):
        return Plan((Update(CONFIG_MAPS, {**noted, **data}, "late"),), requeue_after=3600)
    return Plan(requeue_after=3600)


NOTES = Controller(
    name="notes",
    primary=SERVICES,
    watches=tuple(Watch(resource, lambda manifest: manifest, own_key) for resource in (SERVICES, CONFIG_MAPS)),
    concurrency=1,
    config=None,
    reconcile=_noted,
)


def test_a_plan_names_the_keys_for_which_there_is_something_to_do() -> None:
    other = {**CART, "metadata": {"name": "external", "namespace": "shop"}, "spec": {}}
    other["spec"] = {"type": "ExternalName", "externalName": "example.org"}

    [(key, plan)] = planned(POLICIES, [CART, other]).unwrap().items()

    assert key == ObjectKey("shop", "cart")
    assert [(type(step.action), step.action.key.name) for step in plan.steps] == [(Create, name) for name in NAMES]
    assert plan.failures == ()


def test_a_plan_tells_what_cannot_be_planned() -> None:
    annotations = {"networking.resources.gardener.cloud/from-world-to-ports": "x"}
    unreadable = {**CART, "metadata": {**CART["metadata"], "annotations": annotations}}

    [plan] = planned(POLICIES, [unreadable]).unwrap().values()

    assert [failure.problem.path for failure in plan.failures] == [f"metadata.annotations[{next(iter(annotations))}]"]


def test_a_controller_may_write_objects_of_kinds_of_its_own() -> None:
    quotas = Resource("example.org", "v1", "quotae", "Quota")
    metadata = {"namespace": "shop", "name": "cart"}

    def with_quota(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        is_there = snapshot.get(quotas, key) is not None
        return Plan() if is_there else Plan((Create(quotas, {"metadata": metadata}, "missing"),))

    watches = tuple(Watch(resource, lambda manifest: manifest, own_key) for resource in (SERVICES, quotas))
    settled = simulated([replace(NOTES, watches=watches, reconcile=with_quota)], [CART]).unwrap()

    assert [str(key_of(each)) for each in settled.objects(quotas)] == ["shop/cart"]
    assert settled.failing == ()


def test_what_has_settled_is_planned_no_more() -> None:
    settled = simulated([POLICIES], [CART]).unwrap()

    found = settled.objects(NETWORK_POLICIES, "shop")

    assert [key_of(each).name for each in found] == NAMES
    assert planned(POLICIES, [CART, *found]).unwrap() == {}
    assert settled.failing == ()


def test_time_passes_as_long_as_it_is_told_to() -> None:
    began = datetime(2026, 2, 1, tzinfo=UTC)

    settled = simulated([NOTES], [CART], lasting=timedelta(hours=2, minutes=30), now=began).unwrap()

    assert [str(turn.at - began) for turn in settled.happenings] == ["0:00:00", "1:00:00", "2:00:00"]
    [note] = [each for each in settled.objects(CONFIG_MAPS) if key_of(each).name == "cart"]
    assert note["data"]["at"] == "2026-02-01T02:00:00+00:00"


def test_what_no_server_would_store_is_told_by_its_number() -> None:
    unnamed: dict[str, Any] = {"apiVersion": "v1", "kind": "Service"}
    unfit = {**CART, "spec": {"ports": [{"port": 70_000, "targetPort": 80}]}}

    assert [str(each) for each in planned(POLICIES, [CART, unnamed]).failure()] == [
        "manifest:2: a Service without a name"
    ]
    [problem] = simulated([POLICIES], [unfit]).failure()
    assert str(problem).startswith('manifest:1: Service "cart" is invalid: spec.ports[0].port: Invalid value: 70000')


def test_controllers_that_never_come_to_rest_are_an_error() -> None:
    def rewrite(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        live = snapshot.get(CONFIG_MAPS, key)
        count = int((live or {}).get("data", {}).get("n", 0))
        return Plan((Update(CONFIG_MAPS, {**live, "data": {"n": str(count + 1)}}, "again"),)) if live else Plan()

    restless = replace(NOTES, primary=CONFIG_MAPS, reconcile=rewrite)
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}}

    with pytest.raises(RestlessError, match="notes did not come to rest about"):
        simulated([restless], [config_map])


def create(cluster: InMemoryCluster, resource: Resource, manifest: dict[str, Any]) -> None:
    assert cluster.handle(requests.create(resource, manifest, key_of(manifest).namespace)).is_success


@virtual_time
async def test_controllers_run_until_they_are_cancelled() -> None:
    cluster = InMemoryCluster(now=wall_clock)
    create(cluster, NAMESPACES, {"metadata": {"name": "shop"}})
    running = asyncio.create_task(run([POLICIES], MemoryTransport(cluster)))
    await asyncio.sleep(5)
    create(cluster, SERVICES, CART)

    await asyncio.sleep(5)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert [key_of(each).name for each in cluster.objects(NETWORK_POLICIES)] == NAMES


@virtual_time
async def test_only_who_holds_the_lease_writes() -> None:
    cluster = InMemoryCluster(now=wall_clock)
    transport, lease = MemoryTransport(cluster), ObjectKey("default", "policies")
    create(cluster, NAMESPACES, {"metadata": {"name": "shop"}})
    holder = LeaderElector(transport, lease, "holder", wall_clock=wall_clock)
    holding = asyncio.create_task(holder.run())
    await holder.wait_until_leading()
    elector = LeaderElector(transport, lease, "ours", wall_clock=wall_clock)
    running = asyncio.create_task(run([POLICIES], transport, elector=elector))
    create(cluster, SERVICES, CART)

    await asyncio.sleep(60)
    before = len(cluster.objects(NETWORK_POLICIES))
    holding.cancel()
    await asyncio.sleep(60)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert (before, len(cluster.objects(NETWORK_POLICIES))) == (0, 2)


LEASE = ObjectKey("default", "notes")


class Slow(MemoryTransport):
    """Writes of ConfigMaps take three seconds."""

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        if request.method != "GET" and "/configmaps" in request.path:
            await asyncio.sleep(3)
        return await super().send(request, timeout=timeout, may_send=may_send)


def with_cart() -> InMemoryCluster:
    cluster = InMemoryCluster(now=wall_clock)
    create(cluster, NAMESPACES, {"metadata": {"name": "shop"}})
    create(cluster, SERVICES, CART)
    return cluster


def our_elector(cluster: InMemoryCluster) -> LeaderElector:
    return LeaderElector(MemoryTransport(cluster), LEASE, "ours", wall_clock=wall_clock)


async def _crash(_key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
    raise ZeroDivisionError("of the cart")


async def crashing_for_a_second(observer: Callable[[Controller[Any]], ControllerObserver] | None = None) -> None:
    crashing = replace(NOTES, reconcile=_crash)
    running = asyncio.create_task(run([crashing], MemoryTransport(with_cart()), observer=observer))
    await asyncio.sleep(1)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


@virtual_time
async def test_defects_are_logged_unless_somebody_else_observes() -> None:
    lines, crashes = StringIO(), list[str]()
    configure_logs("error", "json", lines)

    class Observer(ControllerObserver):
        @override
        def raised(self, key: ObjectKey, error: Exception) -> None:
            crashes.append(f"{key}: {error}")

    await crashing_for_a_second()
    logged = lines.getvalue()
    await crashing_for_a_second(lambda _controller: Observer())

    assert "ZeroDivisionError: of the cart" in logged
    assert set(crashes) == {"shop/cart: of the cart"}
    assert lines.getvalue() == logged


@virtual_time
async def test_events_that_are_refused_are_logged() -> None:
    async def tell(key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
        return Plan(events=(Event(SERVICES, key, None, "Normal", "Told", "something"),))

    cluster, lines = with_cart(), StringIO()
    denial = {"kind": "Status", "reason": "Forbidden", "message": "no events here"}
    cluster.faults.append(Fault(lambda request: "/events" in request.path, Answered(Response(403, denial)), None))
    configure_logs("info", "json", lines)

    running = asyncio.create_task(run([replace(NOTES, reconcile=tell)], MemoryTransport(cluster)))
    await asyncio.sleep(1)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert '"msg":"Event was not recorded","logger":"notes"' in lines.getvalue()


@virtual_time
async def test_who_is_cancelled_ends_its_turns_and_gives_the_lease_back() -> None:
    cluster = with_cart()
    running = asyncio.create_task(run([NOTES], Slow(cluster), elector=our_elector(cluster)))
    await asyncio.sleep(1)
    before = cluster.objects(CONFIG_MAPS)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert before == []
    assert [key_of(each).name for each in cluster.objects(CONFIG_MAPS)] == ["cart"]
    [lease] = cluster.objects(LEASES)
    assert not lease["spec"].get("holderIdentity")


@pytest.mark.parametrize("leads", [True, False], ids=["while it leads", "before it leads"])
@virtual_time
async def test_controllers_end_when_the_election_does(*, leads: bool) -> None:
    cluster = with_cart()
    elector = our_elector(cluster)
    other = LeaderElector(MemoryTransport(cluster), LEASE, "other", wall_clock=wall_clock)
    holding = asyncio.create_task(asyncio.sleep(0) if leads else other.run())
    await asyncio.sleep(1)
    running = asyncio.create_task(run([NOTES], MemoryTransport(cluster), elector=elector))
    await asyncio.sleep(5)
    is_leader = elector.may_write()

    await elector.release()
    async with asyncio.timeout(30):
        await running

    assert is_leader is leads
    assert len(cluster.objects(CONFIG_MAPS)) == leads
    holding.cancel()


@virtual_time
async def test_who_loses_the_lease_says_so() -> None:
    cluster = with_cart()
    running = asyncio.create_task(run([NOTES], MemoryTransport(cluster), elector=our_elector(cluster)))
    await asyncio.sleep(5)
    cluster.faults.append(Fault(lambda request: "/leases" in request.path, Lost(), None))

    async with asyncio.timeout(60):
        with pytest.RaisesGroup(pytest.RaisesExc(LeadershipLostError, match="lost the lease default/notes")):
            await running
