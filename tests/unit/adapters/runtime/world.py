"""A cluster with Services, the real controller at work in it, and what can be seen from outside."""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from typing_extensions import override

from hedgerow.api.kubernetes import EVENTS
from hedgerow.machinery.controller import Controller, plans
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, Event
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.informer.informer import Watched
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.clusters import RESYNC_PERIOD, Access, Clusters
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.executor import NotWritten
from hedgerow_adapters.runtime.observer import ControllerObserver, Result
from hedgerow_adapters.runtime.queue import WorkQueue
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.runtime.write_conflicts import WriteConflict
from tests.comparisons import is_comparison
from tests.snapshots import snapshot_over

SERVICES: Final = Resource("", "v1", "services", "Service")
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
POLICIES: Final = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
DOMAIN: Final = "networking.resources.gardener.cloud"
PODS_OF_WEB: Final = {f"{DOMAIN}/namespace-selectors": '[{"matchLabels":{"tier":"web"}}]'}
SCRAPED: Final = {f"{DOMAIN}/from-all-scrape-targets-allowed-ports": '[{"protocol":"TCP","port":8080}]'}
CART: Final = ObjectKey("shop", "cart")
CONTROLLER: Final = network_policy_controller(NetworkPolicyConfig())


def service(key: ObjectKey = CART, annotations: Mapping[str, str] | None = None, port: int = 8080) -> dict[str, Any]:
    """A Service with one port."""
    metadata = {"name": key.name, "namespace": key.namespace, "annotations": dict(annotations or {})}
    spec = {"selector": {"app": key.name}, "ports": [{"port": 80, "protocol": "TCP", "targetPort": port}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def own_policies(name: str, port: int = 8080) -> set[str]:
    """The policies of a Service in `shop` without annotations."""
    return {f"shop/ingress-to-{name}-tcp-{port}", f"shop/egress-to-{name}-tcp-{port}"}


class World(InMemoryCluster):
    """The cluster: the namespaces `shop` and, labelled `tier=web`, `web`."""

    def __init__(self, *services: Manifest) -> None:
        super().__init__(namespaces=("default", "shop"))
        self.create(NAMESPACES, {"metadata": {"name": "web", "labels": {"tier": "web"}}})
        for each in services:
            self.create(SERVICES, each)

    def create(self, resource: Resource, manifest: Manifest) -> None:
        self._insist(requests.create(resource, manifest, key_of(manifest).namespace))

    def patch(self, resource: Resource, key: ObjectKey, patch: Manifest) -> None:
        self._insist(requests.merge_patch(resource, key, patch))

    def delete(self, resource: Resource, key: ObjectKey) -> None:
        self._insist(requests.delete(resource, key))

    def annotate(self, key: ObjectKey, annotations: Mapping[str, str | None]) -> None:
        self.patch(SERVICES, key, {"metadata": {"annotations": annotations}})

    def _insist(self, request: Request) -> None:
        faults, self.faults = self.faults, []
        response = self.handle(request)
        self.faults = faults
        assert response.is_success, response.body

    @property
    def policies(self) -> set[str]:
        return {str(key_of(policy)) for policy in self.objects(POLICIES)}

    @property
    def contents(self) -> dict[str, Any]:
        """The policies as far as they do not depend on when and how often they were written."""
        return {
            str(key_of(policy)): (policy["metadata"]["labels"], policy["metadata"]["annotations"], policy["spec"])
            for policy in self.objects(POLICIES)
        }

    @property
    def recorded(self) -> list[tuple[str, str, str]]:
        """Object, reason and note of every Event."""
        events = self.objects(EVENTS)
        return [
            (f"{event['regarding']['namespace']}/{event['regarding']['name']}", event["reason"], event["note"])
            for event in events
        ]

    def pending(self, controller: Controller[Any] = CONTROLLER) -> list[Action]:
        """What a controller that saw everything would still do."""
        objects = {watch.resource: self.objects(watch.resource) for watch in controller.watches}
        decided = plans(controller, snapshot_over(controller, objects), self.now())
        return [action for _, plan in decided for action in plan.actions]


def shops(count: int, annotations: Mapping[str, str] | None = None) -> list[Manifest]:
    """So many Services."""
    return [service(ObjectKey("shop", f"svc-{number}"), annotations) for number in range(count)]


@dataclass
class Ears(ControllerObserver):
    """Everything that a running controller tells."""

    results: list[tuple[ObjectKey, Result]] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    failed: list[NotWritten] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    errors: list[tuple[ObjectKey, str]] = field(default_factory=list)
    unreadable: list[tuple[Resource, str]] = field(default_factory=list)
    causes: list[tuple[Resource, str]] = field(default_factory=list)
    held: list[tuple[ObjectKey, int]] = field(default_factory=list)
    behind: list[ObjectKey] = field(default_factory=list)
    waits: list[tuple[ObjectKey, float]] = field(default_factory=list)
    conflicts: list[tuple[ObjectKey, WriteConflict, float]] = field(default_factory=list)
    warnings: list[Event] = field(default_factory=list)
    slowed_keys: int = 0
    silences: dict[Resource, Callable[[], float]] = field(default_factory=dict)

    @override
    def keeps(self, resource: Resource, silence: Callable[[], float]) -> None:
        self.silences[resource] = silence

    @property
    def troubles(self) -> list[object]:
        """Everything that went wrong while keys were worked on."""
        return [*self.failed, *self.failures, *self.errors, *self.unreadable, *self.held, *self.behind]

    @override
    def reconciled(self, key: ObjectKey, result: Result, seconds: float) -> None:
        self.results.append((key, result))

    @override
    def acted(self, key: ObjectKey, action: Action) -> None:
        self.actions.append(action)

    @override
    def not_written(self, key: ObjectKey, failed: NotWritten) -> None:
        self.failed.append(failed)

    @override
    def refused(self, key: ObjectKey, failures: Sequence[Failure]) -> None:
        self.failures += failures

    @override
    def warned(self, key: ObjectKey, event: Event) -> None:
        self.warnings.append(event)

    @override
    def raised(self, key: ObjectKey, error: Exception) -> None:
        self.errors.append((key, f"{type(error).__name__}: {error}"))

    @override
    def unmapped(self, resource: Resource, error: Exception) -> None:
        self.unreadable.append((resource, str(error)))

    @override
    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        self.causes.append((watched.resource, cause))

    @override
    def deletions_held(self, key: ObjectKey, deletions: int) -> None:
        self.held.append((key, deletions))

    @override
    def waited(self, key: ObjectKey, seconds: float, *, caught_up: bool) -> None:
        self.waits.append((key, seconds))
        if not caught_up:
            self.behind.append(key)

    @override
    def conflicted(self, key: ObjectKey, conflict: WriteConflict, wait: float) -> None:
        self.conflicts.append((key, conflict, wait))

    @override
    def slowed(self, keys: int) -> None:
        self.slowed_keys = keys


def about_objects(asked: Iterable[Request]) -> list[str]:
    """The paths of requests for single objects: no lists, watches, discovery or version."""
    is_discovery = re.compile(r"/version|/api(/[^/]+)?|/apis(/[^/]+/[^/]+)?").fullmatch
    return [each.path for each in asked if not {"watch", "limit"} & each.query.keys() and not is_discovery(each.path)]


class Wire:
    """Passes requests on, remembers them, and lets a test have its say around every write."""

    def __init__(
        self,
        server: Transport,
        *,
        before_write: Callable[[int], Awaitable[None]] | None = None,
        after_write: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        """`before_write` and `after_write` are told which write of this wire it is, from 1."""
        self.asked: list[Request] = []
        self.writes = 0
        self._server = server
        self._before = before_write or _nothing
        self._after = after_write or _nothing

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        self.asked.append(request)
        if request.method == "GET" or "/events" in request.path:
            return await self._server.send(request, timeout=timeout, may_send=may_send)
        self.writes += 1
        number = self.writes
        await self._before(number)
        response = await self._server.send(request, timeout=timeout, may_send=may_send)
        await self._after(number)
        return response

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        self.asked.append(request)
        return self._server.stream(request, timeout=timeout)

    @property
    def lists(self) -> int:
        """How many lists were asked for, comparisons with the server's version not counted."""
        asked = [request for request in self.asked if not is_comparison(request.query)]
        return sum(request.method == "GET" and "watch" not in request.query for request in asked)


async def _nothing(_number: int) -> None:
    pass


def caches_of(clusters: Clusters) -> Caches:
    """Caches with the same jitter every time."""
    return Caches(clusters, random=random.Random(7).random)  # noqa: S311 -- no secret


def recorder_of(clusters: Clusters) -> EventRecorder:
    """A recorder of events in the name of a process."""
    return EventRecorder(
        clusters.target.transport,
        source=clusters.source.transport,
        component="hedgerow",
        instance="hedgerow-0",
        may_write=lambda: True,
    )


@asynccontextmanager
async def at_work(
    world: InMemoryCluster,
    controller: Controller[Any] = CONTROLLER,
    *,
    transport: Transport | None = None,
    observer: ControllerObserver | None = None,
    start: bool = True,
    source: Access | None = None,
    namespaces: tuple[str, ...] = (),
    resync_period: float = RESYNC_PERIOD,
    queues: dict[str, WorkQueue] | None = None,
    **options: Any,
) -> AsyncIterator[ControllerRunner]:
    """The controller at work; afterwards nothing of it is left.

    The world is the target cluster, and the source as well unless another is given.
    """
    others = asyncio.all_tasks()
    wire = transport or MemoryTransport(world)
    access = Access(wire, namespaces, resync_period)
    caches = caches_of(Clusters(access, source or access))
    caches.queues = caches.queues if queues is None else queues
    recorder = recorder_of(caches.clusters)
    runner = ControllerRunner(controller, caches, recorder=recorder, observer=observer, **options)
    tasks = [asyncio.create_task(work) for work in (caches.run(), runner.run(), recorder.run())]
    if start:
        runner.start()
    try:
        yield runner
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        left = asyncio.all_tasks() - others
        assert not left, left
        for task in tasks:
            if not task.cancelled() and (error := task.exception()):
                raise error
