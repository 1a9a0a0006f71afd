"""The HTTP endpoints by which a cluster watches a process: health, readiness, metrics.

`health` runs named checks and words the answer as Kubernetes components do; `server` listens.
"""

from hedgerow_adapters.probes.health import Check, Checks, Endpoint, HealthAnswer, SharedCheck, health_of, ping
from hedgerow_adapters.probes.server import LIMITS, Ports, serve

__all__ = [
    "LIMITS",
    "Check",
    "Checks",
    "Endpoint",
    "HealthAnswer",
    "Ports",
    "SharedCheck",
    "health_of",
    "ping",
    "serve",
]
