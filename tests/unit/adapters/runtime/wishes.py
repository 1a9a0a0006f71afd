"""A controller that does as a test says about the one ConfigMap there is."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Create, Decision, Plan
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Step
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests as build
from hedgerow_adapters.protocol.transport import Request, Stream

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SECRETS = Resource("", "v1", "secrets", "Secret")
ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
"""A kind whose deletion is answered with the object."""
DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
WISH = ObjectKey("default", "wish")

Decide = Callable[[Snapshot, Context[None]], Plan | Decision]


def secret(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": {"made-by": "wish"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}


def create(name: str) -> Create:
    return Create(SECRETS, secret(name), "wished-for")


def question(name: str) -> ObjectQuestion:
    return ObjectQuestion(SECRETS, ObjectKey("default", name), Cluster.TARGET)


def controller(decide: Decide, **changes: Any) -> Controller[None]:
    """A controller of ConfigMaps that decides about each as a test says."""

    def reconcile(_key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan | Decision:
        return decide(snapshot, context)

    def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
        return (key_of(manifest),)

    declared: dict[str, Any] = {
        "name": "wishing",
        "primary": CONFIG_MAPS,
        "watches": (Watch(CONFIG_MAPS, dict, enqueue=own_key),),
        "indexes": (),
        "owned": None,
        "concurrency": 1,
        "config": None,
        "reconcile": reconcile,
    }
    return Controller(**declared | changes)


def nobody(_manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """Concerns no key."""
    return ()


def world() -> InMemoryCluster:
    cluster = InMemoryCluster()
    cluster.handle(build.create(CONFIG_MAPS, {"metadata": {"name": "wish"}}, "default"))
    return cluster


def touch(cluster: InMemoryCluster, value: str) -> None:
    """Give the one key there is another turn."""
    cluster.handle(build.merge_patch(CONFIG_MAPS, WISH, {"data": {"touched": value}}))


def names(cluster: InMemoryCluster) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in cluster.objects(SECRETS)]


class Asking:
    """A decision that awaits one step, keeps the reply, and ends."""

    def __init__(self, step: Step[Any], end: Plan = Plan()) -> None:  # noqa: B008 -- immutable
        self.reply: Any = None
        self._step, self._end = step, end

    async def __call__(self, _snapshot: Snapshot, _context: Context[None]) -> Plan:
        self.reply = await self._step
        return self._end


async def a_while(seconds: float = 2.0) -> None:
    await asyncio.sleep(seconds)


class Late(MemoryTransport):
    """Shows what happens to Secrets only after a second."""

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:
        async with super().stream(request, timeout=timeout) as stream:
            yield replace(stream, events=_late(stream.events)) if "secrets" in request.path else stream


async def _late(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for event in events:
        await asyncio.sleep(1)
        yield event
