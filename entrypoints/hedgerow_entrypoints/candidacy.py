"""A process's part in the election of its component, and what people are told of it.

Decides how an election shows: in the log, in the metric, and in Events about the Lease, worded as client-go's users
know them. Who leads is decided elsewhere.

Source: managed-resources §4.3.
"""

from collections.abc import Callable
from typing import Final

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Event
from hedgerow.resource_manager.configuration import LeaderElection
from hedgerow_adapters.leader_election import LEASES, ElectionEvent, EventKind, LeaderElector, Timings
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.telemetry import RuntimeMetrics, get_logger

REASON: Final = "LeaderElection"
ACTION: Final = "Elect"
_GONE: Final = {EventKind.LOST, EventKind.RELEASED, EventKind.ABANDONED}
_WORRYING: Final = {EventKind.LOST, EventKind.FORBIDDEN, EventKind.FAILED}


class Candidacy:
    """One process that competes for the Lease of its component."""

    def __init__(
        self,
        component: str,
        identity: str,
        settings: LeaderElection,
        transport: Transport,
        *,
        metrics: RuntimeMetrics,
        on_refusal: Callable[[str], None],
    ) -> None:
        """A candidate that has not asked for anything yet.

        Args:
            component: who competes.
            identity: which process of it.
            settings: for which Lease, and for how long.
            transport: leads to the cluster of the Lease; nothing else must hold up what it carries.
            metrics: show whether this process leads.
            on_refusal: told why the API server did not record an Event, as a sentence.
        """
        self._lease = ObjectKey(settings.resource_namespace, settings.resource_name)
        self._identity = identity
        self._metrics = metrics
        self._log = get_logger(component)
        self._told: ElectionEvent | None = None
        self.elector: Final = LeaderElector(
            transport,
            self._lease,
            identity,
            Timings(
                settings.lease_duration.total_seconds(),
                settings.renew_deadline.total_seconds(),
                settings.retry_period.total_seconds(),
            ),
            on_event=self._tell,
        )
        self.recorder: Final = EventRecorder(
            transport,
            component=component,
            instance=identity,
            may_write=self.elector.may_write,
            action=ACTION,
            on_refusal=on_refusal,
        )
        metrics.leads(self._lease.name, is_leading=False)

    def resign(self) -> None:
        """Announce, while the lease still allows it, that this process leads no more, if it did.

        A leader that loses its lease cannot: it may not write. Who comes next is told by that one's own Event.
        """
        if self.elector.may_write():
            self._record("stopped leading")

    def _tell(self, event: ElectionEvent) -> None:
        """Count, log and record an event; a problem that stays the same, as a long outage is, is worth one line."""
        if event.kind is EventKind.LEADING:
            self._metrics.leads(self._lease.name, is_leading=True)
            self._record("became leader")
        elif event.kind in _GONE:
            self._metrics.leads(self._lease.name, is_leading=False)
        tell = self._log.error if event.kind in _WORRYING else self._log.info
        if event == self._told:
            tell = self._log.debug
        self._told = event
        tell("Leader election", what=event.kind.value, detail=event.detail)

    def _record(self, what: str) -> None:
        note = f"{self._identity} {what}"
        self.recorder.record([Event(LEASES, self._lease, self.elector.lease_uid, "Normal", REASON, note)])
