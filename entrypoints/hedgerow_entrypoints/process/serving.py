"""What a process needs to know of the webhooks that it serves."""

from collections.abc import Sequence

from hedgerow.admission import Webhook
from hedgerow.machinery.configuration.process import WebhookEndpoint
from hedgerow_adapters.listening.connections import FileBudget
from hedgerow_adapters.probes import Checks
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_entrypoints.process.probing import Reader


class Serving:
    """The webhooks of a process, before, while and after they are served; this one serves none."""

    views: Sequence[Reader] = ()
    """What has to be complete before webhooks can decide."""
    connections = 0
    """How many connections the listener wants to keep."""

    @property
    def checks(self) -> Checks:
        """What has to be ready."""
        return {}

    async def start(self, files: FileBudget) -> None:
        """Serve the webhooks from now on, within the files of all listeners of the process.

        Raises:
            CommandError: there is no usable certificate, or the address cannot be listened on.
        """

    async def settle(self) -> None:
        """Wait until everything that webhooks read is known, so that none has to wait for it."""

    def leave(self) -> None:
        """Fail readiness from now on, and answer for the configured time all the same."""

    async def end(self) -> None:
        """Stop to serve: after `leave` when its time is over, otherwise at once; nothing happens the second time."""


def serving(webhooks: Sequence[Webhook], endpoint: WebhookEndpoint, caches: Caches, metrics: RuntimeMetrics) -> Serving:
    """What serves the enabled webhooks, which read from caches that do not run yet."""
    if not webhooks:
        return Serving()
    # A server of webhooks is slow to import, and many processes have none.
    from hedgerow_entrypoints.process.admission import Admission  # noqa: PLC0415

    return Admission(webhooks, endpoint, caches, metrics)
