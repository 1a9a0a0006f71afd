"""The webhooks of a process: what they read, where they are served, and whether they are ready.

Expected flow: made before the caches run, `start` once probes are served, `settle` in a task; `leave` when the process
is told to end, and `end` when nobody is to be answered any more. Guarantees: webhooks are served on every replica,
whoever leads, and before caches are complete, for which a review waits.

Source: webhooks-and-tokens §3.1, managed-resources §4.2, §4.3.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hedgerow.admission import Webhook
from hedgerow.machinery.clusters import Cluster
from hedgerow.resource_manager.configuration import WebhookEndpoint
from hedgerow_adapters.admission import (
    AdmissionServer,
    CertificateError,
    Certificates,
    Exchange,
    Reviewer,
    default_folder,
)
from hedgerow_adapters.kubernetes.questions import Questions
from hedgerow_adapters.probes import Checks, Listener, ListenError
from hedgerow_adapters.runtime.caches import Caches, View
from hedgerow_adapters.telemetry import ReadingTelemetry, RuntimeMetrics, get_logger
from hedgerow_adapters.telemetry.webhooks import AdmissionTelemetry, WebhookMetrics
from hedgerow_entrypoints.collector import leave_out_what_exists
from hedgerow_entrypoints.errors import CommandError

READER: Final = "webhooks"
"""What stands in metrics and logs of caches where that of a controller has its name."""


class Admission:
    """The enabled webhooks, before, while and after they are served."""

    def __init__(
        self, webhooks: Sequence[Webhook], endpoint: WebhookEndpoint, caches: Caches, metrics: RuntimeMetrics
    ) -> None:
        """Webhooks that read from caches which do not run yet.

        Args:
            webhooks: those that are enabled.
            endpoint: where they are served, with which certificate.
            caches: what they read.
            metrics: of the process.
        """
        self._log = get_logger(READER)
        self._webhooks = webhooks
        self._endpoint = endpoint
        paths = [webhook.path for webhook in webhooks]
        self._observer = AdmissionTelemetry(WebhookMetrics(metrics.registry, paths), self._log, time.monotonic)
        self._metrics = metrics
        self._views: list[View] = []
        clusters = caches.clusters
        questions = Questions(
            {cluster: clusters.access(cluster).urgent for cluster in Cluster},
            {cluster: clusters.access(cluster).namespaces for cluster in Cluster},
        )
        reviewer = Reviewer(webhooks, lambda webhook: self._view(webhook, caches), questions.ask, self._observer)
        self._exchange = Exchange(reviewer, self._observer)
        self._server: AdmissionServer | None = None
        self._serving = contextlib.AsyncExitStack()
        self._is_leaving = False

    @property
    def views(self) -> Sequence[View]:
        """What has to be complete before webhooks can decide."""
        return self._views

    @property
    def checks(self) -> Checks:
        """What has to be ready."""
        return {"webhook-server": self._check}

    async def start(self) -> None:
        """Serve the webhooks from now on.

        Raises:
            CommandError: there is no usable certificate, or the address cannot be listened on.
        """
        stated = self._endpoint.server_cert_dir
        folder = Path(stated) if stated else default_folder()
        where = Listener(self._endpoint.bind_address, self._endpoint.port, "server.webhooks")
        try:
            certificates = Certificates.of(folder, self._observer)
            server = AdmissionServer(where, certificates, self._exchange, observer=self._observer)
            await self._serving.enter_async_context(server.serving())
        except (CertificateError, ListenError) as error:
            raise CommandError(f"cannot serve webhooks: {error}") from error
        self._server = server
        self._log.info("Serving webhooks", address=where, webhooks=sorted({webhook.name for webhook in self._webhooks}))

    async def settle(self) -> None:
        """Wait until everything that webhooks read is known, so that none has to wait for it."""
        await asyncio.gather(*(view.completed() for view in self._views))
        self._reading.synced(time.time())
        leave_out_what_exists()

    def leave(self) -> None:
        """Say from now on that others should be asked; who asks all the same is answered until `end`."""
        self._is_leaving = True

    async def end(self) -> None:
        """Answer what has been asked, and then nobody any more; nothing happens the second time."""
        await self._serving.aclose()

    @functools.cached_property
    def _reading(self) -> ReadingTelemetry:
        """The ears of all readers; where nobody reads, no metric says that somebody does."""
        return ReadingTelemetry(self._log, self._metrics.reading(READER))

    def _view(self, webhook: Webhook, caches: Caches) -> View:
        view = caches.reading(webhook.reads, webhook.indexes, self._reading)
        for resource, silence in view.silences():
            self._reading.keeps(resource, silence)
        self._views.append(view)
        return view

    async def _check(self) -> str | None:
        if self._is_leaving:
            return "webhook server is shutting down"
        if self._server is None:
            return "webhook server has not been started yet"
        return await self._server.check()
