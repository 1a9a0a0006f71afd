"""Informers against the in-memory cluster and against servers that misbehave, on virtual time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.machinery.controller import Watch
from hedgerow.machinery.objects import key_of
from hedgerow_adapters.informer.machine import Delivery, Gather, Put, Remove, Replace
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport, requests
from hedgerow_adapters.protocol.requests import METADATA, METADATA_LIST
from hedgerow_adapters.protocol.transport import Response, TransportError
from tests.comparisons import is_comparison
from tests.unit.adapters.informer.servers import (
    CONFIG_MAPS,
    GONE,
    WATCH,
    Flow,
    Listener,
    Script,
    Wire,
    config_map,
    create_all,
    delete,
    informer_of,
    listed,
    refusal,
    running,
)
from tests.virtual_clock import virtual_time

DOWN = TransportError("connection refused")
FINE = listed(config_map("a"))


def bookmark(version: int) -> dict[str, Any]:
    return {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(version)}}}


def added(manifest: dict[str, Any]) -> dict[str, Any]:
    return {"type": "ADDED", "object": manifest}


@virtual_time
async def test_a_list_of_many_pages_is_delivered_page_by_page_and_counts_with_the_last() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    names = [f"config-{number:04}" for number in range(1203)]
    create_all(cluster, names)
    wire = Wire(MemoryTransport(cluster))
    informer = informer_of(wire, listener)

    async with running(informer):
        assert not informer.synced.is_set()
        await informer.synced.wait()

        assert [type(delivery) for delivery in listener.deliveries] == [Gather, Gather, Replace]
        assert listener.names == names
        assert len(wire.asked) == 3
        assert informer.resource_version == int(cluster.resource_version)


@virtual_time
async def test_changes_arrive_in_order_projected_and_with_their_version() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    informer = informer_of(MemoryTransport(cluster), listener)

    async with running(informer):
        await informer.synced.wait()
        create_all(cluster, ["a", "b"])
        delete(cluster, "a")
        await asyncio.sleep(1)

        assert [type(delivery) for delivery in listener.deliveries] == [Replace, Put, Put, Remove]
        assert listener.names == ["b"]
        assert listener.deliveries[1] == Put(
            {"metadata": {"namespace": "default", "name": "a", "resourceVersion": "6"}, "data": {"of": "a"}}
        )
        assert informer.resource_version == int(cluster.resource_version)


@virtual_time
async def test_what_is_kept_need_not_hold_the_version() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    watch = Watch(
        CONFIG_MAPS, transform=lambda manifest: {"metadata": key_of(manifest)._asdict()}, enqueue=WATCH.enqueue
    )
    informer = informer_of(MemoryTransport(cluster), listener, watch=watch)

    async with running(informer):
        await informer.synced.wait()
        create_all(cluster, ["a"])
        await asyncio.sleep(1)

    assert listener.deliveries[1:] == [Put({"metadata": {"namespace": "default", "name": "a"}})]
    assert listener.causes == []
    assert informer.resource_version == int(cluster.resource_version)


@virtual_time
async def test_one_namespace_is_asked_for_by_its_path() -> None:
    cluster, listener = InMemoryCluster(namespaces=("default", "shop")), Listener()
    create_all(cluster, ["a"])
    create_all(cluster, ["b"], "shop")
    wire = Wire(MemoryTransport(cluster))

    async with running(informer_of(wire, listener, namespace="shop")):
        await asyncio.sleep(1)

    assert listener.names == ["b"]
    assert {asked.request.path for asked in wire.asked} == {"/api/v1/namespaces/shop/configmaps"}


@virtual_time
async def test_where_metadata_is_enough_no_more_is_asked_for() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    watch = Watch(CONFIG_MAPS, transform=lambda manifest: manifest, enqueue=WATCH.enqueue, metadata_only=True)
    wire = Wire(MemoryTransport(cluster))

    async with running(informer_of(wire, listener, watch=watch)):
        await asyncio.sleep(1)
        create_all(cluster, ["a"])
        await asyncio.sleep(1)

    assert [asked.request.accept for asked in wire.asked] == [METADATA_LIST, METADATA]
    assert isinstance(listener.deliveries[-1], Put)
    assert "data" not in listener.deliveries[-1].object


@pytest.mark.parametrize("error", [None, TransportError("cut off")], ids=["closed", "broken"])
@virtual_time
async def test_a_watch_that_ends_resumes_where_it_was_without_a_list(error: TransportError | None) -> None:
    cluster, listener = InMemoryCluster(), Listener()
    create_all(cluster, ["a"])
    wire = Wire(MemoryTransport(cluster))

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(60)
        create_all(cluster, ["b"])
        cluster.close_watches(error)
        version = cluster.resource_version
        create_all(cluster, ["c"])
        delete(cluster, "a")
        await asyncio.sleep(60)

    assert listener.names == ["b", "c"]
    assert [type(delivery) for delivery in listener.deliveries] == [Replace, Put, Put, Remove]
    assert len(wire.lists) == 1
    assert wire.watches[1].version == version


@virtual_time
async def test_a_bookmark_moves_the_version_that_a_watch_resumes_from() -> None:
    wire, listener = Wire(Script([FINE], [Flow([bookmark(77)], lasts=400)])), Listener()
    informer = informer_of(wire, listener)

    async with running(informer):
        await asyncio.sleep(10)
        assert informer.resource_version == 77
        await asyncio.sleep(500)

    assert [asked.version for asked in wire.watches] == ["10", "77"]


@virtual_time
async def test_a_server_whose_storage_was_restored_from_a_backup_is_listed_anew() -> None:
    lists = [listed(config_map("a"), config_map("b"), version=100), listed(config_map("a"), version=60)]
    wire, listener = Wire(Script(lists, [Flow([bookmark(60)]), Flow([bookmark(61)])])), Listener()
    informer = informer_of(wire, listener)

    async with running(informer):
        await asyncio.sleep(60)

    assert listener.names == ["a"]
    assert informer.resource_version == 61
    assert listener.told == [(0.0, "unreadable", "an event of version 60 after version 100: the past has changed")]


@virtual_time
async def test_it_knows_when_it_has_last_heard_from_the_server_and_tells_when_it_hears_again() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    wire = Wire(MemoryTransport(cluster))
    await asyncio.sleep(100)
    informer = informer_of(wire, listener)
    assert informer.heard_at == 100

    async with running(informer):
        await asyncio.sleep(10)
        assert informer.heard_at == 100
        create_all(cluster, ["a"])
        await asyncio.sleep(10)
        assert informer.heard_at == 110
        cluster.send_bookmarks()
        await asyncio.sleep(10)
        assert informer.heard_at == 120
        assert listener.resumed_at == []

        cluster.faults.append(Fault(requests(), Lost(), times=2))
        cluster.close_watches(DOWN)
        await asyncio.sleep(20)

    back_at = 130 + 0.8 + 1.6 + 3.2
    assert listener.causes == ["disconnected"] * 3
    assert informer.heard_at == back_at
    assert listener.resumed_at == [back_at + 5], "a watch that has just been opened may still end at once"


@virtual_time
async def test_what_a_watch_brings_shows_at_once_that_all_is_well_again() -> None:
    listener = Listener()
    script = Script([DOWN, FINE], [Flow([bookmark(11)])])

    async with running(informer_of(script, listener)):
        await asyncio.sleep(60)

    assert listener.resumed_at == [0.8]


@pytest.mark.parametrize(
    ("script", "heard"),
    [
        pytest.param(Script([listed(continuation="more"), GONE] * 500, [DOWN]), False, id="on a later page"),
        pytest.param(Script([FINE], [GONE]), True, id="at each watch"),
        pytest.param(Script([FINE], [Flow([{"type": "ERROR", "object": GONE.body}])]), True, id="in each watch"),
        pytest.param(Script([FINE], [Flow(lasts=4, ends_with=DOWN)]), True, id="or is cut off soon"),
    ],
)
@virtual_time
async def test_as_long_as_a_server_forgets_at_once_what_it_has_listed_nothing_is_well_again(
    script: Script, *, heard: bool
) -> None:
    listener = Listener()
    informer = informer_of(script, listener)

    async with running(informer):
        await asyncio.sleep(600)

    assert listener.causes
    assert listener.resumed_at == []
    assert (informer.heard_at > 0) == heard, "part of a list is no news of the whole"


@virtual_time
async def test_a_forgotten_version_is_answered_by_one_atomic_replacement() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    create_all(cluster, [f"config-{number:04}" for number in range(700)])
    wire = Wire(MemoryTransport(cluster))

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(60)
        delete(cluster, "config-0005")
        cluster.compact()
        cluster.close_watches()
        create_all(cluster, ["late"])
        assert len(listener.names) == 700, "until all pages have arrived the old state stands"
        await asyncio.sleep(60)

    assert "late" in listener.names
    assert "config-0005" not in listener.names
    kinds = [type(delivery) for delivery in listener.deliveries]
    assert kinds.count(Replace) == 2
    assert len(wire.lists) == 2


@virtual_time
async def test_a_page_that_fails_is_asked_for_again_and_nothing_counts_before_the_last() -> None:
    first, last = listed(config_map("a"), continuation="more"), listed(config_map("b"))
    pages: list[Response | Exception] = [first, DOWN, refusal(500), last]
    wire, listener = Wire(Script(pages, [Flow()])), Listener()

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(1)
        assert listener.replacements == 0
        await asyncio.sleep(60)

    assert listener.names == ["a", "b"]
    assert [asked.request.query.get("continue") for asked in wire.asked[:4]] == [None, "more", "more", "more"]


@virtual_time
async def test_a_list_whose_continuations_always_expire_is_asked_for_without_pages_the_third_time() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    names = [f"config-{number:04}" for number in range(700)]
    create_all(cluster, names)
    cluster.faults.append(Fault(lambda request: "continue" in request.query, Answered(GONE), times=None))
    wire = Wire(MemoryTransport(cluster))

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(60)
        assert listener.names == names
        assert [asked.request.query.get("limit") for asked in wire.lists] == ["500", "500", None]

        cluster.compact()
        cluster.close_watches()
        await asyncio.sleep(60)

    assert [asked.request.query.get("limit") for asked in wire.lists] == ["500", "500", None] * 2


@pytest.mark.parametrize("refused", [GONE, refusal(400, "BadRequest")], ids=["expired", "never valid"])
@virtual_time
async def test_a_page_that_can_never_be_had_starts_the_list_anew(refused: Response) -> None:
    pages = [listed(config_map("old"), continuation="more"), refused, listed(config_map("a"), continuation="more"),
             listed(config_map("b"))]  # fmt: skip
    listener = Listener()

    async with running(informer_of(Wire(Script(pages, [Flow()])), listener)):
        await asyncio.sleep(60)

    assert listener.names == ["a", "b"]
    assert listener.replacements == 1


@pytest.mark.parametrize(
    ("answer", "lists"),
    [
        pytest.param(GONE, 2, id="too old"),
        pytest.param(refusal(400, "BadRequest"), 2, id="never valid"),
        pytest.param(refusal(504, "Timeout", causes=[{"reason": "ResourceVersionTooLarge"}]), 2, id="from the future"),
        pytest.param(refusal(500), 1, id="the server has trouble"),
        pytest.param(refusal(429, "TooManyRequests"), 1, id="the server is busy"),
        pytest.param(Flow([{"type": "ERROR", "object": GONE.body}]), 2, id="too old, in an event"),
        pytest.param(Flow([{"type": "ERROR", "object": refusal(500).body}]), 1, id="trouble, in an event"),
        pytest.param(Flow([{"type": "ERROR", "object": {}}]), 1, id="an error that says nothing"),
        pytest.param(Flow([{"type": "CHANGED", "object": config_map("b")}]), 2, id="an unknown event"),
    ],
)
@virtual_time
async def test_only_what_asking_again_cannot_mend_leads_to_a_fresh_list(answer: Flow | Response, lists: int) -> None:
    wire, listener = Wire(Script([FINE], [answer, Flow()])), Listener()

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(60)

    assert len(wire.lists) == lists
    assert len(wire.watches) == 2


@virtual_time
async def test_a_forbidden_list_is_told_as_the_permission_that_is_missing() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    words = 'User "hedgerow" cannot list resource "configmaps" in API group "" at the cluster scope'
    denial = refusal(403, "Forbidden", f"configmaps is forbidden: {words}")
    cluster.faults.append(Fault(requests("GET", "configmaps"), Answered(denial), times=3))
    informer = informer_of(MemoryTransport(cluster), listener)

    async with running(informer):
        await informer.synced.wait()

    sentence = "missing permission: list configmaps (all namespaces)"
    assert [(cause, problem) for _, cause, problem in listener.told] == [("forbidden", sentence)] * 3


@virtual_time
async def test_a_malformed_object_makes_its_list_not_count_until_it_is_corrected() -> None:
    broken = {"metadata": {"name": "b", "namespace": "default", "resourceVersion": "2"}}
    lists = [listed(config_map("a"), broken), listed(config_map("a"), config_map("b"))]
    listener = Listener()

    async with running(informer_of(Script(lists, [Flow()]), listener)):
        await asyncio.sleep(0.5)
        assert listener.replacements == 0, "an object that is left out would look deleted"
        await asyncio.sleep(60)

    assert listener.names == ["a", "b"]
    assert listener.told[0] == (0.0, "unreadable", "ConfigMap default/b cannot be read: KeyError: 'data'")


@virtual_time
async def test_a_malformed_object_in_a_watch_leads_to_a_list_that_shows_it_corrected() -> None:
    broken = {"metadata": {"name": "b", "namespace": "default", "resourceVersion": "12"}}
    lists = [FINE, listed(config_map("a"), config_map("b"), version=14)]
    wire, listener = Wire(Script(lists, [Flow([added(broken)]), Flow()])), Listener()

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(60)

    assert listener.names == ["a", "b"]
    assert [asked.version for asked in wire.watches] == ["10", "14"]


@virtual_time
async def test_a_listener_that_raises_is_told_of_and_gets_a_fresh_list() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    problems = [ValueError("odd")]

    async def deliver(delivery: Delivery) -> None:
        if isinstance(delivery, Put) and problems:
            raise problems.pop()
        await listener.deliver(delivery)

    wire = Wire(MemoryTransport(cluster))
    informer = informer_of(wire, listener, deliver=deliver)

    async with running(informer):
        await informer.synced.wait()
        listed_at = informer.resource_version
        create_all(cluster, ["a"])
        await asyncio.sleep(0.5)
        assert informer.resource_version == listed_at, "what was not delivered has not been seen"
        await asyncio.sleep(60)

        assert listener.names == ["a"]
        assert informer.resource_version == int(cluster.resource_version)
    assert [(cause, problem) for _, cause, problem in listener.told] == [("raised", "odd")]
    assert len(wire.lists) == 2


@virtual_time
async def test_a_request_that_the_transport_gives_up_does_not_end_the_informer() -> None:
    class GivesUp(Script):
        async def send(
            self, request: Any, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
        ) -> Response:
            if wire.asked[1:]:
                return await super().send(request, timeout=timeout, may_send=may_send)
            raise asyncio.CancelledError

    wire, listener = Wire(GivesUp([FINE], [Flow()])), Listener()

    async with running(informer_of(wire, listener)) as task:
        await asyncio.sleep(60)
        assert not task.done()

    assert listener.names == ["a"]
    assert listener.told == [(0.0, "disconnected", "the transport gave the request up")]


@virtual_time
async def test_a_watch_that_resumes_after_a_restore_lists_anew_although_the_server_says_nothing() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    create_all(cluster, ["a"])
    backup = cluster.back_up()

    async with running(informer_of(MemoryTransport(cluster), listener)):
        create_all(cluster, ["b", "c"])
        await asyncio.sleep(60)
        assert listener.names == ["a", "b", "c"]
        cluster.restore(backup)
        create_all(cluster, ["d"])
        await asyncio.sleep(5)

    assert listener.names == ["a", "d"]
    assert listener.causes == ["closed", "restored"]
    assert listener.told[-1][2] == "the server is at version 7, which is before version 8 that it has delivered"


@virtual_time
async def test_a_restore_behind_an_open_watch_is_noticed_within_about_a_minute() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    create_all(cluster, ["a"])
    backup = cluster.back_up()

    async with running(informer_of(MemoryTransport(cluster), listener)):
        create_all(cluster, ["b"])
        await asyncio.sleep(1)
        cluster._storage.restore(backup)
        await asyncio.sleep(70)

    assert listener.names == ["a"]
    assert listener.causes == ["restored"]


@virtual_time
async def test_an_open_watch_is_compared_with_the_server_once_a_minute_and_goes_on() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    create_all(cluster, ["a"])
    wire = Wire(MemoryTransport(cluster))

    async with running(informer_of(wire, listener)):
        await asyncio.sleep(290)

    assert len(wire.compared) == 4
    assert {asked.request.accept for asked in wire.compared} == {METADATA_LIST}
    assert len(wire.lists) == len(wire.watches) == 1
    assert listener.causes == []


@virtual_time
async def test_a_server_that_does_not_say_its_version_costs_no_watch() -> None:
    cluster, listener = InMemoryCluster(), Listener()
    answers: list[Answered | Lost] = [Lost(), Answered(refusal(403)), Answered(Response(200, {"items": []}))]
    cluster.faults.extend(Fault(lambda request: is_comparison(request.query), answer, times=1) for answer in answers)

    async with running(informer_of(MemoryTransport(cluster), listener)):
        await asyncio.sleep(290)

    assert listener.causes == []


@virtual_time
async def test_versions_that_are_no_numbers_are_not_compared() -> None:
    listener = Listener()
    listing = Response(200, {"metadata": {"resourceVersion": "opaque"}, "items": [config_map("a")]})
    script = Script([listing], [Flow()])
    script.version = 1

    async with running(informer_of(script, listener)):
        await asyncio.sleep(290)

    assert listener.causes == []
