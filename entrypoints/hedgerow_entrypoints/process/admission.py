"""The webhooks of a process: what they read, where they are served, and whether they are ready.

Expected flow: made before the caches run, `start` once probes are served, `settle` in a task; `leave` when the process
is told to end, and then `end`, which returns after the last answer. Guarantees: webhooks are served on every replica,
whoever leads, and before caches are complete, for which a review waits.

Source: webhooks-and-tokens §3.1, managed-resources §4.2, §4.3.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hedgerow.admission import Webhook
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.configuration.process import WebhookEndpoint
from hedgerow_adapters.admission.certificates import CertificateError, Certificates, default_folder
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.reviewer import Reviewer
from hedgerow_adapters.admission.server import AdmissionServer, Limits, ServingCertificate
from hedgerow_adapters.kubernetes.live_reads import Questions
from hedgerow_adapters.listening.accepting import Listener, ListenError
from hedgerow_adapters.listening.connections import FileBudget
from hedgerow_adapters.probes import Check, SharedCheck
from hedgerow_adapters.runtime.caches import Caches, View
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.troubles import ReadingTelemetry
from hedgerow_adapters.telemetry.webhooks import AdmissionTelemetry, WebhookMetrics
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.process.memory import leave_out_what_exists

if TYPE_CHECKING:
    from hedgerow_entrypoints.process.provisioning import Provisioning

READER: Final = "webhooks"
"""Stands in for the name of a controller in metrics and logs of caches."""


class Admission:
    """The enabled webhooks, before, while and after they are served."""

    def __init__(
        self,
        webhooks: Sequence[Webhook],
        endpoint: WebhookEndpoint,
        caches: Caches,
        metrics: RuntimeMetrics,
        *,
        leads: Callable[[], bool],
        instance: str,
    ) -> None:
        """Webhooks that nobody can ask yet; `leads` tells whether this replica does, whose events name an instance."""
        self._log = get_logger(READER)
        self._caches = caches
        self._leads = leads
        self._instance = instance
        self._provisioning: Provisioning | None = None
        self._webhooks = webhooks
        self._endpoint = endpoint
        self._client_authorities = Path(endpoint.tls.client_ca_file) if endpoint.tls.client_ca_file else None
        paths = [webhook.path for webhook in webhooks]
        self._observer = AdmissionTelemetry(WebhookMetrics(metrics.registry, paths), self._log, time.monotonic)
        self._metrics = metrics
        self.views: Final = list[View]()
        """What has to be complete before webhooks can decide."""
        clusters = caches.clusters
        questions = Questions(
            {cluster: clusters.access(cluster).live_reads for cluster in Cluster},
            {cluster: clusters.access(cluster).namespaces for cluster in Cluster},
            lacks=lambda cluster, resource: caches.discoveries[cluster].lacks(resource),
        )
        reviewer = Reviewer(webhooks, lambda webhook: self._view(webhook, caches), questions.ask, self._observer)
        self._exchange = Exchange(reviewer, self._observer)
        self._limits = Limits(farewell=endpoint.shutdown_delay.total_seconds())
        self.connections: Final = self._limits.connections
        self._server: AdmissionServer | None = None
        self._check_server: Check | None = None
        self._serving = contextlib.AsyncExitStack()
        self._is_leaving = False

    async def start(self, files: FileBudget) -> None:
        """Serve the webhooks from now on, within the files of all listeners of the process.

        Raises CommandError if there is no usable certificate, or the address cannot be listened on.
        """
        where = Listener(self._endpoint.bind_address, self._endpoint.port, "server.webhooks")
        try:
            certificate = self._certificate()
            self._server = server = AdmissionServer(
                where, certificate, self._exchange, limits=self._limits, files=files, observer=self._observer
            )
            await self._serving.enter_async_context(server.serving())
        except ListenError as error:
            raise CommandError(f"cannot serve webhooks: {error}", field=error.field) from error
        except CertificateError as error:
            authorities = self._client_authorities
            name = "clientCAFile" if authorities and str(authorities) in str(error) else "serverCertDir"
            raise CommandError(f"cannot serve webhooks: {error}", field=f"server.webhooks.tls.{name}") from error
        self._check_server = SharedCheck(server.check)
        names = sorted({webhook.name for webhook in self._webhooks})
        self._log.tell(Message.SERVING_WEBHOOKS, address=where, webhooks=names)

    def _certificate(self) -> ServingCertificate:
        """The certificate out of files, or the one that this process makes from now on."""
        tls, authorities = self._endpoint.tls, self._client_authorities
        if not tls.is_self_provided:
            folder = Path(tls.server_cert_dir) if tls.server_cert_dir else default_folder()
            return Certificates(folder, self._observer, client_authorities=authorities)
        # Most processes find their certificate in files.
        from hedgerow_entrypoints.process.provisioning import Provisioning  # noqa: PLC0415

        self._provisioning = provisioning = Provisioning(
            tls.self_provision, self._observer, client_authorities=authorities
        )
        provisioning.start(self._caches, self._metrics, leads=self._leads, instance=self._instance)
        self._serving.callback(provisioning.end)
        return provisioning.certificate

    async def provision(self) -> None:
        """Wait for the end of the provisioning of certificates, which only a defect brings; raises that."""
        assert self._provisioning is not None  # noqa: S101 -- nobody waits otherwise
        await self._provisioning.ended()

    async def settle(self) -> None:
        """Wait until everything that webhooks read is known, so that none has to wait for it."""
        await asyncio.gather(*(view.completed() for view in self.views))
        self._reading.synced()
        leave_out_what_exists()

    def leave(self) -> None:
        """Fail readiness from now on, and answer for the configured time all the same."""
        self._is_leaving = True
        if self._server is not None:
            self._server.leave()

    async def end(self) -> None:
        """Stop to serve: after `leave` when its time is over, otherwise at once; nothing happens the second time."""
        await self._serving.aclose()

    @functools.cached_property
    def _reading(self) -> ReadingTelemetry:
        """The ears of all readers; where nobody reads, no metric says that somebody does."""
        return ReadingTelemetry(self._log, self._metrics.reading(READER))

    def _view(self, webhook: Webhook, caches: Caches) -> View:
        view = caches.reading(webhook.reads, webhook.indexes, self._reading)
        for resource, silence in view.silences():
            self._reading.keeps(resource, silence)
        self.views.append(view)
        return view

    async def check(self) -> str | None:
        """Why webhooks are not ready; none: they are."""
        if self._is_leaving:
            return "webhook server is shutting down"
        if self._check_server is None:
            return "webhook server has not been started yet"
        return await self._check_server()
