"""One component as a process: how its parts are wired, and in which order they start and stop.

Start: connections, probes and metrics, caches, leader election, then the controllers' workers. Stop: the workers finish
what they are at, then the lease is given back. A lost lease closes the gate before every write and ends the process.
Source: managed-resources §4.2, §4.3.
"""

import asyncio
import contextlib
import os
import random
import signal
import socket
import uuid
from collections.abc import Sequence
from typing import Any, Final

from returns.result import Failure

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.configuration import ClientConnection, ResourceManagerConfiguration
from hedgerow_adapters.kubernetes.credentials import Connection, load_connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.leader_election import ElectionEvent, EventKind, LeaderElector, LeadershipLostError, Timings
from hedgerow_adapters.probes import ListenError
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.runner import EVERYWHERE, ControllerRunner
from hedgerow_adapters.telemetry import ControllerTelemetry, RuntimeMetrics, get_logger
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.probing import probes

GRACE: Final = 5.0
"""Seconds that work in progress gets after a signal, and after that the return of the lease."""

LAST_EVENTS: Final = 1.0
"""Seconds that events get after that."""


class Process:
    """A component at work: connections, caches, election, workers, probes."""

    def __init__(
        self, component: str, configuration: ResourceManagerConfiguration, controllers: Sequence[Controller[Any]]
    ) -> None:
        self._component = component
        self._configuration = configuration
        self._controllers = controllers
        self._identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        self._metrics = RuntimeMetrics()
        self._log = get_logger(component)
        self._recorders: list[EventRecorder] = []
        self._told: ElectionEvent | None = None
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Work until told to stop.

        Raises:
            CommandError: it could not start, or lost its lease.
        """
        self._listen_for_signals()
        async with contextlib.AsyncExitStack() as stack:
            source, target, election = await self._transports(stack)
            elector = self._elector(election)
            runners = [self._runner(controller, target, elector) for controller in self._controllers]
            await self._serve_probes(stack, source, runners)
            await self._work(elector, runners)

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

    async def _transports(self, stack: contextlib.AsyncExitStack) -> tuple[HttpTransport, HttpTransport, HttpTransport]:
        """To the source cluster, to the target cluster, and one for the lease, which must not wait behind others."""
        source = await _connection(self._configuration.source)
        source_transport = await stack.enter_async_context(self._transport(source, self._configuration.source))
        election = await stack.enter_async_context(HttpTransport(source, on_request=self._metrics.request_sent))
        if self._configuration.target is None:
            return source_transport, source_transport, election
        target = await _connection(self._configuration.target)
        target_transport = await stack.enter_async_context(self._transport(target, self._configuration.target))
        return source_transport, target_transport, election

    def _transport(self, connection: Connection, settings: ClientConnection) -> HttpTransport:
        return HttpTransport(
            connection,
            qps=settings.qps if settings.throttled else None,
            burst=settings.burst if settings.throttled else None,
            on_request=self._metrics.request_sent,
            on_outage=lambda problem: self._log.error("API server is unreachable, trying again", error=problem),
            on_recovery=lambda: self._log.info("API server is reachable again"),
        )

    def _elector(self, transport: HttpTransport) -> LeaderElector | None:
        settings = self._configuration.leader_election
        if not settings.leader_elect:
            return None
        timings = Timings(
            settings.lease_duration.total_seconds(),
            settings.renew_deadline.total_seconds(),
            settings.retry_period.total_seconds(),
        )
        lease = ObjectKey(settings.resource_namespace, settings.resource_name)
        self._metrics.leads(settings.resource_name, is_leading=False)
        return LeaderElector(transport, lease, self._identity, timings, on_event=self._tell_of_election)

    def _tell_of_election(self, event: ElectionEvent) -> None:
        """Count and log an event; a problem that stays the same, as a long outage is, is worth one line."""
        lease = self._configuration.leader_election.resource_name
        match event.kind:
            case EventKind.LEADING:
                self._metrics.leads(lease, is_leading=True)
            case EventKind.LOST | EventKind.RELEASED | EventKind.ABANDONED:
                self._metrics.leads(lease, is_leading=False)
        worrying = event.kind in {EventKind.LOST, EventKind.FORBIDDEN, EventKind.FAILED}
        tell = self._log.error if worrying else self._log.info
        if event == self._told:
            tell = self._log.debug
        self._told = event
        tell("Leader election", what=event.kind.value, detail=event.detail)

    def _runner(
        self, controller: Controller[Any], transport: HttpTransport, elector: LeaderElector | None
    ) -> ControllerRunner:
        settings = self._configuration.target or self._configuration.source
        may_write = elector.may_write if elector else lambda: True
        recorder = EventRecorder(
            transport,
            component=controller.name,
            instance=self._identity,
            may_write=may_write,
            on_refusal=lambda problem: self._log.warning("Event was not recorded", error=problem),
        )
        self._recorders.append(recorder)
        return ControllerRunner(
            controller,
            transport,
            random=random.random,
            recorder=recorder,
            observer=ControllerTelemetry(controller, self._metrics),
            may_write=may_write,
            namespaces=settings.namespaces or EVERYWHERE,
            resync_period=settings.cache_resync_period.total_seconds(),
        )

    async def _serve_probes(
        self, stack: contextlib.AsyncExitStack, source: Transport, runners: Sequence[ControllerRunner]
    ) -> None:
        separate = self._configuration.target is not None
        try:
            await stack.enter_async_context(
                probes(self._configuration.server, self._metrics, source, runners, separate_target=separate)
            )
        except ListenError as error:
            raise CommandError(str(error)) from error

    async def _work(self, elector: LeaderElector | None, runners: Sequence[ControllerRunner]) -> None:
        """Run everything until a signal comes, the lease is lost, or a part ends by itself, which none should."""
        parts = [asyncio.create_task(runner.run()) for runner in runners]
        parts += [asyncio.create_task(recorder.run()) for recorder in self._recorders]
        if elector is not None:
            parts.append(asyncio.create_task(elector.run()))
        beginning = asyncio.create_task(self._begin(elector, runners))
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({stop, *parts}, return_when=asyncio.FIRST_COMPLETED)
            if self._stop.is_set():
                await asyncio.gather(*(runner.drain(GRACE) for runner in runners))
                await self._send_last_events()
                if elector is not None:
                    await self._release(elector)
        finally:
            for task in (beginning, stop, *parts):
                task.cancel()
            ends = await asyncio.gather(*parts, return_exceptions=True)
        for end in ends:
            if isinstance(end, LeadershipLostError):
                if self._stop.is_set():
                    continue  # the lease was to be given back anyway
                raise CommandError(str(end))
            if isinstance(end, Exception):
                raise end
        self._log.info("Stopped")

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
        for runner in runners:
            await runner.synced.wait()
            watched = ", ".join(str(watch.resource) for watch in runner.controller.watches)
            role = "as the leader" if elector else "without leader election"
            self._log.info(f"Controller {runner.controller.name} works {role} and watches {watched}")


async def _connection(settings: ClientConnection) -> Connection:
    connection = await load_connection(settings.kubeconfig)
    if isinstance(connection, Failure):
        raise CommandError(str(connection.failure()))
    return connection.unwrap()
