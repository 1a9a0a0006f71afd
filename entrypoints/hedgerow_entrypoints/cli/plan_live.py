"""A live cluster as controllers see it that plan: lists of what they watch, and live answers; nothing is written."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple

from hedgerow.machinery.clusters import Cluster, visible_scopes
from hedgerow.machinery.controller import Controller, Watch
from hedgerow.machinery.objects import Kind, Resource
from hedgerow.machinery.questions import Answer, NotAnswered, Question
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.kubernetes.discovery import Discovery
from hedgerow_adapters.kubernetes.live_reads import ListingError, UnknownResourceError, list_transformed
from hedgerow_adapters.kubernetes.questions import Questions
from hedgerow_adapters.protocol.responses import missing_permission, status_error
from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport, TransportError
from hedgerow_adapters.simulation import Imagined
from hedgerow_entrypoints.cli.planning import AsWatched, Situation
from hedgerow_entrypoints.cli.worlds import connected
from hedgerow_entrypoints.components.registry import NO_REMARKS, Remarks
from hedgerow_entrypoints.errors import CommandError, note

_NO_ACCESS: Final = frozenset({401, 403})


class WritingError(Exception):
    """Somebody tried to write through a connection that is for reading: a defect."""

    def __init__(self, request: Request) -> None:
        super().__init__(f"{request.method} {request.path} is not reading")


class OnlyReading:
    """A way to an API server on which nothing can be written, and whose failures end the command.

    A decision would take a read that fails for the state of the cluster, and plan what is to be said of it there; but
    it is the person at the terminal who may not read, or whose network is down.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        """The server's answer to a question.

        Raises:
            CommandError: there was none, or only that one may not ask.
            WritingError: it is no question.
        """
        if request.method != "GET":
            raise WritingError(request)
        try:
            response = await self._transport.send(request, timeout=timeout, may_send=may_send)
        except TransportError as lost:
            raise CommandError(str(lost)) from lost
        if response.status in _NO_ACCESS:
            raise CommandError(missing_permission(request, status_error(response)))
        return response

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        """Open a watch, as the server's own transport does."""
        return self._transport.stream(request, timeout=timeout)


class ClusterAccess(NamedTuple):
    """How to reach a cluster, and the namespaces to read."""

    kubeconfig: str | None
    """None: the one that kubectl would take."""
    context: str | None
    """None: the current one."""
    namespaces: Sequence[str] = ()
    """None: all."""


class LiveClusters:
    """Clusters for somebody who has no event loop and waits for each answer."""

    def __init__(
        self, runner: asyncio.Runner, transports: Mapping[Cluster, Transport], accesses: Mapping[Cluster, ClusterAccess]
    ) -> None:
        """Nothing has been asked yet.

        Args:
            runner: runs what has to be waited for.
            transports: the ways to the clusters.
            accesses: what may be seen of them.
        """
        self._runner = runner
        self._transports = {cluster: OnlyReading(transport) for cluster, transport in transports.items()}
        self._namespaces = {cluster: access.namespaces for cluster, access in accesses.items()}
        self._questions = Questions(self._transports, self._namespaces, hurried=False)
        self._discoveries = {cluster: Discovery(transport) for cluster, transport in self._transports.items()}

    def ask(self, question: Question) -> Answer:
        """What a cluster shows now.

        Raises:
            CommandError: it does not answer, or one may not ask.
        """
        return self._runner.run(self._questions.ask(question))

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        """As which resource a cluster serves a kind.

        Raises:
            CommandError: it does not answer, or one may not ask.
        """
        return self._runner.run(self._discoveries[cluster].look_up([kind]))[kind]

    def situation(self, controller: Controller[Any], now: datetime, remarks: Remarks = NO_REMARKS) -> Situation:
        """A controller before the clusters: what it watches is listed, everything else found out when it asks.

        Raises:
            CommandError: a cluster does not answer, or does not show what the controller watches.
        """
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for watch in controller.watches:
            try:
                stores[watch.cluster][watch.resource] = self._runner.run(self._store(controller, watch))
            except CommandError:
                if watch.required_for_sync:
                    raise
        snapshot = StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])
        questions = Questions(self._transports, self._namespaces, beyond=controller.owned is None, hurried=False)

        def ask(question: Question) -> Answer:
            return self._runner.run(questions.ask(question))

        surroundings = AsWatched(Imagined(ask, self.look_up, now, remarks.stored), controller, snapshot)
        return Situation(controller, snapshot, surroundings, remarks)

    async def _store(self, controller: Controller[Any], watch: Watch) -> ObjectStore:
        transport, store = (
            self._transports[watch.cluster],
            ObjectStore(index for index in controller.indexes if is_over(index, watch)),
        )
        try:
            for scope in visible_scopes(watch.resource, self._namespaces[watch.cluster], watch.namespace):
                for kept in await list_transformed(
                    transport,
                    watch.resource,
                    scope,
                    watch.transform,
                    metadata_only=watch.metadata_only,
                    label_selector=watch.label_selector,
                    field_selector=watch.field_selector,
                ):
                    store.put(kept)
        except UnknownResourceError as error:
            if not watch.may_be_absent:
                raise CommandError(str(error)) from error
            if watch.resource == controller.primary:
                note(f"note: the cluster does not know {watch.resource}")
        except ListingError as error:
            raise CommandError(str(error)) from error
        return store


@contextmanager
def live_clusters(accesses: Mapping[Cluster, ClusterAccess]) -> Iterator[LiveClusters]:
    """Connections to clusters; one connection serves both roles where they are at the same place.

    Raises:
        CommandError: a kubeconfig is of no use.
    """
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        opened: dict[tuple[str | None, str | None], Transport] = {}
        try:
            for access in accesses.values():
                if access[:2] not in opened:
                    opened[access[:2]] = runner.run(_entered(stack, access))
            transports = {cluster: opened[access[:2]] for cluster, access in accesses.items()}
            yield LiveClusters(runner, transports, accesses)
        finally:
            runner.run(stack.aclose())


async def _entered(stack: AsyncExitStack, access: ClusterAccess) -> Transport:
    return await stack.enter_async_context(connected(access.kubeconfig, access.context))
