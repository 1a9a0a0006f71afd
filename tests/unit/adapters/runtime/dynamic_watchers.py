"""Controllers that follow the kinds which ConfigMaps name, and a cluster whose kinds come and go."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from typing_extensions import override

from hedgerow.machinery.controller import Change, Controller, DynamicWatch, Watch, concerned_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Stream
from hedgerow_adapters.runtime.caches import Caches, View
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.dynamic_watches import Reader, watch_named_kinds
from hedgerow_adapters.runtime.shared_cache import Listener
from tests.comparisons import is_comparison
from tests.unit.adapters.runtime.mirrors import CONFIG_MAPS, MIRRORING, kept, own_key
from tests.unit.adapters.runtime.world import Ears, Wire, caches_of

CRDS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
SECRETS: Final = Resource("", "v1", "secrets", "Secret")
SERVICES: Final = Resource("", "v1", "services", "Service")
WIDGETS: Final = Resource("example.com", "v1", "widgets", "Widget")
GADGETS: Final = Resource("example.com", "v1", "gadgets", "Gadget")
NAMES: Final = Index(
    "by kind", CONFIG_MAPS, lambda naming: [Kind(*each.split()) for each in naming["data"]["kinds"].split(",") if each]
)


def owner(manifest: Manifest, _snapshot: object) -> list[ObjectKey]:
    """The ConfigMap that an object says that it belongs to."""
    name = labels_of(manifest).get("owner")
    return [ObjectKey("default", name)] if name else []


def watched(resource: Resource) -> tuple[Watch, ...]:
    """A watch for the owners of the objects."""
    return (Watch(resource, kept, owner),)


def naming_controller(
    watches: Callable[[Resource], tuple[Watch, ...]] = watched, indexes: tuple[Index[Any], ...] = ()
) -> Controller[None]:
    """A controller that watches what ConfigMaps name."""
    declared = Watch(CONFIG_MAPS, kept, own_key)
    return replace(MIRRORING, watches=(declared,), indexes=indexes, dynamic_watches=(DynamicWatch(NAMES, watches),))


class WatchedWire(Wire):
    """Knows which watches are open."""

    def __init__(self, cluster: InMemoryCluster) -> None:
        super().__init__(MemoryTransport(cluster))
        self._open: Counter[str] = Counter()

    @override
    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        return self._counted(request, super().stream(request, timeout=timeout))

    @asynccontextmanager
    async def _counted(self, request: Request, opened: AbstractAsyncContextManager[Stream]) -> AsyncIterator[Stream]:
        plural = request.path.rpartition("/")[2]
        self._open[plural] += 1
        try:
            async with opened as stream:
                yield stream
        finally:
            self._open[plural] -= 1

    @property
    def open(self) -> dict[str, int]:
        """How many watches of each resource are open, beside those of the ConfigMaps."""
        return {plural: count for plural, count in self._open.items() if count and plural != "configmaps"}

    def asked_for(self, path: str) -> int:
        """How often something was asked for, watches and comparisons with the server's version not counted."""
        asked = [request for request in self.asked if not is_comparison(request.query)]
        return sum(request.path == path and "watch" not in request.query for request in asked)


class Stage:
    """A cluster with ConfigMaps that name kinds, and caches for whoever wants to follow them."""

    def __init__(self, namespaces: tuple[str, ...] = ()) -> None:
        self.cluster = InMemoryCluster(namespaces=("default", "shop", "hidden"))
        self.wire = WatchedWire(self.cluster)
        self.caches: Caches = caches_of(Clusters.single(Access(self.wire, namespaces)))
        self.ears = Ears()
        self.woken: list[tuple[str, str]] = []
        """Which resource woke which key."""

    def view(self, controller: Controller[None] | None = None) -> View:
        """What a controller sees; whom it wakes is written down."""
        views: list[View] = []

        def listener_of(watch: Watch) -> Listener:
            def hear(changes: Sequence[Change], *, is_event: bool, continues: bool = False) -> int:
                before = len(self.woken)
                for change in changes:
                    keys = concerned_keys(watch, change, views[0].snapshot)
                    self.woken += [(watch.resource.plural, key.name) for key in keys]
                return len(self.woken) - before

            return hear

        controller = controller or naming_controller()
        views.append(self.caches.view(controller, listener_of, self.ears))
        reader = Reader(self.caches, views[0], controller.indexes, listener_of, self.ears)
        watch_named_kinds(controller, reader)
        return views[0]

    def name(self, name: str, *kinds: Kind | Resource) -> None:
        """Have a ConfigMap name these kinds."""
        texts = [" ".join(kind.object_kind if isinstance(kind, Resource) else kind) for kind in kinds]
        manifest = {"metadata": {"name": name}, "data": {"kinds": ",".join(texts)}}
        key = ObjectKey("default", name)
        exists = self.cluster.get(CONFIG_MAPS, key) is not None
        self._insist(
            requests.merge_patch(CONFIG_MAPS, key, manifest)
            if exists
            else requests.create(CONFIG_MAPS, manifest, "default")
        )

    def unname(self, name: str) -> None:
        """Delete a ConfigMap."""
        self._insist(requests.delete(CONFIG_MAPS, ObjectKey("default", name)))

    def define(self, resource: Resource) -> None:
        """Have a custom resource served."""
        spec = {
            "group": resource.group,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "names": {"plural": resource.plural, "kind": resource.kind},
            "versions": [{"name": resource.version, "served": True, "storage": True}],
        }
        definition = {"metadata": {"name": str(resource)}, "spec": spec}
        self._insist(requests.create(CRDS, definition))

    def undefine(self, resource: Resource) -> None:
        """Have a custom resource served no longer, as a server that ends its watches."""
        self._insist(requests.delete(CRDS, ObjectKey("", str(resource))))
        self.cluster.close_watches()

    def give(self, resource: Resource, name: str, owner_name: str, namespace: str = "default") -> None:
        """Create an object that belongs to a ConfigMap."""
        metadata = {"name": name, "labels": {"owner": owner_name}}
        spec = {"spec": {"ports": [{"port": 80}]}} if resource is SERVICES else {}
        manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **spec}
        self._insist(requests.create(resource, manifest, namespace if resource.namespaced else ""))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """The caches, kept in step; afterwards nothing of them is left, and they had no defect."""
        others = asyncio.all_tasks()
        running = asyncio.create_task(self.caches.run())
        await asyncio.sleep(1)
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])
        assert running.cancelled() or running.exception() is None, running.exception()
        assert asyncio.all_tasks() == others

    def _insist(self, request: Request) -> None:
        faults, self.cluster.faults = self.cluster.faults, []
        answer = self.cluster.handle(request)
        self.cluster.faults = faults
        assert answer.is_success, answer.body


def names_in(view: View, resource: Resource) -> list[str] | None:
    """The names of the objects that a view shows; none where it does not hold the resource."""
    return [key_of(each).name for each in view.snapshot.list(resource)] if view.snapshot.has_synced(resource) else None
