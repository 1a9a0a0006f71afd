"""A controller that reads one cluster and writes into another, or into the same one, on virtual time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.api.kubernetes import EVENTS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow_adapters.memory import Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.memory import requests as asking
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Stream
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.simulation.planning import settle
from tests.unit.adapters.runtime.mirrors import CONFIG_MAPS, MIRRORING, MIRRORS
from tests.unit.adapters.runtime.world import Ears, Wire, at_work
from tests.virtual_clock import virtual_time

A, GONE = ObjectKey("default", "a"), ObjectKey("default", "gone")
OF_NOTHING = {"metadata": {"name": "default-gone", "annotations": {"origin": str(GONE)}}}
"""A mirror of what does not exist any more."""


class Site:
    """Two clusters, or one that is both."""

    def __init__(self, *, are_one: bool = False) -> None:
        self.target = InMemoryCluster(namespaces=("default", MIRRORS))
        self.source = self.target if are_one else InMemoryCluster(namespaces=("default", "hidden"))
        self.to_target, self.to_source = Wire(MemoryTransport(self.target)), Wire(MemoryTransport(self.source))
        self.ears = Ears()

    def give(self, name: str, value: str = "1", namespace: str = "default") -> None:
        """Put something into the source that is to be mirrored."""
        manifest = {"metadata": {"name": name, "labels": {"mirror": "yes"}}, "data": {"value": value}}
        assert self.source.handle(requests.create(CONFIG_MAPS, manifest, namespace)).is_success

    def change(self, value: str) -> None:
        assert self.source.handle(requests.merge_patch(CONFIG_MAPS, A, {"data": {"value": value}})).is_success

    @property
    def mirrors(self) -> dict[str, str]:
        """What the mirrors are called and say."""
        return {key_of(each).name: each["data"]["value"] for each in self.target.objects(CONFIG_MAPS, MIRRORS)}

    @asynccontextmanager
    async def at_work(self, **source: Any) -> AsyncIterator[ControllerRunner]:
        """The controller at work, for a moment at least."""
        access = None if self.source is self.target else Access(self.to_source, **source)
        work = at_work(self.target, MIRRORING, transport=self.to_target, source=access, observer=self.ears)
        async with work as runner:
            await asyncio.sleep(1)
            yield runner


class Late(MemoryTransport):
    """Shows changes only after two seconds."""

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:
        async with super().stream(request, timeout=timeout) as stream:
            yield replace(stream, events=_late(stream.events))


async def _late(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for event in events:
        await asyncio.sleep(2)
        yield event


def lists_of(wire: Wire, resource: str = "configmaps") -> list[str]:
    return [request.path for request in wire.asked if resource in request.path and "limit" in request.query]


@pytest.mark.parametrize("are_one", [False, True], ids=["two clusters", "one cluster"])
@virtual_time
async def test_what_is_read_in_one_cluster_is_written_into_the_other(*, are_one: bool) -> None:
    site = Site(are_one=are_one)
    site.give("a")
    async with site.at_work():
        assert site.mirrors == {"default-a": "1"}
        site.change("2")
        await asyncio.sleep(1)
        assert site.mirrors == {"default-a": "2"}
        assert site.source.handle(requests.delete(CONFIG_MAPS, A)).is_success
        await asyncio.sleep(1)
        assert site.mirrors == {}

    assert site.ears.troubles == []
    assert [event["regarding"]["name"] for event in site.source.objects(EVENTS)] == ["a"]
    assert are_one or site.to_source.writes == len(site.target.objects(EVENTS)) == 0


@virtual_time
async def test_objects_of_one_name_in_both_clusters_are_told_apart() -> None:
    site = Site()
    site.give("a")
    theirs = {"metadata": {"name": "a"}, "data": {"value": "theirs"}}
    assert site.target.handle(requests.create(CONFIG_MAPS, theirs, "default")).is_success

    async with site.at_work() as runner:
        seen = [runner.snapshot.get(CONFIG_MAPS, A, cluster) for cluster in (Cluster.SOURCE, Cluster.TARGET)]

    assert [manifest and manifest["data"]["value"] for manifest in seen] == ["1", "theirs"]
    assert site.mirrors == {"default-a": "1"}


@pytest.mark.parametrize(("are_one", "expected"), [(True, 1), (False, 2)], ids=["one cluster", "two clusters"])
@virtual_time
async def test_both_roles_of_one_cluster_share_what_is_read(*, are_one: bool, expected: int) -> None:
    site = Site(are_one=are_one)

    async with site.at_work():
        pass

    assert len(lists_of(site.to_target) + lists_of(site.to_source)) == expected


@virtual_time
async def test_a_restriction_is_that_of_its_cluster_alone() -> None:
    site = Site()
    site.give("a")
    site.give("b", namespace="hidden")

    async with site.at_work(namespaces=("default",)):
        pass

    assert site.mirrors == {"default-a": "1"}
    assert lists_of(site.to_source) == ["/api/v1/namespaces/default/configmaps"]
    assert lists_of(site.to_target) == ["/api/v1/configmaps"]


@virtual_time
async def test_a_cluster_is_looked_through_again_when_its_own_period_is_over() -> None:
    site = Site()
    assert site.source.handle(requests.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")).is_success
    assert site.target.handle(requests.create(CONFIG_MAPS, OF_NOTHING, MIRRORS)).is_success
    async with site.at_work(resync_period=600.0):
        assert {key for key, _ in site.ears.results} == {A, GONE}
        site.ears.results.clear()
        await asyncio.sleep(3600)

    assert site.ears.results == [(A, "success")] * 6


@virtual_time
async def test_each_cluster_is_complete_for_itself_and_work_begins_with_both() -> None:
    site = Site()
    site.give("a")
    site.source.faults.append(Fault(asking("GET"), Lost(), times=None))
    async with site.at_work() as runner:
        assert [runner.view.is_complete(cluster) for cluster in (Cluster.SOURCE, Cluster.TARGET)] == [False, True]
        assert site.mirrors == {}
        site.source.faults.clear()
        await asyncio.sleep(60)
        assert [runner.view.is_complete(cluster) for cluster in Cluster] == [True, True]

    assert site.mirrors == {"default-a": "1"}


@virtual_time
async def test_a_write_into_one_cluster_is_waited_for_in_its_own_cache() -> None:
    """The versions of the source are far ahead of those of the target: they say nothing about it."""
    site = Site()
    site.give("a")
    for value in range(100):
        site.change(str(value))
    site.to_target = Wire(Late(site.target))
    async with site.at_work():
        site.change("end")
        await asyncio.sleep(10)

    assert site.mirrors == {"default-a": "end"}
    assert (site.to_target.writes, site.ears.troubles) == (2, [])


@pytest.mark.parametrize("are_one", [False, True], ids=["two clusters", "one cluster"])
def test_a_simulation_settles_in_both_clusters(*, are_one: bool) -> None:
    site = Site(are_one=are_one)
    site.give("a")

    settlement = settle(site.target, [MIRRORING], source=None if are_one else site.source)

    assert not settlement.unrest
    assert site.mirrors == {"default-a": "1"}
    assert len(settlement.steps) == 1
