"""A controller that does as a test says about the one ConfigMap there is, stage by stage."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Create, Plan
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
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

Decide = Callable[[Snapshot, Context[None]], Plan]


def secret(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": {"made-by": "wish"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}


def create(name: str) -> Create:
    return Create(SECRETS, secret(name), "wished-for")


def question(name: str) -> ObjectQuestion:
    return ObjectQuestion(SECRETS, ObjectKey("default", name), Cluster.TARGET)


def controller(decide: Decide, **changes: Any) -> Controller[None]:
    """A controller of ConfigMaps that decides about each as a test says."""

    def reconcile(_key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
        return decide(snapshot, context)

    def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
        return (key_of(manifest),)

    declared: dict[str, Any] = {
        "name": "wishing",
        "primary": CONFIG_MAPS,
        "watches": (Watch(CONFIG_MAPS, dict, keys=own_key),),
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


@dataclass
class Script:
    """Plans one stage after the other, each by a function of its own, and remembers what it was told."""

    stages: list[Callable[[Context[None]], Plan]]
    told: list[Context[None]] = field(default_factory=list)

    def __call__(self, _snapshot: Snapshot, context: Context[None]) -> Plan:
        self.told.append(context)
        place = sum(1 for _ in self._of_this_turn()) - 1
        return self.stages[place](context) if place < len(self.stages) else Plan()

    def _of_this_turn(self) -> Iterator[Context[None]]:
        """The contexts since the last one that knew of nothing."""
        for context in reversed(self.told):
            yield context
            if not (context.outcomes or context.answers or context.kinds):
                return


async def a_while(seconds: float = 2.0) -> None:
    await asyncio.sleep(seconds)


class Late(MemoryTransport):
    """Shows what happens to Secrets only after a second."""

    @asynccontextmanager
    async def _stream(self, request: Request, timeout: float) -> AsyncIterator[Stream]:
        async with super()._stream(request, timeout) as stream:
            yield replace(stream, events=_late(stream.events)) if "secrets" in request.path else stream


async def _late(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for event in events:
        await asyncio.sleep(1)
        yield event
