"""One component as a process: how its parts are wired, and in which order they start and stop.

Start: connections, probes and metrics, webhooks, the id of the cluster, without which no controller can be declared,
caches, leader election, then the controllers' workers. Stop: the process is no longer ready. The workers finish what
they are at, and the lease is given back; at the same time webhooks go on to answer for the configured time, while
caches and connections are still in order: API servers go on asking until they have noticed. A stop has a deadline,
whatever hangs. A lost lease closes the gate before every write and ends the process. The lease is renewed on a thread
of its own.

Source: managed-resources §4.2, §4.3; decision A-12.
"""

import asyncio
import contextlib
import os
import random
import shutil
import signal
import socket
import threading
import uuid
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from returns.result import Failure

from hedgerow.admission import Webhook
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.configuration.process import ClientConnection
from hedgerow.machinery.controller import Controller
from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.credentials import Connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.leader_election.elector import LeadershipLostError
from hedgerow_adapters.leader_election.elector_thread import ElectorThread
from hedgerow_adapters.listening.accepting import ListenError
from hedgerow_adapters.listening.connections import FileBudget
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.clusters import Access, AnotherClusterError, Clusters, SameCluster
from hedgerow_adapters.runtime.controller_set import ControllerSet
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.runtime.steps import Render, no_charts
from hedgerow_adapters.runtime.turns import Decide, reconciled
from hedgerow_adapters.telemetry.controller import ControllerTelemetry
from hedgerow_adapters.telemetry.credentials import CredentialsTelemetry
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.process.election_events import ElectionEvents
from hedgerow_entrypoints.process.memory import give_memory_back, keep_searches_short, leave_out_what_exists
from hedgerow_entrypoints.process.probing import CONNECTIONS, probes
from hedgerow_entrypoints.process.settings import ProcessSettings
from hedgerow_entrypoints.process.source_identity import are_one_cluster, determine_cluster_id
from hedgerow_entrypoints.process.stated_namespaces import warn_of_missing_namespaces, with_readable_namespaces
from hedgerow_entrypoints.process.stuck import end_stuck_process

if TYPE_CHECKING:
    from hedgerow_entrypoints.process.admission import Admission
    from hedgerow_entrypoints.process.recording import Recording

STOP_WITHIN: Final = 15.0
"""Seconds from a signal to the end of the process, besides the time for which webhooks answer: the longest that each
step of a stop may take, and some to spare."""


class Process:
    """A component at work: connections, caches, election, workers, probes."""

    def __init__(
        self,
        component: str,
        settings: ProcessSettings,
        declare: Callable[[str], Sequence[Controller[Any]]],
        webhooks: Sequence[Webhook],
        recording: "Recording | None" = None,
    ) -> None:
        """A process that has not begun; `declare` tells its controllers, given the id of the source cluster."""
        self._component = component
        self._settings = settings
        self._declare = declare
        self._webhooks = webhooks
        self._recording = recording
        self._decide: Decide = reconciled
        self._identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        self._metrics = RuntimeMetrics()
        self._log = get_logger(component)
        self._same_clusters: list[SameCluster] = []
        self._accesses: dict[str, Access] = {}
        """The ways to the source and the target."""
        self._election: ElectionEvents | None = None
        self._controllers: ControllerSet | None = None
        """None: the controllers are not declared yet."""
        self._stop = asyncio.Event()
        self._is_told = False
        """Whether a signal has come; the work stops for other reasons as well."""
        self._has_deadline = False

    async def run(self) -> None:
        """Work until told to stop; raises CommandError if it cannot start, loses its lease, or is led elsewhere."""
        self._listen_for_signals()
        async with contextlib.AsyncExitStack() as stack:
            try:
                await self._run(stack)
            finally:
                self._limit_the_stop()
        self._log.tell(Message.STOPPED)

    async def _run(self, stack: contextlib.AsyncExitStack) -> None:
        stack.callback(asyncio.create_task(give_memory_back()).cancel)
        stack.callback(asyncio.create_task(keep_searches_short()).cancel)
        clusters = await self._clusters(stack)
        if self._settings.leader_election.leader_elect:
            self._election = await self._compete(clusters.source)
        caches = Caches(clusters, random=random.random, render=self._charts(stack))
        admission = self._admission(caches)
        files = FileBudget.of(CONNECTIONS + (admission.connections if admission else 0))
        readers = [self._is_complete, *(view.is_complete for view in (admission.views if admission else ()))]
        checks = {"webhook-server": admission.check} if admission else {}
        served = probes(self._settings.server, self._metrics, clusters, readers, checks=checks, files=files)
        try:
            await stack.enter_async_context(served)
        except ListenError as error:
            raise CommandError(str(error), field=error.field) from error
        if admission is not None:
            stack.push_async_callback(admission.end)
            await admission.start(files)
        cluster_id = await self._cluster_id(clusters)
        if cluster_id is not None:
            if self._recording is not None:
                stack.push_async_callback(asyncio.to_thread, self._recording.end)
                self._decide = self._recording.begin(cluster_id).decide
            # To declare controllers imports them, which takes long enough for a probe to notice.
            declared = await asyncio.to_thread(self._declare, cluster_id)
            await self._work(declared, caches, admission)

    def _charts(self, stack: contextlib.AsyncExitStack) -> Render:
        if self._settings.helm is None:
            return no_charts
        if shutil.which(self._settings.helm.binary) is None:
            problem = f"{self._settings.helm.binary} is not installed, or not executable"
            self._log.tell(Message.NO_HELM, field="helm.binary", error=problem)
        # Most processes have no charts.
        from hedgerow_adapters.charts.helm import remove_leftovers  # noqa: PLC0415
        from hedgerow_adapters.charts.renderer import chart_renderer  # noqa: PLC0415

        remove_leftovers()
        return stack.enter_context(chart_renderer(self._settings.helm)).render

    def _admission(self, caches: Caches) -> "Admission | None":
        if not self._webhooks:
            return None
        # A server of webhooks is slow to import, and many processes have none.
        from hedgerow_entrypoints.process.admission import Admission  # noqa: PLC0415

        elector = self._election.elector if self._election else None
        return Admission(
            self._webhooks,
            self._settings.server.webhooks,
            caches,
            self._metrics,
            leads=elector.may_write if elector else lambda: True,
            instance=self._identity,
        )

    def _is_complete(self, cluster: Cluster) -> bool:
        """True if everything that the controllers read of a cluster has been listed."""
        work = self._controllers
        return work is not None and all(runner.view.is_complete(cluster) for runner in work.runners)

    async def _cluster_id(self, clusters: Clusters) -> str | None:
        """The id of the source cluster; none if the process is told to stop before it is known."""
        asking = asyncio.create_task(self._identify(clusters))
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({asking, stop}, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            for task in (asking, stop):
                task.cancel()
            await asyncio.gather(asking, stop, return_exceptions=True)

    async def _identify(self, clusters: Clusters) -> str:
        """The id of the source cluster, which must not be the target as well where that has a problem."""
        asks, problem = (self._component, random.random), self._settings.problem_of_one_cluster
        if problem is not None and await are_one_cluster(clusters.source, clusters.target, *asks):
            raise CommandError(problem.body, field=problem.path)
        return await determine_cluster_id(self._settings.cluster_id, clusters.source, *asks)

    def _listen_for_signals(self) -> None:
        """The first signal ends the process in good order, the second at once."""
        loop = asyncio.get_running_loop()

        def stop() -> None:
            if self._is_told:
                os._exit(1)
            self._is_told = True
            self._log.tell(Message.STOPPING)
            self._stop.set()
            self._limit_the_stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)

    def _limit_the_stop(self) -> None:
        """End the process from another thread if its stop hangs: Kubernetes would kill it soon after."""
        if self._has_deadline:
            return
        self._has_deadline = True
        delay = self._settings.server.webhooks.shutdown_delay.total_seconds()
        within = STOP_WITHIN + (delay if self._webhooks else 0)
        problem = f"the process has not stopped within {within:g} s"
        deadline = threading.Timer(within, end_stuck_process, (self._component, problem))
        deadline.daemon = True  # a process that stops in time does not wait for it
        deadline.start()

    async def _clusters(self, stack: contextlib.AsyncExitStack) -> Clusters:
        settings = self._settings
        connection = await self._connection(settings.source, settings.source_field)
        source = await self._access(stack, connection, settings.source, "source", settings.source_field)
        if settings.target is None:
            return Clusters.single(source)
        target = await self._connection(settings.target, settings.target_field)
        problem = settings.problem_of_one_cluster
        if problem is not None and target.server == connection.server:
            raise CommandError(problem.body, field=problem.path)
        access = await self._access(stack, target, settings.target, "target", settings.target_field)
        return Clusters(target=access, source=source)

    async def _access(
        self,
        stack: contextlib.AsyncExitStack,
        connection: Connection,
        settings: ClientConnection,
        name: str,
        field: str,
    ) -> Access:
        log = self._log.bind(connection=name, server=connection.server)
        credentials = CredentialsTelemetry(log.bind(field=field))

        def count(code: str, method: str, host: str) -> None:
            self._metrics.request_sent(code, method, host)
            credentials.heard(code)

        throttled = HttpTransport(
            connection,
            qps=settings.qps,
            burst=settings.burst,
            on_request=count,
            on_outage=lambda problem: log.tell(Message.SERVER_UNREACHABLE, error=problem),
            on_recovery=lambda: log.tell(Message.SERVER_REACHABLE),
        )
        others = (HttpTransport(connection, on_request=count) for _ in range(2))
        transport, unthrottled, for_webhooks = [await stack.enter_async_context(each) for each in (throttled, *others)]
        resync_period = settings.cache_resync_period.total_seconds()
        same_cluster = SameCluster(transport, name, on_forbidden=self._tell_of_unknown_cluster)
        self._same_clusters.append(same_cluster)
        access = Access(same_cluster, settings.namespaces, resync_period, unthrottled, for_webhooks)
        self._accesses[name] = access
        return access

    def _tell_of_unknown_cluster(self, connection: str) -> None:
        missing = "missing permission: get namespaces named kube-system"
        self._log.tell(Message.UNKNOWN_CLUSTER, connection=connection, error=missing)

    async def _connection(self, settings: ClientConnection, field: str, *, is_quiet: bool = False) -> Connection:
        def tell(problem: str) -> None:
            if not is_quiet:
                self._log.tell(Message.CREDENTIALS_UNUSABLE, field=field, error=problem)

        connection = await load_connection(settings.kubeconfig, on_unusable=tell)
        if isinstance(connection, Failure):
            raise CommandError(connection.failure(), field=field)
        return connection.unwrap()

    async def _compete(self, source: Access) -> ElectionEvents:
        """The election, which shares neither its thread nor its connection with anything else."""
        # Its own credentials as well: they are renewed on its thread, and the others tell if they are not usable.
        connection = await self._connection(self._settings.source, self._settings.source_field, is_quiet=True)
        transport = HttpTransport(connection, max_in_flight=1, on_request=self._metrics.request_sent)
        return ElectionEvents(
            self._component,
            self._identity,
            self._settings.leader_election,
            partial(ElectorThread, transport, on_stuck=partial(end_stuck_process, self._component)),
            events=source.urgent,
            metrics=self._metrics,
            on_refusal=lambda problem: self._log.tell(Message.EVENT_NOT_RECORDED, error=problem),
        )

    async def _work(self, declared: Sequence[Controller[Any]], caches: Caches, admission: "Admission | None") -> None:
        """Run everything until a signal comes, the lease is lost, or a part ends, which none should."""
        election = self._election
        self._controllers = work = ControllerSet(
            declared,
            caches,
            instance=self._identity,
            observer=partial(ControllerTelemetry, metrics=self._metrics),
            stop=self._stop,
            elector=election.elector if election else None,
            decide=self._decide,
        )
        if election is not None:
            work.recorders.append(election.recorder)

        async def last() -> None:
            if admission is not None:
                admission.leave()
                await admission.end()

        beside: list[Coroutine[Any, Any, None]] = [part.run() for part in self._same_clusters]
        if admission is not None and self._settings.server.webhooks.tls.is_self_provided:
            beside.append(admission.provision())
        passing = [
            *([admission.settle()] if admission else []),
            *(self._announce(runner) for runner in work.runners),
            *(
                warn_of_missing_namespaces(each, name, self._component)
                for name, each in with_readable_namespaces(self._accesses, declared)
            ),
        ]
        resign = election.resign if election else lambda: None
        try:
            await work.run(beside, passing=passing, on_end=self._limit_the_stop, last=last, before_release=resign)
        except ExceptionGroup as failed:
            ends = failed.subgroup((LeadershipLostError, AnotherClusterError))
            raise CommandError(str(ends.exceptions[0])) if ends else failed.exceptions[0] from None

    async def _announce(self, runner: ControllerRunner) -> None:
        """Say what a controller does once this process leads and it has read what it needs."""
        if self._election is not None and not await self._election.elector.wait_until_leading():
            return
        role = "leader" if self._election else "without leader election"
        await runner.synced.wait()
        leave_out_what_exists()
        watches = [str(watch.resource) for watch in runner.controller.watches]
        self._log.tell(Message.CONTROLLER_WORKS, controller=runner.controller.name, role=role, watches=watches)
