"""Live clusters for plans: they are read, and what is written to them is imagined."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.questions import Answer, Question
from hedgerow_adapters.kubernetes.questions import Questions
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.simulation import ReadingError, Worlds, imagined
from hedgerow_adapters.simulation.virtual_time import RealTime, VirtualClockLoop
from hedgerow_entrypoints.cli.worlds import connected
from hedgerow_entrypoints.components.registry import NO_REMARKS, Remarks
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
    """The ways to clusters, for use on virtual time, and the namespaces to read."""

    transports: Mapping[Cluster, Transport]
    namespaces: Mapping[Cluster, Sequence[str]]

    def worlds(self, now: datetime, remarks: Remarks = NO_REMARKS) -> Worlds:
        """The clusters as they are, for one controller that plans.

        Args:
            now: the time at which all of it would happen.
            remarks: what is known of the controller's objects.
        """
        return imagined(self.transports, now, namespaces=self.namespaces, stored=remarks.stored)

    def ask(self, question: Question) -> Answer:
        """What a cluster shows.

        Raises:
            CommandError: it does not answer, or one may not ask.
        """
        readable = {role: world.transport for role, world in self.worlds(datetime.now(UTC)).items()}
        with asyncio.Runner(loop_factory=VirtualClockLoop) as runner:
            try:
                return runner.run(Questions(readable, self.namespaces).ask(question))
            except ReadingError as unreadable:
                raise CommandError(str(unreadable)) from unreadable


@contextmanager
def live_clusters(accesses: Mapping[Cluster, ClusterAccess]) -> Iterator[LiveClusters]:
    """Connections to clusters; one connection serves both roles where they are at the same place.

    Raises:
        CommandError: a kubeconfig is of no use.
    """
    with RealTime() as real_time:
        opened: dict[tuple[str | None, str | None], Transport] = {}
        for access in accesses.values():
            if access[:2] not in opened:
                connection = connected(access.kubeconfig, access.context)
                opened[access[:2]] = real_time.over(real_time.enter(connection))
        yield LiveClusters(
            {role: opened[access[:2]] for role, access in accesses.items()},
            {role: access.namespaces for role, access in accesses.items()},
        )
