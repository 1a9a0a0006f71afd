"""What a cache of an optional kind shows while answers say 404, on virtual time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory import BARE_NOT_FOUND, Answered, Fault, InMemoryCluster, MemoryTransport
from hedgerow_adapters.memory import requests as matching
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.runtime.caches import View
from hedgerow_adapters.runtime.clusters import Access, Clusters
from tests.in_memory import lost_group
from tests.unit.adapters.runtime.world import Ears, Wire, caches_of
from tests.virtual_clock import virtual_time

HPAS = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
WIDGETS = Resource("example.com", "v1", "widgets", "Widget")
SPEC = {"maxReplicas": 9, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}
DEFINITION = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
LONG = 900.0
"""Seconds in which every watch ends and is opened again."""


def whole(manifest: Manifest) -> Manifest:
    return manifest


class Scene:
    """A cluster with an autoscaler and a custom resource, and a view of both."""

    def __init__(self) -> None:
        self.cluster = InMemoryCluster()
        assert self.cluster.handle(requests.create(CRDS, DEFINITION)).is_success
        for resource, spec in ((HPAS, SPEC), (WIDGETS, {})):
            manifest = {"metadata": {"name": "a"}, "spec": spec}
            answer = self.cluster.handle(requests.create(resource, manifest, "default"))
            assert answer.is_success, answer.body
        self.wire = Wire(MemoryTransport(self.cluster))
        self.caches = caches_of(Clusters.single(Access(self.wire)))
        reads = [replace(Read(each, whole), may_be_absent=True) for each in (HPAS, WIDGETS)]
        self.view: View = self.caches.reading(reads, (), Ears())

    def shown(self) -> list[str]:
        return [each.plural for each in (HPAS, WIDGETS) if self.view.snapshot.list(each)]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        running = asyncio.create_task(self.caches.run())
        await asyncio.sleep(1)
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])


def bare(path: str) -> Fault:
    return Fault(matching(path=path), BARE_NOT_FOUND, times=None)


def listing(*groups: str) -> Fault:
    """The list of groups holds these alone."""
    described = [{"name": each, "versions": [{"groupVersion": f"{each}/v1"}]} for each in groups]
    answer = Answered(Response(200, {"kind": "APIGroupList", "groups": described}))
    return Fault(lambda request: request.path == "/apis", answer, times=None)


@pytest.mark.parametrize(
    "faults",
    [
        [bare("/horizontalpodautoscalers"), bare("/widgets")],
        [bare("/apis")],
        [lost_group("autoscaling"), lost_group("example.com")],
        [bare("/horizontalpodautoscalers"), bare("/widgets"), lost_group("autoscaling"), lost_group("example.com")],
        [bare("/apis/autoscaling"), listing("apps", "example.com")],
    ],
    ids=["objects", "everything", "groups are away", "groups are away and objects", "a built-in group is not listed"],
)
@virtual_time
async def test_a_cache_keeps_its_objects_while_nothing_proves_that_their_kind_is_gone(faults: Sequence[Fault]) -> None:
    scene = Scene()

    async with scene.open():
        scene.cluster.faults += [replace(each) for each in faults]
        scene.cluster.close_watches()
        await asyncio.sleep(LONG)

        assert scene.shown() == [HPAS.plural, WIDGETS.plural]
        scene.cluster.faults.clear()
        await asyncio.sleep(LONG)
        assert scene.view.is_complete(Cluster.TARGET)


@virtual_time
async def test_a_cache_is_empty_once_discovery_lacks_the_kind() -> None:
    scene = Scene()

    async with scene.open():
        scene.cluster.faults += [bare("/apis/example.com"), listing("apps", "autoscaling")]
        scene.cluster.close_watches()
        await asyncio.sleep(LONG)

        assert scene.shown() == [HPAS.plural]
