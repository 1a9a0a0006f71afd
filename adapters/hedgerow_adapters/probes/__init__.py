"""The HTTP endpoints by which a cluster watches a process: health, readiness, metrics.

`health` runs named checks and words the answer as Kubernetes components do; `server` listens.
"""

from hedgerow_adapters.probes.health import Check, Checks, Endpoint, HealthAnswer, health_of, ping
from hedgerow_adapters.probes.server import Listener, ListenError, Ports, explained, listener, serve

__all__ = [
    "Check",
    "Checks",
    "Endpoint",
    "HealthAnswer",
    "ListenError",
    "Listener",
    "Ports",
    "explained",
    "health_of",
    "listener",
    "ping",
    "serve",
]
