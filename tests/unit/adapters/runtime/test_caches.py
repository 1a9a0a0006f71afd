"""What several controllers read of a cluster is read once, and each hears of it, on virtual time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Controller, Read, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.runtime.caches import Caches, View
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.shared_cache import Listener
from tests.unit.adapters.runtime.mirrors import BY_ORIGIN, CONFIG_MAPS, MIRRORING, kept, own_key
from tests.unit.adapters.runtime.world import Ears, Wire, caches_of
from tests.virtual_clock import virtual_time

BY_VALUE = Index("by value", CONFIG_MAPS, lambda manifest: [manifest["data"]["value"]])
KEY = ObjectKey("default", "a")


def reading(*watches: Watch, indexes: tuple[Index[Any], ...] = ()) -> Controller[None]:
    return replace(MIRRORING, watches=watches, indexes=indexes)


WHOLE = Watch(CONFIG_MAPS, kept, own_key)


def names_only(manifest: Manifest) -> Manifest:
    return {"metadata": manifest["metadata"]}


class Hall:
    """A cluster, and caches of it for whoever wants to read."""

    def __init__(self, namespaces: tuple[str, ...] = ()) -> None:
        self.cluster = InMemoryCluster(namespaces=namespaces or ("default",))
        self.wire = Wire(MemoryTransport(self.cluster))
        self.caches: Caches = caches_of(Clusters.single(Access(self.wire, namespaces)))
        self.heard: dict[str, list[str]] = {}

    def view(self, name: str, controller: Controller[None], *, ears: Ears | None = None, broken: bool = False) -> View:
        """What a controller reads; what it hears is written down under its name."""

        def listener_of(_watch: Watch) -> Listener:
            def hear(changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
                if broken:
                    raise RuntimeError("deaf")
                manifests = [change.new or change.old for change in changes]
                told = [key_of(manifest).name for manifest in manifests if manifest]
                self.heard.setdefault(name, []).append(("event " if is_event else "list ") + ",".join(told))
                return len(told)

            return hear

        return self.caches.view(controller, listener_of, ears or Ears())

    def give(self, name: str, value: str = "1") -> None:
        manifest = {"metadata": {"name": name}, "data": {"value": value}}
        assert self.cluster.handle(requests.create(CONFIG_MAPS, manifest, "default")).is_success

    @asynccontextmanager
    async def open(self) -> AsyncIterator["asyncio.Task[None]"]:
        running = asyncio.create_task(self.caches.run())
        await asyncio.sleep(1)
        try:
            yield running
        finally:
            running.cancel()
            await asyncio.wait([running])


@virtual_time
async def test_what_two_controllers_read_is_listed_once_and_found_by_the_indexes_of_both() -> None:
    hall = Hall()
    hall.give("a", "red")
    first = hall.view("first", reading(WHOLE, indexes=(BY_VALUE,)))
    second = hall.view("second", reading(WHOLE, indexes=(BY_ORIGIN,)))

    async with hall.open():
        hall.give("b", "red")
        await asyncio.sleep(1)

    assert hall.wire.lists == 1
    assert hall.heard == {"first": ["list a", "event b"], "second": ["list a", "event b"]}
    assert [key_of(each).name for each in first.snapshot.by_index(BY_VALUE, "red")] == ["a", "b"]
    assert second.snapshot.get(CONFIG_MAPS, KEY) is first.snapshot.get(CONFIG_MAPS, KEY)
    assert second.snapshot.by_index(BY_ORIGIN, KEY) == []


@virtual_time
async def test_who_need_not_hear_of_changes_reads_from_the_same_cache() -> None:
    hall, ears = Hall(), Ears()
    hall.give("a", "red")
    hall.view("controller", reading(WHOLE))
    view = hall.caches.reading([Read(CONFIG_MAPS, kept)], [BY_VALUE], ears)
    assert not view.is_complete(Cluster.TARGET)

    async with hall.open():
        assert view.is_complete(Cluster.TARGET)
        hall.give("b", "red")
        hall.cluster.close_watches()
        await asyncio.sleep(1)

    assert hall.wire.lists == 1
    assert [key_of(each).name for each in view.snapshot.by_index(BY_VALUE, "red")] == ["a", "b"]
    assert ears.causes == [(CONFIG_MAPS, "closed-early")]


@virtual_time
async def test_a_reader_sees_the_namespaces_that_are_shown() -> None:
    hall = Hall(namespaces=("default", "shop"))
    namespaces = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
    hall.cluster.handle(requests.create(namespaces, {"metadata": {"name": "hidden"}}))
    view = hall.caches.reading([Read(namespaces, kept)], [], Ears())

    async with hall.open():
        pass

    assert [key_of(each).name for each in view.snapshot.list(namespaces)] == ["default", "shop"]


@pytest.mark.parametrize("seen", [(), ("default", "shop")])
@virtual_time
async def test_who_reads_one_namespace_asks_for_nothing_else(seen: tuple[str, ...]) -> None:
    hall = Hall(namespaces=seen)
    hall.give("a")
    view = hall.view("reader", reading(replace(WHOLE, namespace="default")))

    async with hall.open():
        hall.give("b")
        await asyncio.sleep(1)

    assert [key_of(each).name for each in view.snapshot.list(CONFIG_MAPS)] == ["a", "b"]
    assert {request.path for request in hall.wire.asked} == {"/api/v1/namespaces/default/configmaps"}


@virtual_time
async def test_of_a_namespace_that_is_out_of_sight_nothing_is_read() -> None:
    hall = Hall(namespaces=("shop",))
    view = hall.view("reader", reading(replace(WHOLE, namespace="default")))

    async with hall.open():
        assert view.is_complete(Cluster.TARGET)
        assert [silence() for _, silence in view.silences()] == [0.0]

    assert (hall.wire.lists, view.snapshot.list(CONFIG_MAPS)) == (0, [])


@pytest.mark.parametrize(
    "other",
    [
        replace(WHOLE, transform=names_only),
        replace(WHOLE, metadata_only=True),
        replace(WHOLE, may_be_absent=True),
        replace(WHOLE, label_selector="value"),
        replace(WHOLE, field_selector="metadata.name=a"),
        replace(WHOLE, namespace="default"),
    ],
    ids=["other fields", "metadata alone", "what may be absent", "labels", "values of fields", "another namespace"],
)
@virtual_time
async def test_who_keeps_something_else_reads_for_himself(other: Watch) -> None:
    hall = Hall()
    hall.view("first", reading(WHOLE))
    hall.view("second", reading(other))

    async with hall.open():
        pass

    assert hall.wire.lists == 2


@virtual_time
async def test_a_listener_with_a_defect_keeps_no_other_from_hearing_and_ends_the_caches() -> None:
    hall, others = Hall(), asyncio.all_tasks()
    hall.give("a")
    hall.view("broken", reading(WHOLE), broken=True)
    hall.view("sound", reading(WHOLE))

    async with hall.open() as running:
        with pytest.raises(ExceptionGroup) as raised:
            await asyncio.wait_for(running, timeout=60)

    assert hall.heard["sound"] == ["list a"]
    assert [str(error) for error in raised.value.exceptions] == ["deaf"]
    assert asyncio.all_tasks() == others


@virtual_time
async def test_a_cache_is_as_old_as_that_part_of_it_which_has_heard_nothing_for_longest() -> None:
    hall = Hall(namespaces=("default", "shop"))
    view = hall.view("reader", reading(WHOLE))

    async with hall.open():
        await asyncio.sleep(20)
        hall.give("a")
        await asyncio.sleep(1)
        assert [silence() for _, silence in view.silences()] == [22.0]


@virtual_time
async def test_the_end_of_a_shared_watch_is_told_to_every_reader_once() -> None:
    hall, ears = Hall(), [Ears(), Ears()]
    both_roles = reading(WHOLE, replace(WHOLE, cluster=Cluster.SOURCE))
    for number, each in enumerate(ears):
        hall.view(str(number), both_roles, ears=each)

    async with hall.open():
        hall.cluster.close_watches()
        await asyncio.sleep(1)

    assert [each.causes for each in ears] == [[(CONFIG_MAPS, "closed-early")]] * 2


def test_two_indexes_of_one_name_are_a_mistake() -> None:
    async def scenario() -> None:
        hall = Hall()
        hall.view("first", reading(WHOLE, indexes=(BY_VALUE,)))
        hall.view("again", reading(WHOLE, indexes=(BY_VALUE,)))

        with pytest.raises(ValueError, match='two indexes of one store are called "by value"'):
            hall.view("second", reading(WHOLE, indexes=(replace(BY_ORIGIN, name="by value"),)))

    asyncio.run(scenario())
