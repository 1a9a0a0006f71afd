"""A connection that suddenly leads to another cluster."""

import asyncio
from collections.abc import Callable

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.memory import (
    BARE_NOT_FOUND,
    Answered,
    Fault,
    InMemoryCluster,
    Lost,
    MemoryTransport,
)
from hedgerow_adapters.memory import requests as matching
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.clusters import COMPARED_EVERY, AnotherClusterError, SameCluster
from tests.in_memory import of_another_cluster
from tests.virtual_clock import virtual_time

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
KEY = ObjectKey("default", "a")
KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
LIST = requests.list_page(CONFIG_MAPS)
CREATE = requests.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
OTHER = of_another_cluster("somebody-else")


class Way:
    """A connection to a cluster, which may be led to another."""

    def __init__(self) -> None:
        self.cluster = InMemoryCluster()
        self.forbidden: list[str] = []
        self.same = SameCluster(MemoryTransport(self.cluster), "target", on_forbidden=self.forbidden.append)

    async def begin(self) -> None:
        """The uid is known, and was not compared just now."""
        await self.same.send(LIST)
        await asyncio.sleep(10)

    async def ask(self, request: Request) -> Response:
        return await self.same.send(request)


async def opened(way: Way) -> None:
    watch = requests.watch(CONFIG_MAPS, resource_version="1", timeout_seconds=10)
    async with way.same.stream(watch, timeout=10):
        pass


@pytest.mark.parametrize(
    "evidence",
    [
        lambda way: way.ask(LIST),
        lambda way: way.ask(requests.get(CONFIG_MAPS, KEY)),
        opened,
    ],
    ids=["a list", "an absence", "a watch"],
)
@virtual_time
async def test_nothing_is_taken_for_evidence_that_another_cluster_shows(evidence: Callable[[Way], object]) -> None:
    way = Way()
    await way.begin()
    way.cluster.faults.append(OTHER)

    with pytest.raises(AnotherClusterError) as told:
        await evidence(way)  # type: ignore[misc]  # a coroutine

    assert "the target connection leads to another cluster: the uid of its namespace kube-system was " in str(
        told.value
    )
    assert str(told.value).endswith(" at the start, and is somebody-else now")


@virtual_time
async def test_nothing_more_is_written_once_another_cluster_was_found_and_the_process_is_told_within_a_minute() -> None:
    way = Way()
    running = asyncio.create_task(way.same.run())
    await asyncio.sleep(10)
    before = way.cluster.resource_version
    way.cluster.faults.append(OTHER)

    await asyncio.sleep(COMPARED_EVERY)

    with pytest.raises(AnotherClusterError):
        await running
    with pytest.raises(AnotherClusterError):
        await way.ask(CREATE)
    assert way.cluster.resource_version == before


@pytest.mark.parametrize(
    "fault",
    [
        BARE_NOT_FOUND,
        Answered(Response(503, None)),
        Answered(Response(200, "<html>")),
        Answered(Response(200, {"kind": "Status", "metadata": {"uid": "x"}})),
        Lost(),
        Lost(hangs=True),
    ],
    ids=["404", "away", "a page", "no Namespace", "lost", "silence"],
)
@virtual_time
async def test_an_answer_that_tells_no_uid_is_no_knowledge(fault: Answered | Lost) -> None:
    way = Way()
    await way.begin()
    way.cluster.faults.append(Fault(matching(path=KUBE_SYSTEM), fault, times=None))
    running = asyncio.create_task(way.same.run())

    await asyncio.sleep(10 * COMPARED_EVERY)

    assert not running.done()
    assert (await way.ask(LIST)).is_success
    assert (await way.ask(CREATE)).is_success
    running.cancel()


@virtual_time
async def test_who_may_not_read_the_uid_is_told_once_and_goes_on() -> None:
    way = Way()
    refused = Answered(Response(403, {"kind": "Status", "code": 403, "reason": "Forbidden"}))
    way.cluster.faults.append(Fault(matching(path=KUBE_SYSTEM), refused, times=None))

    for _ in range(3):
        await way.begin()

    assert way.forbidden == ["target"]
    assert (await way.ask(CREATE)).is_success


@virtual_time
async def test_a_uid_is_asked_for_once_a_second_at_most() -> None:
    way = Way()
    asked = 0

    def counts(request: Request) -> bool:
        nonlocal asked
        asked += request.path == KUBE_SYSTEM
        return False

    way.cluster.faults.append(Fault(counts, Lost(), times=None))

    for _ in range(100):
        await way.ask(LIST)
        await asyncio.sleep(0.1)

    assert 9 <= asked <= 11
