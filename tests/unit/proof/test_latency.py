"""A slow API server whose watches show a write before its answer arrives: no error, and nothing is written twice."""

import asyncio
from typing import Final

import pytest

from hedgerow.machinery.controller import Context, Watch
from hedgerow.machinery.objects import key_of
from hedgerow.machinery.plan import Plan, WriteResult
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.memory import Fault, Lost, requests
from hedgerow_adapters.runtime.executor import OVERDUE
from tests.unit.adapters.runtime.wishes import CONFIG_MAPS, SECRETS, WISH, create, names, nobody
from tests.unit.adapters.runtime.wishes import controller as wishing
from tests.unit.adapters.runtime.wishes import world as wish
from tests.unit.adapters.runtime.world import SERVICES, Ears, World, at_work, shops
from tests.unit.proof.network import Network
from tests.virtual_clock import run, virtual_time

MANY: Final = 100
"""Services, each of which asks for two policies."""


def at_latency(seconds: float, *faults: Fault) -> tuple[Ears, Network]:
    """All Services come, change and go, while the answers to writes are late or lost."""
    world, ears = World(*shops(MANY)), Ears()
    network = Network(world, latency=seconds)

    async def work() -> None:
        async with at_work(world, transport=network, observer=ears):
            await asyncio.sleep(600)
            assert world.pending() == []
            world.faults += faults
            for number, shop in enumerate(world.objects(SERVICES)):
                if number % 2:
                    world.delete(SERVICES, key_of(shop))
                else:
                    ports = [{"port": 80, "protocol": "TCP", "targetPort": 9090}]
                    world.patch(SERVICES, key_of(shop), {"spec": {"ports": ports}})
            await asyncio.sleep(600)

    run(work())
    assert world.pending() == []
    return ears, network


@pytest.mark.parametrize("seconds", [0.0, 0.3, 0.8, 1.0, 3.0, OVERDUE - 1, 2 * OVERDUE])
def test_answers_that_come_long_after_the_watch_event_are_no_errors(seconds: float) -> None:
    ears, network = at_latency(seconds)

    assert ears.troubles == []
    assert "error" not in {result for _, result in ears.results}
    assert len(network.writes) == 2 * MANY + MANY + 2 * MANY, "created, created with another port, deleted"


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("hangs", [True, False], ids=["until the time limit", "as the connection breaks"])
def test_answers_that_are_lost_after_the_write_was_stored_are_no_errors(method: str, *, hangs: bool) -> None:
    ears, network = at_latency(
        1.0, Fault(requests(method, "networkpolicies"), Lost(after_commit=True, hangs=hangs), None)
    )

    assert ears.troubles == []
    assert "error" not in {result for _, result in ears.results}
    assert "requeue" in {result for _, result in ears.results}
    assert len(network.writes) == 2 * MANY + MANY + 2 * MANY


@virtual_time
async def test_a_decision_that_goes_on_begins_anew_with_the_object_at_hand_where_the_answer_is_lost() -> None:
    cluster, ears = wish(), Ears()
    cluster.faults.append(Fault(requests("POST", "secrets"), Lost(after_commit=True, hangs=True)))

    told: list[WriteResult] = []

    async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
        if names(cluster):
            return Plan()
        told.append(await create("a"))
        return Plan((create("b"),))

    watches = tuple(
        Watch(resource, dict, enqueue=keys)
        for resource, keys in ((CONFIG_MAPS, lambda _manifest, _snapshot: (WISH,)), (SECRETS, nobody))
    )
    async with at_work(cluster, wishing(decide, watches=watches), observer=ears):
        await asyncio.sleep(60)

    assert ears.troubles == []
    assert [result for _, result in ears.results] == ["requeue", "success"]
    assert names(cluster) == ["a"]
    assert told == [], "the decision is told of no failure"
