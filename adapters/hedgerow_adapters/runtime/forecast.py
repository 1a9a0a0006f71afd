"""What a controller would delete altogether, if every key had its turn now.

Others get a turn all the while: of what happens meanwhile a part is seen.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, is_owned, keys_from
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.slices import slices

BREATH: Final = 20
"""Decisions between which others get a turn."""


Deleted: TypeAlias = Mapping[ObjectKey, frozenset[str]]
"""The objects that would be deleted, by the keys that would delete them."""


class Forecast(NamedTuple):
    """How many objects a controller would delete, and how many it owns.

    Deletions for owners that were seen to go or to change are left out.
    """

    deletions: int
    owned: int

    def __str__(self) -> str:
        """As people are told it."""
        return f"{self.deletions} of {self.owned} owned objects would be deleted"


async def foresee(
    controller: Controller[Any], snapshot: Snapshot, deleted_by: Callable[[ObjectKey], frozenset[str]]
) -> tuple[Deleted, Forecast]:
    """What each key of a controller would delete, and how much that is altogether.

    Args:
        controller: whose keys they are.
        snapshot: the world.
        deleted_by: what the turn of a key would delete, as far as it counts.
    """
    deleted: dict[ObjectKey, frozenset[str]] = {}
    for position, key in enumerate(await _all_keys(controller, snapshot), start=1):
        if of_key := deleted_by(key):
            deleted[key] = of_key
        if position % BREATH == 0:
            await asyncio.sleep(0)
    return deleted, Forecast(sum(map(len, deleted.values())), await _owned(controller, snapshot))


async def _all_keys(controller: Controller[Any], snapshot: Snapshot) -> Mapping[ObjectKey, None]:
    keys: dict[ObjectKey, None] = {}
    for cluster in Cluster:
        for piece in slices(keys_from(controller, snapshot, cluster)):
            keys.update(dict.fromkeys(piece))
            await asyncio.sleep(0)
    return keys


async def _owned(controller: Controller[Any], snapshot: Snapshot) -> int:
    """How many objects a controller owns."""
    count = 0
    if controller.owned is not None:
        for piece in slices(snapshot.list(controller.owned.resource, cluster=controller.owned.cluster)):
            count += sum(is_owned(controller, manifest) for manifest in piece)
            await asyncio.sleep(0)
    return count
