"""Whether the caches have seen what this process has written for a key.

A decision on a cache that is behind its own writes would repeat them.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, Resource, is_terminating, resource_version_of, uid_of
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, Update
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.runtime.executor import Written

MOST_IDLE: Final = 256
"""Keys with remembered writes before those are dropped that the caches show: some keys have no next turn."""
PATIENCE: Final = 5.0
"""Seconds that a key waits at most: a conflict is better than a stuck key."""


class Watcher(Protocol):
    """Brings a cache up to versions of its cluster."""

    @property
    def resource_version(self) -> int:
        """The version that the cache has seen everything up to."""


class Wait(NamedTuple):
    """How long a key waited, and whether the caches show its writes now."""

    seconds: float
    caught_up: bool


class _Pending(NamedTuple):
    """The writes for one key that no cache has shown yet."""

    versions: dict[Watcher, int]
    deletions: dict[tuple[Resource, ObjectKey, Cluster], str | None]


class Expectations:
    """The writes that the caches do not show yet, by key."""

    def __init__(
        self, snapshot: StoreSnapshot, watcher_of: Callable[[Cluster, Resource, ObjectKey], Watcher | None]
    ) -> None:
        """Nothing was written yet; `watcher_of` tells who keeps the cache of an object, if anybody does."""
        self._snapshot = snapshot
        self._watcher_of = watcher_of
        self._pending: dict[ObjectKey, _Pending] = {}
        self._progress: asyncio.Future[None] | None = None
        self._most = MOST_IDLE

    def __len__(self) -> int:
        """The number of keys with remembered writes."""
        return len(self._pending)

    def expect(self, key: ObjectKey, written: Written) -> None:
        """Let the key's next turn wait until a cache shows this write, if the object is in a cache."""
        action = written.action
        watcher = self._watcher_of(action.cluster, action.resource, action.key)
        if watcher is None:
            return
        self._forget_what_was_seen()
        place = action.resource, action.key, action.cluster
        if isinstance(action, Delete):
            self._pending.setdefault(key, _Pending({}, {})).deletions[place] = action.uid
        elif written.resource_version is not None:
            versions, deletions = self._pending.setdefault(key, _Pending({}, {}))
            deletions.pop(place, None)
            versions[watcher] = max(versions.get(watcher, 0), written.resource_version)
        elif key in self._pending:
            self._pending[key].deletions.pop(place, None)

    def _forget_what_was_seen(self) -> None:
        """Drop what the caches show; only now and then, as it looks at all keys."""
        if len(self._pending) >= self._most:
            self._pending = {key: writes for key, writes in self._pending.items() if not self._is_shown(writes)}
            self._most = max(MOST_IDLE, 2 * len(self._pending))

    def awaits(self, key: ObjectKey) -> bool:
        """True if a write for a key is remembered."""
        return key in self._pending

    def overtaken(self, action: Action) -> bool:
        """True if a cache shows a later version of an object than the one that an action was planned for.

        A cache without the object, or with an earlier version, is behind the decision. For the creation of a
        subresource the object exists already.
        """
        watcher = self._watcher_of(action.cluster, action.resource, action.key)
        if watcher is None:
            return False
        shown = self._snapshot.get(action.resource, action.key, action.cluster)
        if isinstance(action, Create):
            return shown is not None and not action.subresource
        if isinstance(action, JsonPatch):
            return False
        version = resource_version_of(action.manifest) if isinstance(action, Update) else action.resource_version
        seen = watcher.resource_version if shown is None else _number(resource_version_of(shown))
        return version is not None and version.isdecimal() and seen > int(version)

    def progressed(self) -> None:
        """Wake the keys that wait: a cache has changed."""
        if self._progress is not None and not self._progress.done():
            self._progress.set_result(None)
        self._progress = None

    async def catch_up(self, key: ObjectKey) -> Wait | None:
        """Wait until the caches show all writes for a key, `PATIENCE` at most; none: they did already.

        The next call waits only for later writes.
        """
        writes = self._pending.pop(key, None)
        if writes is None or self._is_shown(writes):
            return None
        loop = asyncio.get_running_loop()
        began = loop.time()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while not self._is_shown(writes):
                    if self._progress is None:
                        self._progress = loop.create_future()
                    await asyncio.shield(self._progress)
        return Wait(loop.time() - began, caught_up=self._is_shown(writes))

    def _is_shown(self, writes: _Pending) -> bool:
        if any(watcher.resource_version < version for watcher, version in writes.versions.items()):
            return False
        return all(self._is_gone(*place, uid) for place, uid in writes.deletions.items())

    def _is_gone(self, resource: Resource, key: ObjectKey, cluster: Cluster, uid: str | None) -> bool:
        manifest = self._snapshot.get(resource, key, cluster)
        return manifest is None or is_terminating(manifest) or (uid is not None and uid_of(manifest) != uid)


def _number(version: str | None) -> int:
    """A version as a number; 0 if there is none."""
    return int(version) if version and version.isdecimal() else 0
