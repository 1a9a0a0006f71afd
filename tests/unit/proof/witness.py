"""Somebody who knows what is true, and watches what a process that may not know it asks the server for."""

from collections import Counter
from collections.abc import Iterable

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow_adapters.protocol.transport import Request, attributes_of
from tests.unit.adapters.runtime.world import POLICIES
from tests.unit.proof.landscapes import Landscape

RESOURCE = f"{POLICIES.plural}.{POLICIES.group}"


class Witness:
    """Notes creations of policies that exist, and deletions of those that were wanted at all times."""

    def __init__(self, world: Landscape) -> None:
        self.repeated: Counter[ObjectKey] = Counter()
        """Policies that existed when their creation was asked for."""
        self.wrong: list[ObjectKey] = []
        """Policies whose deletion was asked for although they were wanted for all of their lives."""
        self._world = world
        self._forfeited: set[ObjectKey] = set()
        self.look()
        world.subscribe(POLICIES, self._see)

    def look(self) -> None:
        """Find out what is wanted now that somebody has done something."""
        self._wanted = self._world.wanted
        self._forfeited |= {key_of(policy) for policy in self._world.objects(POLICIES)} - self._wanted

    def _see(self, change: Change) -> None:
        if change.old is None and change.new is not None:
            key = key_of(change.new)
            self._forfeited = self._forfeited - {key} if key in self._wanted else self._forfeited | {key}

    def hear(self, request: Request) -> None:
        """A request of the process arrives."""
        asked = attributes_of(request)
        if asked.resource != RESOURCE:
            return
        if asked.verb == "create" and self._world.get(POLICIES, key_of(request.body)) is not None:
            self.repeated[key_of(request.body)] += 1
        key = ObjectKey(asked.namespace, asked.name)
        if asked.verb == "delete" and self._world.get(POLICIES, key) is not None and key not in self._forfeited:
            self.wrong.append(key)


def creations(requests: Iterable[Request]) -> Counter[ObjectKey]:
    """How often requests ask for the creation of each policy."""
    return Counter(
        key_of(request.body)
        for request in requests
        if (asked := attributes_of(request)).verb == "create" and asked.resource == RESOURCE
    )
