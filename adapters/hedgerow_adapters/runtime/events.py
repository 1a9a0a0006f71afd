"""Records Kubernetes Events (events.k8s.io/v1) beside the work, never in its way.

The same event is recorded once in ten minutes. An event that the server refuses is dropped; the next equal one is sent.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from hedgerow.api.kubernetes import EVENTS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.plan import Event
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.responses import missing_permission, status_error
from hedgerow_adapters.protocol.transport import Transport

REPEATED_AFTER: Final = 600.0
REMEMBERED: Final = 4096
WAITING: Final = 1000
LONGEST_NOTE: Final = 1024
LONGEST_INSTANCE: Final = 128
"""In bytes, as the API server counts both."""
LONGEST_NAME: Final = 200
"""Characters of the concerned object's name in the name of an event: the server adds some."""
CLUSTER_SCOPED_NAMESPACE: Final = "default"


class EventSink(Protocol):
    """Is told the events that plans ask for."""

    def record(self, events: Iterable[Event]) -> None:
        """Have events recorded."""


class EventRecorder:
    """Records events in the name of one part of this process."""

    def __init__(
        self,
        target: Transport,
        *,
        source: Transport | None = None,
        component: str,
        instance: str,
        may_write: Callable[[], bool],
        action: str = "Reconcile",
        on_refusal: Callable[[str], None] = lambda _problem: None,
    ) -> None:
        """A recorder that has recorded nothing yet. An event is recorded in the cluster of the object that it is about.

        Events name the `component`, `instance` as its process, and `action`, in CamelCase. `may_write` is asked before
        every write. `on_refusal` is told why the server did not record an event, as a sentence, but not of lost
        connections.
        """
        self._transports = {Cluster.TARGET: target, Cluster.SOURCE: source or target}
        self._on_refusal = on_refusal
        self._component = component
        self._instance = instance
        self._may_write = may_write
        self._action = action
        self._recent: OrderedDict[Event, float] = OrderedDict()
        self._queue: asyncio.Queue[Event] = asyncio.Queue(WAITING)

    def record(self, events: Iterable[Event]) -> None:
        """Have events recorded soon, those left out that were recorded a short while ago."""
        now = asyncio.get_running_loop().time()
        for event in events:
            # The oldest stands in front.
            while self._recent and (
                len(self._recent) >= REMEMBERED or now - next(iter(self._recent.values())) >= REPEATED_AFTER
            ):
                self._recent.popitem(last=False)
            if event not in self._recent and not self._queue.full():
                self._recent[event] = now
                self._queue.put_nowait(event)

    async def run(self) -> None:
        """Send what is to be recorded, until cancelled."""
        while True:
            event = await self._queue.get()
            try:
                if not await self._is_recorded(event):
                    self._recent.pop(event, None)
            finally:
                self._queue.task_done()

    async def emptied(self) -> None:
        """Return when everything that was to be recorded has been sent or given up; `run` has to go on meanwhile."""
        await self._queue.join()

    async def _is_recorded(self, event: Event) -> bool:
        namespace = event.key.namespace or CLUSTER_SCOPED_NAMESPACE
        try:
            request = requests.create(EVENTS, self._manifest(event, namespace), namespace)
            response = await self._transports[event.cluster].send(request, may_send=self._may_write)
            if not response.is_success:
                self._on_refusal(missing_permission(request, status_error(response)))
        except Exception:  # noqa: BLE001 -- no event is worth those that come after it
            return False
        return response.is_success

    def _manifest(self, event: Event, namespace: str) -> dict[str, Any]:
        regarding = {
            "apiVersion": event.resource.api_version,
            "kind": event.resource.kind,
            "name": event.key.name,
            "namespace": event.key.namespace,
            "uid": event.uid,
        }
        return {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"generateName": f"{_cut(event.key.name, LONGEST_NAME).rstrip('.-')}-", "namespace": namespace},
            "eventTime": utc_now().isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "type": event.type,
            "reason": event.reason,
            "action": self._action,
            "note": _cut(event.note, LONGEST_NOTE),
            "regarding": {name: value for name, value in regarding.items() if value},
            "reportingController": self._component,
            "reportingInstance": _cut(self._instance, LONGEST_INSTANCE),
        }


def _cut(text: str, longest: int) -> str:
    """As much of a text as so many bytes hold, whole characters only."""
    return text.encode(errors="replace")[:longest].decode(errors="ignore")
