"""Whether the caches have seen what this process has written for a key.

A decision on a cache that is behind its own writes would repeat them.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from hedgerow.machinery.objects import ObjectKey, Resource, is_terminating, uid_of
from hedgerow.machinery.plan import Delete
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.runtime.executor import Written

PATIENCE: Final = 5.0
"""Seconds after which a key no longer waits: better a refused write than a stuck key."""


class Expectations:
    """What was written, key by key, and not yet seen."""

    def __init__(self, snapshot: StoreSnapshot, version_of: Callable[[Resource, str], int | None]) -> None:
        """Nothing was written yet.

        Args:
            snapshot: the caches.
            version_of: which version a cache has seen of a resource in a namespace; none where it sees nothing at all.
        """
        self._snapshot = snapshot
        self._version_of = version_of
        self._versions: dict[ObjectKey, dict[tuple[Resource, str], int]] = {}
        self._deletions: dict[ObjectKey, dict[tuple[Resource, ObjectKey], str | None]] = {}
        self._progress: asyncio.Future[None] | None = None

    def expect(self, key: ObjectKey, written: Written) -> None:
        """Let a key wait until the cache has seen this write; what no cache will ever see is not waited for."""
        action = written.action
        place = (action.resource, action.key.namespace)
        if self._version_of(*place) is None:
            return
        if isinstance(action, Delete):
            self._deletions.setdefault(key, {})[action.resource, action.key] = action.uid
        elif written.resource_version is not None:
            versions = self._versions.setdefault(key, {})
            versions[place] = max(versions.get(place, 0), written.resource_version)

    def progressed(self) -> None:
        """Something was delivered to a cache."""
        if self._progress is not None and not self._progress.done():
            self._progress.set_result(None)
        self._progress = None

    async def caught_up(self, key: ObjectKey) -> bool:
        """Wait until the caches have seen all writes for a key; false if they have not in good time.

        Either way the next call waits only for what is written after this one.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                while not self._is_caught_up(key):
                    if self._progress is None:
                        self._progress = asyncio.get_running_loop().create_future()
                    await asyncio.shield(self._progress)
        except TimeoutError:
            return False
        finally:
            self._versions.pop(key, None)
            self._deletions.pop(key, None)
        return True

    def _is_caught_up(self, key: ObjectKey) -> bool:
        versions: Mapping[tuple[Resource, str], int] = self._versions.get(key, {})
        if any((self._version_of(*place) or 0) < version for place, version in versions.items()):
            return False
        return all(self._is_gone(*place, uid) for place, uid in self._deletions.get(key, {}).items())

    def _is_gone(self, resource: Resource, key: ObjectKey, uid: str | None) -> bool:
        manifest = self._snapshot.get(resource, key)
        return manifest is None or is_terminating(manifest) or (uid is not None and uid_of(manifest) != uid)
