"""The high availability webhook, served over HTTPS by a process of its own that needs no cluster.

Takes a folder with the serving certificate; prints the port; ends with its standard input.
"""

import asyncio
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.deployment import namespace
from hedgerow.admission import Webhook
from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.high_availability import webhook
from hedgerow.machinery.questions import Answer, Question
from hedgerow_adapters.admission.certificates import Certificates
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.reviewer import Reviewer, View
from hedgerow_adapters.admission.server import AdmissionServer
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot
from hedgerow_adapters.listening.accepting import Listener
from hedgerow_adapters.telemetry.logs import configure_logs, get_logger
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.webhooks import AdmissionTelemetry, WebhookMetrics

CONFIG: Final = HighAvailabilityConfig(not_ready_seconds=60, unreachable_seconds=60)


class Settled:
    """A view that is complete: of one Namespace, without autoscalers."""

    def __init__(self, served: Webhook) -> None:
        stores = {
            read.resource: ObjectStore(index for index in served.indexes if index.resource == read.resource)
            for read in served.reads
        }
        stores[served.reads[0].resource].put(served.reads[0].transform(namespace()))
        self.snapshot = StoreSnapshot(stores, {})

    async def completed(self) -> None:
        """It is."""


async def _nobody(question: Question) -> Answer:
    raise AssertionError(f"nobody can answer {question}")


async def serve(folder: Path) -> None:
    """Serve until nothing more can be read."""
    configure_logs("error", "json")
    served = webhook(CONFIG)
    metrics = WebhookMetrics(RuntimeMetrics().registry, [served.path])
    observer = AdmissionTelemetry(metrics, get_logger("webhooks"), time.monotonic)
    view: View = Settled(served)
    exchange = Exchange(Reviewer([served], lambda _webhook: view, _nobody, observer), observer)
    certificates = Certificates(folder, observer)
    server = AdmissionServer(Listener("127.0.0.1", 0), certificates, exchange, observer=observer)
    async with server.serving() as port:
        print(port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Serve on the event loop that the command would have."""
    serving = serve(Path(sys.argv[1]))
    try:
        import uvloop  # noqa: PLC0415 -- an optional extra
    except ImportError:
        asyncio.run(serving)
    else:
        uvloop.run(serving)
