"""Runs your own controllers: plan what they would do, simulate them, or run them on an API server.

They run as the project's own do: `planned` and `simulated` in an in-memory cluster on a virtual clock, `run` on an API
server. `hedgerow_entrypoints.own_controllers` makes a command of all three.
"""

import asyncio
import random
import socket
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, all_keys
from hedgerow.machinery.manifests import object_problems
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow_adapters.files.sources import LoadedObject, LoadProblem, Source
from hedgerow_adapters.files.writing import implied_namespaces
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.controller_set import ControllerSet, Elector
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.simulation.clusters import Happening, in_memory
from hedgerow_adapters.simulation.planning import Arrived, KeyPlan, Planner, TimedSimulation
from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.virtual_time import CalendarLoop
from hedgerow_adapters.telemetry.controller import ControllerTelemetry
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics

_Problems: TypeAlias = tuple[LoadProblem, ...]
"""The manifests that no API server would store; `manifest:2` is the second one."""
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Simulated:
    """How controllers came to rest."""

    happenings: tuple[Happening, ...]
    """The turns in which something was done or told, or failed, in their order."""
    failing: tuple[Happening, ...]
    """The last turns of the keys that failed to the end."""
    cluster: InMemoryCluster

    def objects(self, resource: Resource, namespace: str = "") -> Sequence[Manifest]:
        """The objects of a resource in the end, of one namespace or of all."""
        return self.cluster.objects(resource, namespace)


def planned(
    controller: Controller[Any], manifests: Iterable[Manifest], *, now: datetime = _START
) -> Result[dict[ObjectKey, KeyPlan], _Problems]:
    """What a controller would do `now` in a cluster of these manifests, by keys for which there is something to do.

    The namespaces that the manifests take are made. Not for coroutines: it runs an event loop. Raises SimulationError
    if a decision or an `enqueue` function has a defect; the cause is the exception.
    """
    seeded = _cluster_of([controller], tuple(manifests), now)
    if isinstance(seeded, Failure):
        return seeded
    with Planner(controller, in_memory(seeded.unwrap()), now) as planner:
        plans = {key: planner.plan(key) for key in all_keys(controller, planner.snapshot)}
    return Success({key: plan for key, plan in plans.items() if plan.steps or plan.failures})


def simulated(
    controllers: Sequence[Controller[Any]],
    manifests: Iterable[Manifest],
    *,
    lasting: timedelta = timedelta(0),
    now: datetime = _START,
) -> Result[Simulated, _Problems]:
    """Run controllers in an in-memory cluster of these manifests from `now` on, and return the outcome.

    Time passes as long as `lasting`; the default is long enough for all that waits for no time. The namespaces that the
    manifests take are made. Not for coroutines: it runs an event loop. Raises SimulationError if the controllers undo
    each other's work, or one undoes its own, or has a defect.
    """
    loop = CalendarLoop(now)
    seeded = _cluster_of(controllers, tuple(manifests), now)
    if isinstance(seeded, Failure):
        return seeded
    cluster = seeded.unwrap()
    simulation = TimedSimulation(loop, dict.fromkeys(Cluster, cluster), controllers, lasting)
    happenings = tuple(happening for happening in simulation if not isinstance(happening, Arrived))
    return Success(Simulated(happenings, tuple(simulation.failing), cluster))


async def run(
    controllers: Sequence[Controller[Any]],
    transport: Transport,
    *,
    namespaces: Sequence[str] = (),
    elector: Elector | None = None,
    observer: Callable[[Controller[Any]], ControllerObserver] | None = None,
) -> None:
    """Run controllers on the API server of a transport until cancelled, or until the election ends.

    What is under way then gets a few seconds to end, before the lease is given back. Only the `namespaces` are visible;
    none: all. Without an `elector` this process leads. `observer` makes the observer of a controller; by default what
    happens is logged (`hedgerow_adapters.telemetry`).

    For programs that have an event loop already. `hedgerow_entrypoints.own_controllers` is a whole process: signals,
    probes, metrics, logs, and a lease that is renewed on a thread of its own.

    Raises ExceptionGroup if a part failed that must not, such as the elector with a LeadershipLostError.
    """
    work = ControllerSet(
        controllers,
        Caches(Clusters.single(Access(transport, tuple(namespaces))), random=random.random),
        instance=f"{socket.gethostname()}_{uuid.uuid4()}",
        observer=observer or partial(ControllerTelemetry, metrics=RuntimeMetrics()),
        stop=asyncio.Event(),
        elector=elector,
    )
    await work.run()


def _cluster_of(
    controllers: Sequence[Controller[Any]], manifests: Sequence[Manifest], now: datetime
) -> Result[InMemoryCluster, _Problems]:
    """A cluster that holds some manifests, and serves what controllers need."""
    loaded = [LoadedObject(manifest, Source("manifest", number)) for number, manifest in enumerate(manifests, start=1)]
    if problems := [LoadProblem(each.source, str(what)) for each in loaded for what in object_problems(each.manifest)]:
        return Failure(tuple(problems))
    implied = [LoadedObject(namespace, Source("manifest")) for namespace in implied_namespaces(manifests)]
    cluster, refused = seeded_cluster([*implied, *loaded], controllers, now=lambda: now)
    return Failure(refused) if refused else Success(cluster)
