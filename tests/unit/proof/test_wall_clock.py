"""Somebody sets the clock."""

import asyncio
import sys
from datetime import timedelta
from itertools import pairwise

import pytest

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.leader_election.elector import ElectionEvent, EventKind, LeaderElector
from tests.unit.adapters.runtime.world import PODS_OF_WEB, Ears, World, at_work, shops
from tests.unit.proof.network import Network
from tests.virtual_clock import virtual_time, wall_clock

LEASE = ObjectKey("default", "hedgerow")
JUMPS = (timedelta(), timedelta(hours=1), timedelta(), timedelta(hours=-1), timedelta(hours=1))
"""By how much the clock is wrong, one after the other."""


class Clock:
    """The clock of a machine, which is wrong by so much."""

    def __init__(self) -> None:
        self.wrong_by = timedelta()

    def now(self) -> object:
        return wall_clock() + self.wrong_by


@virtual_time
async def test_a_wall_clock_that_jumps_by_an_hour_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, events = Clock(), list[ElectionEvent]()
    readers = [module for module in list(sys.modules.values()) if vars(module).get("utc_now") is utc_now]
    assert len(readers) > 3
    for module in readers:
        monkeypatch.setattr(module, "utc_now", clock.now)
    world, ears = World(*shops(10, PODS_OF_WEB)), Ears()
    network, leases = Network(world), Network(world)
    leader, follower = (
        LeaderElector(leases, LEASE, name, wall_clock=clock.now, on_event=events.append)  # type: ignore[arg-type] # ours
        for name in ("leader", "follower")
    )
    elections = [asyncio.create_task(leader.run())]
    assert await leader.wait_until_leading()
    elections.append(asyncio.create_task(follower.run()))
    async with at_work(world, transport=network, observer=ears, may_write=leader.may_write):
        await asyncio.sleep(60)
        assert world.pending() == []
        written, listed, results = len(network.writes), network.lists, len(ears.results)
        for before, after in pairwise(JUMPS):
            clock.wrong_by = after
            for _ in range(600):
                await asyncio.sleep(0.1)
                assert leader.may_write(), (before, after)
                assert not follower.may_write()
    for task in elections:
        task.cancel()

    assert (len(network.writes), network.lists, len(ears.results)) == (written, listed, results)
    assert ears.troubles == []
    assert {event.kind for event in events} == {EventKind.LEADING, EventKind.NEW_LEADER}
