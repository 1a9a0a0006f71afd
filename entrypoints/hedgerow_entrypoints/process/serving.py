"""What a process needs to know of the webhooks that it serves, and the process that serves none.

A server of webhooks is much to import, so that a process without webhooks does without.
"""

from collections.abc import Sequence
from typing import Protocol

from hedgerow.admission import Webhook
from hedgerow.machinery.configuration.process import WebhookEndpoint
from hedgerow_adapters.listening import FileBudget
from hedgerow_adapters.probes import Checks
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.telemetry import RuntimeMetrics
from hedgerow_entrypoints.process.probing import Reader


class Serving(Protocol):
    """The webhooks of a process, before, while and after they are served."""

    @property
    def views(self) -> Sequence[Reader]:
        """What has to be complete before webhooks can decide."""
        ...

    @property
    def checks(self) -> Checks:
        """What has to be ready."""
        ...

    @property
    def connections(self) -> int:
        """How many connections its listener wants to keep."""
        ...

    async def start(self, files: FileBudget) -> None:
        """Serve the webhooks from now on.

        Args:
            files: of all listeners of the process.

        Raises:
            CommandError: they cannot be served.
        """
        ...

    async def settle(self) -> None:
        """Wait until everything that webhooks read is known."""
        ...

    def leave(self) -> None:
        """Fail readiness from now on, and answer for the configured time all the same."""
        ...

    async def end(self) -> None:
        """Stop to serve: after `leave` when its time is over, otherwise at once."""
        ...


class NothingServed:
    """No webhook at all: nothing is listened on, and nothing has to be ready."""

    views: Sequence[Reader] = ()
    connections: int = 0

    @property
    def checks(self) -> Checks:
        """Nothing."""
        return {}

    async def start(self, files: FileBudget) -> None:
        """Do nothing."""

    async def settle(self) -> None:
        """Do nothing."""

    def leave(self) -> None:
        """Do nothing."""

    async def end(self) -> None:
        """Do nothing."""


def serving(webhooks: Sequence[Webhook], endpoint: WebhookEndpoint, caches: Caches, metrics: RuntimeMetrics) -> Serving:
    """The part of a process that serves webhooks, which read from caches that do not run yet.

    Args:
        webhooks: those that are enabled, perhaps none.
        endpoint: where they are served, with which certificate.
        caches: what they read.
        metrics: of the process.
    """
    if not webhooks:
        return NothingServed()
    # A server of webhooks is slow to import.
    from hedgerow_entrypoints.process.admission import Admission  # noqa: PLC0415

    return Admission(webhooks, endpoint, caches, metrics)
