"""Long lists reach caches and listeners in slices, and replace what was known at once, on virtual time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hedgerow.machinery.clusters import EVERYTHING
from hedgerow.machinery.controller import Change, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow_adapters.informer.exchanges import PAGE_SIZE, Exchanges
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.runtime.caches import View
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.shared_cache import Listener
from hedgerow_adapters.slices import SLICE
from tests.unit.adapters.runtime.mirrors import CONFIG_MAPS, MIRRORING, kept, own_key
from tests.unit.adapters.runtime.world import Ears, caches_of
from tests.virtual_clock import virtual_time

MANY = 2 * PAGE_SIZE + SLICE + 1


class Gallery:
    """A cache of many objects, a listener that notes what it hears, and a bystander who wants to do something, too."""

    def __init__(self) -> None:
        self.cluster = InMemoryCluster()
        self.turns = 0
        """Of the bystander."""
        self.kept_in: list[int] = []
        """For each object that was read: how many turns the bystander had had by then."""
        self.heard_in: list[int] = []
        """The same for each time that the listener heard something."""
        self.heard: list[list[Change]] = []
        self.flags: list[tuple[bool, bool]] = []
        self.queued = 0
        """How many keys each change puts in line."""
        self.shown: list[set[str]] = []
        """Which values the snapshot showed when the listener heard of changes."""
        self.caches = caches_of(Clusters.single(Access(MemoryTransport(self.cluster))))
        watch = Watch(CONFIG_MAPS, self._keep, own_key)
        self.controller = replace(MIRRORING, watches=(watch,), indexes=())
        self.view: View = self.caches.view(self.controller, self._listener, Ears())

    def _keep(self, manifest: Manifest) -> Manifest:
        self.kept_in.append(self.turns)
        return kept(manifest)

    def _listener(self, _watch: Watch) -> Listener:
        def hear(changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
            self.heard_in.append(self.turns)
            self.heard.append(list(changes))
            self.flags.append((is_event, continues))
            self.shown.append({each["data"]["value"] for each in self.view.snapshot.list(CONFIG_MAPS)})
            return self.queued

        return hear

    def give(self, count: int, value: str) -> None:
        for number in range(count):
            manifest = {"metadata": {"name": f"config-{number:05}"}, "data": {"value": value}}
            key = ObjectKey("default", f"config-{number:05}")
            if not self.cluster.handle(requests.create(CONFIG_MAPS, manifest, "default")).is_success:
                assert self.cluster.handle(requests.merge_patch(CONFIG_MAPS, key, manifest)).is_success

    async def stand_by(self, work: "asyncio.Task[Any]") -> None:
        """Be the bystander until something is done."""
        while not work.done():
            await asyncio.sleep(0)
            self.turns += 1


def longest_block(turns: Sequence[int]) -> int:
    """How many things were done at most between two turns of the bystander."""
    return max(turns.count(turn) for turn in set(turns))


@virtual_time
async def test_between_the_slices_of_a_first_list_others_get_their_turns() -> None:
    gallery = Gallery()
    gallery.give(MANY, "a")
    running = asyncio.create_task(gallery.caches.run())
    await gallery.stand_by(asyncio.create_task(gallery.view.completed()))
    running.cancel()

    assert len(gallery.kept_in) == MANY
    assert longest_block(gallery.kept_in) <= SLICE
    assert [len(changes) for changes in gallery.heard] == [SLICE] * (MANY // SLICE) + [1]
    assert longest_block(gallery.heard_in) == 1
    assert gallery.flags == [(False, False)] + [(False, True)] * (MANY // SLICE)
    assert [key_of(change.new).name for changes in gallery.heard for change in changes if change.new] == [
        f"config-{number:05}" for number in range(MANY)
    ]


@virtual_time
async def test_a_list_without_pages_is_read_in_slices_too() -> None:
    gallery = Gallery()
    gallery.give(MANY, "a")
    read = gallery.controller.watches[0]
    exchanges = Exchanges(MemoryTransport(gallery.cluster), read, EVERYTHING)
    page = asyncio.create_task(exchanges.page("", whole=True))
    await gallery.stand_by(page)

    assert len((await page).objects) == MANY
    assert longest_block(gallery.kept_in) == SLICE


@virtual_time
async def test_a_list_replaces_what_was_known_at_once_however_many_slices_tell_of_it() -> None:
    gallery = Gallery()
    gallery.give(MANY, "a")
    running = asyncio.create_task(gallery.caches.run())
    await gallery.view.completed()
    gallery.cluster.close_watches(None)
    gallery.give(MANY, "b")
    gallery.cluster.compact()
    gallery.heard.clear()
    gallery.shown.clear()
    seen: list[set[str]] = []

    async def look() -> None:
        while len(gallery.heard) <= MANY // SLICE:
            seen.append({each["data"]["value"] for each in gallery.view.snapshot.list(CONFIG_MAPS)})
            await asyncio.sleep(0.001 if not gallery.heard else 0)

    await look()
    running.cancel()

    assert [len(changes) for changes in gallery.heard] == [SLICE] * (MANY // SLICE) + [1]
    assert seen[0] == {"a"}
    assert all(values in ({"a"}, {"b"}) for values in seen)
    assert all(values == {"b"} for values in gallery.shown)


@virtual_time
async def test_after_an_event_that_concerns_many_keys_others_get_their_turns() -> None:
    gallery = Gallery()
    running = asyncio.create_task(gallery.caches.run())
    await gallery.view.completed()
    gallery.queued, gallery.heard_in = SLICE, []
    gallery.give(20, "a")
    while len(gallery.heard_in) < 20:
        await asyncio.sleep(0)
        gallery.turns += 1
    running.cancel()

    assert longest_block(gallery.heard_in) == 1
