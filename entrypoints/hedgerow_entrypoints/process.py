"""One component as a process: how its parts are wired, and in which order they start and stop.

Start: connections, probes and metrics, webhooks, the id of the cluster, without which no controller can be declared,
caches, leader election, then the controllers' workers. Stop: the
process is no longer ready, the workers finish what they are at, the lease is given back, and last the webhooks answer
what they have been asked, while caches and connections are still in order: API servers go on asking until they have
noticed. A lost lease closes the gate before every write and ends the process.
Source: managed-resources §4.2, §4.3.
"""

import asyncio
import contextlib
import os
import random
import signal
import socket
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from returns.result import Failure

from hedgerow.admission import Webhook
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.turn import Turn
from hedgerow.resource_manager.configuration import ClientConnection, ResourceManagerConfiguration
from hedgerow_adapters.kubernetes.credentials import Connection, load_connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.leader_election import LeaderElector, LeadershipLostError
from hedgerow_adapters.probes import ListenError
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.right_of_way import RightOfWay
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.runtime.turns import Decide
from hedgerow_adapters.telemetry import ControllerTelemetry, RuntimeMetrics, get_logger
from hedgerow_entrypoints.candidacy import Candidacy
from hedgerow_entrypoints.collector import leave_out_what_exists
from hedgerow_entrypoints.crew import Crew
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.probing import probes
from hedgerow_entrypoints.serving import Serving, serving
from hedgerow_entrypoints.source_identity import determine_cluster_id

if TYPE_CHECKING:
    from hedgerow_entrypoints.recording import Recording

GRACE: Final = 5.0
"""Seconds that work in progress gets after a signal, and after that the return of the lease."""

LAST_EVENTS: Final = 1.0
"""Seconds that events get after that."""

Declare: TypeAlias = Callable[[str], Sequence[Controller[Any]]]
"""The controllers of a process in the order in which they start, given the id of the source cluster."""


class Process:
    """A component at work: connections, caches, election, workers, probes."""

    def __init__(
        self,
        component: str,
        configuration: ResourceManagerConfiguration,
        declare: Declare,
        webhooks: Sequence[Webhook],
        recording: "Recording | None" = None,
    ) -> None:
        self._component = component
        self._configuration = configuration
        self._declare = declare
        self._webhooks = webhooks
        self._recording = recording
        self._decide: Decide = Turn.plan
        self._identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        self._metrics = RuntimeMetrics()
        self._log = get_logger(component)
        self._recorders: list[EventRecorder] = []
        self._right_of_way = RightOfWay()
        self._candidacy: Candidacy | None = None
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Work until told to stop.

        Raises:
            CommandError: it could not start, or lost its lease.
        """
        self._listen_for_signals()
        async with contextlib.AsyncExitStack() as stack:
            clusters = await self._clusters(stack)
            elector = self._elector(clusters.source.urgent)
            caches = Caches(clusters, random=random.random)
            admission = serving(self._webhooks, self._configuration.server.webhooks, caches, self._metrics)
            crew = Crew()
            await self._serve_probes(stack, clusters, crew, admission)
            stack.push_async_callback(admission.end)
            await admission.start()
            cluster_id = await self._cluster_id(clusters.source)
            if cluster_id is not None:
                if self._recording is not None:
                    stack.push_async_callback(asyncio.to_thread, self._recording.end)
                    self._decide = self._recording.begin(cluster_id).decide
                crew.sign_on([self._runner(each, caches, elector) for each in self._declare(cluster_id)])
                await self._work(elector, caches, crew.runners, admission)
        self._log.info("Stopped")

    async def _cluster_id(self, source: Access) -> str | None:
        """The id of the source cluster; none if the process is told to stop before it is known."""
        asking = asyncio.create_task(
            determine_cluster_id(self._configuration.cluster_id, source, self._component, random.random)
        )
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({asking, stop}, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            for task in (asking, stop):
                task.cancel()
            await asyncio.gather(asking, stop, return_exceptions=True)

    def _listen_for_signals(self) -> None:
        """The first signal ends the process in good order, the second at once."""
        loop = asyncio.get_running_loop()

        def stop() -> None:
            if self._stop.is_set():
                os._exit(1)
            self._log.info("Stopping")
            self._stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)

    async def _clusters(self, stack: contextlib.AsyncExitStack) -> Clusters:
        source = await self._access(stack, self._configuration.source)
        if self._configuration.target is None:
            return Clusters.single(source)
        return Clusters(target=await self._access(stack, self._configuration.target), source=source)

    async def _access(self, stack: contextlib.AsyncExitStack, settings: ClientConnection) -> Access:
        connection = await self._connection(settings)
        transport = await stack.enter_async_context(self._transport(connection, settings))
        unthrottled = await stack.enter_async_context(HttpTransport(connection, on_request=self._metrics.request_sent))
        resync_period = settings.cache_resync_period.total_seconds()
        return Access(transport, settings.namespaces, resync_period, unthrottled)

    async def _connection(self, settings: ClientConnection) -> Connection:
        def tell(problem: str) -> None:
            self._log.error("Changed credentials are not usable, the last ones stay in use", error=problem)

        connection = await load_connection(settings.kubeconfig, on_unusable=tell)
        if isinstance(connection, Failure):
            raise CommandError(str(connection.failure()))
        return connection.unwrap()

    def _transport(self, connection: Connection, settings: ClientConnection) -> HttpTransport:
        return HttpTransport(
            connection,
            qps=settings.qps if settings.throttled else None,
            burst=settings.burst if settings.throttled else None,
            on_request=self._metrics.request_sent,
            on_outage=lambda problem: self._log.error("API server is unreachable, trying again", error=problem),
            on_recovery=lambda: self._log.info("API server is reachable again"),
        )

    def _elector(self, transport: Transport) -> LeaderElector | None:
        settings = self._configuration.leader_election
        if not settings.leader_elect:
            return None
        self._candidacy = Candidacy(
            self._component,
            self._identity,
            settings,
            transport,
            metrics=self._metrics,
            on_refusal=self._tell_of_refusal,
        )
        self._recorders.append(self._candidacy.recorder)
        return self._candidacy.elector

    def _tell_of_refusal(self, problem: str) -> None:
        self._log.warning("Event was not recorded", error=problem)

    def _runner(self, controller: Controller[Any], caches: Caches, elector: LeaderElector | None) -> ControllerRunner:
        may_write = elector.may_write if elector else lambda: True
        recorder = EventRecorder(
            caches.clusters.target.transport,
            source=caches.clusters.source.transport,
            component=controller.events_from or controller.name,
            instance=self._identity,
            may_write=may_write,
            on_refusal=self._tell_of_refusal,
        )
        self._recorders.append(recorder)
        return ControllerRunner(
            controller,
            caches,
            recorder=recorder,
            observer=ControllerTelemetry(controller, self._metrics),
            right_of_way=self._right_of_way,
            may_write=may_write,
            decide=self._decide,
        )

    async def _serve_probes(
        self,
        stack: contextlib.AsyncExitStack,
        clusters: Clusters,
        crew: Crew,
        admission: Serving,
    ) -> None:
        readers = [crew, *admission.views]
        try:
            await stack.enter_async_context(
                probes(self._configuration.server, self._metrics, clusters, readers, admission.checks)
            )
        except ListenError as error:
            raise CommandError(str(error)) from error

    async def _work(
        self,
        elector: LeaderElector | None,
        caches: Caches,
        runners: Sequence[ControllerRunner],
        admission: Serving,
    ) -> None:
        """Run everything until a signal comes, the lease is lost, or a part ends by itself, which none should."""
        parts = [asyncio.create_task(caches.run()), *(asyncio.create_task(runner.run()) for runner in runners)]
        parts += [asyncio.create_task(recorder.run()) for recorder in self._recorders]
        if elector is not None:
            parts.append(asyncio.create_task(elector.run()))
        beginnings = [asyncio.create_task(self._begin(elector, runners)), asyncio.create_task(admission.settle())]
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({stop, *parts}, return_when=asyncio.FIRST_COMPLETED)
            if self._stop.is_set():
                admission.leave()
                await asyncio.gather(*(runner.drain(GRACE) for runner in runners))
                if self._candidacy is not None:
                    self._candidacy.resign()
                await self._send_last_events()
                if elector is not None:
                    await self._release(elector)
                await admission.end()
        finally:
            for task in (*beginnings, stop, *parts):
                task.cancel()
            ends = await asyncio.gather(*parts, return_exceptions=True)
        for end in ends:
            if isinstance(end, LeadershipLostError):
                if self._stop.is_set():
                    continue  # the lease was to be given back anyway
                raise CommandError(str(end))
            if isinstance(end, Exception):
                raise end

    async def _send_last_events(self) -> None:
        """What is still to be recorded leaves while the lease allows it; an event is not worth a long wait."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_EVENTS):
                await asyncio.gather(*(recorder.emptied() for recorder in self._recorders))

    async def _release(self, elector: LeaderElector) -> None:
        """Give the lease back, so that a successor need not wait; if nobody answers in good time it runs out."""
        try:
            async with asyncio.timeout(GRACE):
                await elector.release()
        except TimeoutError:
            self._log.warning("The lease could not be given back, it runs out by itself")

    async def _begin(self, elector: LeaderElector | None, runners: Sequence[ControllerRunner]) -> None:
        """Let the workers begin once this process leads, and say what it does from now on."""
        if elector is not None and not await elector.wait_until_leading():
            return
        for runner in runners:
            runner.start()
        role = "as the leader" if elector else "without leader election"
        await asyncio.gather(*(self._announce(runner, role) for runner in runners))

    async def _announce(self, runner: ControllerRunner, role: str) -> None:
        """Say what a controller does once it has read what it needs; the others do not wait for it."""
        await runner.synced.wait()
        leave_out_what_exists()
        watched = ", ".join(str(watch.resource) for watch in runner.controller.watches)
        what = f" and watches {watched}" if watched else ""
        self._log.info(f"Controller {runner.controller.name} works {role}{what}")
