"""An API server in memory, for tests, demonstrations and simulations.

    cluster = InMemoryCluster()
    cluster.handle(requests.create(NAMESPACES, {"metadata": {"name": "shop"}}))  # synchronously
    await MemoryTransport(cluster).send(requests.get(NAMESPACES, ObjectKey("", "shop")))  # as the HTTP client

It knows the rules that our controllers and webhooks could break and the types of what they read, and answers as
kube-apiserver does: a contract suite holds both against each other. Webhooks that are registered in it are called, by a
function that whoever makes it gives it. What it leaves out: users, managed fields, server-side apply, graceful
deletion, what tokens are bound to, addresses of Services, schemas of custom resources, conditions of webhooks in CEL,
and those rules about kinds that controllers only read which they do not rely on.
"""

from hedgerow_adapters.memory.admission import CallFailedError, WebhookCall
from hedgerow_adapters.memory.cluster import InMemoryCluster
from hedgerow_adapters.memory.faults import BARE_NOT_FOUND, Answered, Fault, Lost, requests
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES
from hedgerow_adapters.memory.transport import MemoryTransport

__all__ = [
    "BARE_NOT_FOUND",
    "DEFAULT_RESOURCES",
    "Answered",
    "CallFailedError",
    "Fault",
    "InMemoryCluster",
    "Lost",
    "MemoryTransport",
    "WebhookCall",
    "requests",
]
