"""Where reviews are computed: short ones on the event loop, long ones on a thread beside it, one at a time.

Guarantees: a long computation blocks the event loop no longer than one call into C takes. It reads the caches on the
event loop, so they do not change while they are read. A computation that has begun ends, even if its request is
cancelled.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar

from typing_extensions import override

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Snapshot, Value

LONGEST_READ: Final = 10.0
"""Seconds; the thread waits no longer for an event loop that may have stopped."""
Result = TypeVar("Result")


class Computing:
    """Computes at once, on the event loop."""

    async def run(self, compute: Callable[[], Result]) -> Result:
        """The result of a computation."""
        return compute()

    def reading(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot as computations may read it."""
        return snapshot


AT_ONCE: Final = Computing()


class BesideLoop(Computing):
    """Computes on a thread of its own, one computation after the other."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "long reviews")

    @override
    async def run(self, compute: Callable[[], Result]) -> Result:
        future = self._thread.submit(compute)
        computed = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(computed)
        except asyncio.CancelledError:
            if not future.cancel():
                await asyncio.wait({computed})
            raise

    def close(self) -> None:
        """Begin no computation any more, and end the thread after the one that it works on."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    @override
    def reading(self, snapshot: Snapshot) -> Snapshot:
        return _ReadOnLoop(snapshot, asyncio.get_running_loop())


class _ReadOnLoop:
    """A snapshot that the event loop reads."""

    def __init__(self, snapshot: Snapshot, loop: asyncio.AbstractEventLoop) -> None:
        self._snapshot = snapshot
        self._loop = loop

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        return self._read(partial(self._snapshot.get, resource, key, cluster))

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        return self._read(partial(self._snapshot.has_synced, resource, cluster))

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        wanted = partial(self._snapshot.list, resource, namespace=namespace, selector=selector, cluster=cluster)
        return self._read(wanted)

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        return self._read(partial(self._snapshot.by_index, index, value))

    def _read(self, read: Callable[[], Result]) -> Result:
        async def on_loop() -> Result:
            return read()

        return asyncio.run_coroutine_threadsafe(on_loop(), self._loop).result(LONGEST_READ)
