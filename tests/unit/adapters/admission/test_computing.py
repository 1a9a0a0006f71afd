"""Where reviews are computed."""

import asyncio
import json
import threading
from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Webhook
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.admission.exchange import LONG, Exchange
from hedgerow_adapters.admission.reviewer import AdmissionObserver, BesideLoop, Reviewer
from hedgerow_adapters.cache import StoreSnapshot

SHOP = ObjectKey("", "shop")


class Caches(StoreSnapshot):
    """Notes on which threads it is read."""

    def __init__(self) -> None:
        super().__init__({}, {})
        self.threads: set[int] = set()

    @property
    def snapshot(self) -> Snapshot:
        return self

    async def completed(self) -> None:
        return

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        self.threads.add(threading.get_ident())
        return super().get(resource, key, cluster)


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("is_long", [False, True], ids=["short", "long"])
async def test_only_long_reviews_leave_the_event_loop_and_caches_are_read_on_it(
    *, is_async: bool, is_long: bool
) -> None:
    computed_on: list[int] = []

    def decide(_request: AdmissionRequest, snapshot: Snapshot) -> Decision:
        computed_on.append(threading.get_ident())
        assert snapshot.get(NAMESPACES, SHOP) is None
        assert snapshot.list(NAMESPACES) == snapshot.list(NAMESPACES, namespace="")
        assert not snapshot.has_synced(NAMESPACES)
        return Allowed()

    async def decide_later(request: AdmissionRequest, snapshot: Snapshot) -> Decision:
        return decide(request, snapshot)

    caches, observer = Caches(), AdmissionObserver()
    webhook = Webhook("any", "/any", decide_later if is_async else decide)
    exchange = Exchange(Reviewer([webhook], lambda _webhook: caches, _nothing, observer), observer)
    body = json.dumps({"request": {"uid": "1", "object": ["x"] * (LONG // 64 if is_long else 1)}}).encode()

    answer = json.loads(await exchange.answer("/any", "", "application/json", body))

    assert answer["response"]["allowed"]
    assert (computed_on != [threading.get_ident()]) is is_long
    assert caches.threads == {threading.get_ident()}


async def test_a_cancelled_computation_ends_before_its_request_does() -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def compute() -> None:
        may_end.wait()
        has_ended.set()

    computing = asyncio.create_task(BesideLoop().run(compute))
    await asyncio.sleep(0)
    computing.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not computing.done()

    may_end.set()

    with pytest.raises(asyncio.CancelledError):
        await computing
    assert has_ended.is_set()


async def test_a_cancelled_computation_that_has_not_begun_is_given_up_at_once() -> None:
    may_end, began = threading.Event(), list[str]()
    beside_loop = BesideLoop()
    first = asyncio.create_task(beside_loop.run(may_end.wait))
    second = asyncio.create_task(beside_loop.run(lambda: began.append("second")))
    await asyncio.sleep(0)

    second.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    is_given_up = second.cancelled()

    may_end.set()
    await first
    await beside_loop.run(lambda: began.append("third"))
    assert is_given_up
    assert began == ["third"]


async def test_what_has_not_begun_is_given_up_when_the_thread_is_closed() -> None:
    may_end, began = threading.Event(), list[str]()
    beside_loop = BesideLoop()
    first = asyncio.create_task(beside_loop.run(may_end.wait))
    second = asyncio.create_task(beside_loop.run(lambda: began.append("second")))
    await asyncio.sleep(0)

    beside_loop.close()
    may_end.set()

    assert await first
    with pytest.raises(asyncio.CancelledError):
        await second
    assert began == []


def _nothing(*_asked: object) -> Any:
    raise AssertionError("nothing is to be asked")
