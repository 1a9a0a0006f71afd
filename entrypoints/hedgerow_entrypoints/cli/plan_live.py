"""Live clusters for plans: they are read, and what is written to them is imagined."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import datetime
from typing import NamedTuple

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import Answer, Question
from hedgerow_adapters.kubernetes.questions import Questions
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.simulation import Overlay, ReadingError, World, Worlds
from hedgerow_adapters.simulation.real_time import RealTime
from hedgerow_adapters.simulation.virtual_time import VirtualClockLoop
from hedgerow_entrypoints.cli.worlds import connected
from hedgerow_entrypoints.errors import CommandError


class ClusterAccess(NamedTuple):
    """How to reach a cluster, and the namespaces to read."""

    kubeconfig: str | None
    """None: the one that kubectl would take."""
    context: str | None
    """None: the current one."""
    namespaces: Sequence[str] = ()
    """None: all."""


class LiveClusters(NamedTuple):
    """The ways to clusters, for use on virtual time."""

    transports: Mapping[Cluster, Transport]
    accesses: Mapping[Cluster, ClusterAccess]

    def worlds(self, now: datetime, stored: Callable[[Manifest], Manifest] = lambda manifest: manifest) -> Worlds:
        """The clusters as they are, for one controller that plans.

        Args:
            now: the time at which all of it would happen.
            stored: an object that was sent as a server would hand it back.
        """
        transports = self.transports.values()
        overlays = {transport: Overlay(transport, lambda: now, stored) for transport in transports}
        return {
            role: World(overlays[self.transports[role]], tuple(access.namespaces))
            for role, access in self.accesses.items()
        }

    def ask(self, question: Question) -> Answer:
        """What a cluster shows.

        Raises:
            CommandError: it does not answer, or one may not ask.
        """
        overlays = {role: Overlay(transport, datetime.now) for role, transport in self.transports.items()}
        namespaces = {role: access.namespaces for role, access in self.accesses.items()}
        with asyncio.Runner(loop_factory=VirtualClockLoop) as runner:
            try:
                return runner.run(Questions(overlays, namespaces).ask(question))
            except ReadingError as unreadable:
                raise CommandError(str(unreadable)) from unreadable


@contextmanager
def live_clusters(accesses: Mapping[Cluster, ClusterAccess]) -> Iterator[LiveClusters]:
    """Connections to clusters; one connection serves both roles where they are at the same place.

    Raises:
        CommandError: a kubeconfig is of no use.
    """
    with RealTime() as real_time:
        stack = AsyncExitStack()
        opened: dict[tuple[str | None, str | None], Transport] = {}
        try:
            for access in accesses.values():
                if access[:2] not in opened:
                    connection = stack.enter_async_context(connected(access.kubeconfig, access.context))
                    opened[access[:2]] = real_time.over(real_time.run(connection))
            yield LiveClusters({role: opened[access[:2]] for role, access in accesses.items()}, accesses)
        finally:
            real_time.run(stack.aclose())
