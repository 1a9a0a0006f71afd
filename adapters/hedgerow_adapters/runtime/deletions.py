"""Holds deletions back until it is clear that they are meant.

The verdict is the core's; this asks for it with what the controller would delete altogether, and takes the fresh lists
that it may want.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from hedgerow.machinery.controller import Change, Controller, plans
from hedgerow.machinery.deletion_guard import ALWAYS_ALLOWED, Verdict, judge_deletions
from hedgerow.machinery.objects import ObjectKey, is_terminating, key_of
from hedgerow.machinery.plan import Plan
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.runtime.clock import utc_now

STOPPED_FOR: Final = 60.0
"""Seconds for which a refusal stands before the world is looked at again."""


class DeletionLedger:
    """Which deletions of one controller are covered by evidence.

    The deletion of an owner that was seen to go is evidence in itself. Everything else is covered up to what a forecast
    over all keys has found acceptable, until a list replaces what the forecast saw.
    """

    def __init__(
        self, controller: Controller[Any], snapshot: StoreSnapshot, relist: Callable[[], Awaitable[None]]
    ) -> None:
        self._controller = controller
        self._snapshot = snapshot
        self._relist = relist
        self._seen_to_go: set[ObjectKey] = set()
        self._covered = 0
        self._stopped_until = float("-inf")
        self._judging = asyncio.Lock()

    def owner_changed(self, change: Change) -> None:
        """Note an explicit event of the primary resource; what a list leaves out is no such event."""
        if change.new is None and change.old is not None:
            self._seen_to_go.add(key_of(change.old))
        elif change.new is not None:
            self._seen_to_go.discard(key_of(change.new))

    def replaced(self) -> None:
        """A list has replaced a cache: what was found acceptable before it says nothing about the world since."""
        self._covered = 0

    def settled(self, key: ObjectKey) -> None:
        """A key has nothing left to delete."""
        self._seen_to_go.discard(key)

    async def allows(self, key: ObjectKey, plan: Plan) -> bool:
        """Whether a plan's deletions may be carried out; takes fresh lists where the guard wants them."""
        if self._owner_goes(key):
            return True
        async with self._judging:
            if plan.deletions > self._covered and not await self._cover():
                return False
            self._covered -= plan.deletions
            return self._covered >= 0

    def _owner_goes(self, key: ObjectKey) -> bool:
        owner = self._snapshot.get(self._controller.primary, key)
        return key in self._seen_to_go if owner is None else is_terminating(owner)

    async def _cover(self) -> bool:
        now = asyncio.get_running_loop().time()
        if now < self._stopped_until:
            return False
        deletions, owned = self._forecast()
        verdict = judge_deletions(deletions, owned, confirmed=False)
        if verdict is Verdict.CONFIRM:
            await self._relist()
            deletions, owned = self._forecast()
            verdict = judge_deletions(deletions, owned, confirmed=True)
        if verdict is not Verdict.PROCEED:
            self._stopped_until = now + STOPPED_FOR
            return False
        self._covered = deletions + ALWAYS_ALLOWED
        return True

    def _forecast(self) -> tuple[int, int]:
        """How much would be deleted altogether, and how much is owned; owners that were seen to go are left out."""
        deletions = sum(
            plan.deletions
            for key, plan in plans(self._controller, self._snapshot, utc_now())
            if plan.deletions and not self._owner_goes(key)
        )
        owned = self._controller.owned
        return deletions, sum(1 for manifest in self._snapshot.list(owned.resource) if any(owned.values(manifest)))
