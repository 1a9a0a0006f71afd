"""The log lines, the metric and the Events of a leader election, in the words of client-go.

Does not decide who leads.

Source: managed-resources §4.3.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from hedgerow.api.kubernetes import LEASES
from hedgerow.machinery.configuration.process import LeaderElection
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Event
from hedgerow_adapters.leader_election.election import Timings
from hedgerow_adapters.leader_election.elector import ElectionEvent, EventKind
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.runtime.controller_set import Elector
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.troubles import Repetition

REASON: Final = "LeaderElection"
ACTION: Final = "Elect"
_GONE: Final = {EventKind.LOST, EventKind.RELEASED, EventKind.ABANDONED}
_TROUBLES: Final = {EventKind.FORBIDDEN, EventKind.FAILED}


class ElectionEvents:
    """One process that competes for the Lease of its component."""

    def __init__(
        self,
        component: str,
        identity: str,
        settings: LeaderElection,
        elect: Callable[..., Elector],
        *,
        events: Transport,
        metrics: RuntimeMetrics,
        on_refusal: Callable[[str], None],
    ) -> None:
        """A candidate that has not asked for anything yet; `elect` makes its elector, and is given `on_event`."""
        self._lease = ObjectKey(settings.resource_namespace, settings.resource_name)
        self._identity = identity
        self._metrics = metrics
        self._log = get_logger(component)
        self._clock = asyncio.get_running_loop().time
        self._repetition = Repetition()
        self._troubles: set[ElectionEvent] = set()
        times = (settings.lease_duration, settings.renew_deadline, settings.retry_period)
        timings = Timings(*(time.total_seconds() for time in times))
        self.elector: Final = elect(self._lease, identity, timings, on_event=self._tell)
        may_write = self.elector.may_write
        self.recorder: Final = EventRecorder(
            events, component=component, instance=identity, may_write=may_write, action=ACTION, on_refusal=on_refusal
        )
        metrics.leads(self._lease.name, is_leading=False)

    def resign(self) -> None:
        """Announce, while the lease still allows it, that this process leads no more, if it did.

        A leader that loses its lease cannot: it may not write. Who comes next is told by that one's own Event.
        """
        if self.elector.may_write():
            self._record("stopped leading")

    def _tell(self, event: ElectionEvent) -> None:
        """Count, log and record an event; of a problem that stays the same people are reminded now and then."""
        if event.kind is EventKind.LEADING:
            self._metrics.leads(self._lease.name, is_leading=True)
            self._record("became leader")
        elif event.kind in _GONE:
            self._metrics.leads(self._lease.name, is_leading=False)
        is_trouble = event.kind in {EventKind.LOST, *_TROUBLES}
        message = Message.ELECTION_TROUBLE if is_trouble else Message.LEADER_ELECTION
        self._log.tell(
            message, again=not self._is_news(event), lease=self._lease, what=event.kind.value, detail=event.detail
        )

    def _is_news(self, event: ElectionEvent) -> bool:
        if event.kind in _TROUBLES:
            self._troubles.add(event)
            return self._repetition.is_news(event, self._clock())
        if event.kind is EventKind.RECOVERED:
            over, self._troubles = self._troubles, set()
            return bool([trouble for trouble in over if self._repetition.ended(trouble)])
        return True

    def _record(self, what: str) -> None:
        note = f"{self._identity} {what}"
        self.recorder.record([Event(LEASES, self._lease, self.elector.lease_uid, "Normal", REASON, note)])
