"""What a process answers to probes: whether it is alive, whether it is ready.

Source: managed-resources §4.3.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.configuration.process import Server
from hedgerow_adapters.listening.accepting import listener
from hedgerow_adapters.listening.connections import FileBudget
from hedgerow_adapters.probes import LIMITS, Check, Checks, Endpoint, Ports, SharedCheck, ping, serve
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError
from hedgerow_adapters.runtime.clusters import Clusters
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.troubles import ListenerTelemetry

CONNECTIONS: Final = 2 * LIMITS.connections
"""Of both listeners."""
PATIENCE = 4.0
"""Seconds that the API server has to answer; kubelets give up after a few themselves."""


IsComplete: TypeAlias = Callable[[Cluster], bool]
"""Tells whether everything that a controller or webhook reads of a cluster has been listed."""


def probes(
    server: Server,
    metrics: RuntimeMetrics,
    clusters: Clusters,
    readers: Sequence[IsComplete],
    *,
    checks: Checks,
    files: FileBudget,
) -> AbstractAsyncContextManager[Ports]:
    """The servers for health, readiness and metrics, to be entered.

    Alive: the source cluster answers. Ready: the readers' caches are complete, those of another target as a check of
    their own, and the other checks pass.
    """
    roles = [tuple(Cluster)] if clusters.are_one else [(cluster,) for cluster in Cluster]
    ready = {f"{of[0].value}-informer-sync": _caches_are_complete(readers, of) for of in roles}
    return serve(
        health=listener(server.health_probes.bind_address, server.health_probes.port, "server.healthProbes"),
        metrics=listener(server.metrics.bind_address, server.metrics.port, "server.metrics"),
        endpoints=(
            Endpoint("healthz", {"ping": ping, "apiserver-healthz": SharedCheck(_is_healthy(clusters.source.urgent))}),
            Endpoint("readyz", {**ready, **checks}),
        ),
        exposition=metrics.exposition,
        on_problem=_tell,
        files=files,
        observer=ListenerTelemetry(get_logger("probes"), time.monotonic),
    )


def _is_healthy(transport: Transport) -> Check:
    async def check() -> str | None:
        try:
            response = await transport.send(Request("GET", "/healthz", accept="*/*"), timeout=PATIENCE)
        except TransportError as error:
            return str(error)
        if response.is_success:
            return None
        return f"failed talking to the source cluster's kube-apiserver (status code: {response.status})"

    return check


def _caches_are_complete(readers: Sequence[IsComplete], clusters: Sequence[Cluster]) -> Check:
    async def check() -> str | None:
        complete = all(is_complete(cluster) for is_complete in readers for cluster in clusters)
        return None if complete else "informers not synced yet"

    return check


def _tell(endpoint: str, problems: Mapping[str, str]) -> None:
    get_logger("probes").tell(Message.PROBE_FAILED, endpoint=endpoint, checks=dict(problems))
