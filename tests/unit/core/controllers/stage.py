"""One controller in two in-memory API servers: turns step by step, caches that lag, disturbances at any moment."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from hedgerow.machinery.charts import RenderChart, RenderedChart
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Controller, all_keys
from hedgerow.machinery.objects import Kind as ObjectKind
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, Create, Plan, WriteResult
from hedgerow.machinery.questions import Answer, Found, Question
from hedgerow.machinery.steps import Step
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES, Kind
from hedgerow_adapters.protocol import requests
from tests.executions import LiveSnapshot, executed, no_chart, performed
from tests.in_memory import InMemory, seen_by

MOST_ROUNDS: Final = 20
LAGS: Final = st.lists(st.integers(0, 5), min_size=1, max_size=4)
"""How many changes caches do not show, round by round."""
GIVEN_BY_THE_SERVER: Final = ("uid", "resourceVersion", "creationTimestamp", "generation")
ONLY_THE_SERVER_GIVES: Final = ("creationTimestamp", "deletionTimestamp")
Placed: TypeAlias = tuple[Cluster, Manifest]


def in_target(*manifests: Manifest) -> tuple[Placed, ...]:
    return tuple((Cluster.TARGET, manifest) for manifest in manifests)


def in_source(*manifests: Manifest) -> tuple[Placed, ...]:
    return tuple((Cluster.SOURCE, manifest) for manifest in manifests)


class CrashError(Exception):
    """The process has died."""


def as_it_is(manifest: Manifest) -> Manifest:
    return manifest


@dataclass(frozen=True)
class World:
    """A controller, the objects that it finds, and what others do to them."""

    controller: Controller[Any] = field(repr=False)
    objects: tuple[Placed, ...]
    subject: Placed
    """The one of `objects` that changes or goes while decisions are made: the primary object if there is one."""
    foreign: tuple[Placed, ...] = ()
    """Objects that are not the controller's. It must never write to them."""
    changes: Mapping[str, Callable[["Stage"], None]] = field(default_factory=dict, repr=False)
    """What else others do, by name."""
    kinds: tuple[Kind, ...] = field(default=(), repr=False)
    """The kinds that the API servers serve besides the usual ones."""
    unconditional: frozenset[str] = frozenset()
    """The reasons of patches that are right for every version of their object."""
    without_secrets: Callable[[Manifest], Manifest] = as_it_is
    """An object without values that differ from run to run, such as tokens."""
    render: Callable[[RenderChart], RenderedChart] = field(default=no_chart, repr=False)
    """Renders charts."""


@dataclass(frozen=True)
class Turn:
    """One turn of a key: what the decision awaited, its plan, and what became of each write."""

    key: ObjectKey
    steps: tuple[Step[Any], ...]
    plan: Plan
    results: tuple[WriteResult, ...]


class Stage:
    """A world in API servers. A moment passes before each step and before each write."""

    def __init__(self, world: World, shuffle: Random | None = None) -> None:
        """The world before the controller starts.

        Args:
            world: the controller and its objects.
            shuffle: mixes what caches and API servers list, and the fields of it; none: nothing is mixed.
        """
        self.world = world
        self.at_moment: Callable[[int], None] = lambda _moment: None
        self.turns: list[Turn] = []
        self.sent: list[Action] = []
        self.lag = 0
        """How many of the latest changes caches do not show, unless this process has seen them already."""
        self.moments = 0
        """How many moments have passed."""
        self._shuffle = shuffle
        self._is_calm = True
        self._states: dict[ObjectKey, object] = {}
        self._known_keys: set[ObjectKey] = set()
        self._changes: list[tuple[Cluster, Resource, Change]] = []
        self._shown = 0
        """How many of them the caches of this process have shown: they never go back."""
        self._clock = SettableClock()
        placed = (*world.objects, *world.foreign)
        namespaces = sorted({"default", *(key_of(each).namespace for _, each in placed)} - {""})
        kinds = (*DEFAULT_RESOURCES, *world.kinds)
        self.clusters = {
            cluster: InMemoryCluster(resources=kinds, now=self._clock, namespaces=namespaces) for cluster in Cluster
        }
        for cluster, resource in {(watch.cluster, watch.resource) for watch in world.controller.watches}:
            for manifest in self.clusters[cluster].objects(resource):
                self._changes.append((cluster, resource, Change(None, manifest)))
            self.clusters[cluster].subscribe(resource, self._noting(cluster, resource))
        for each in placed:
            self.put(*each)
        self._foreign = [self._live(*self._place(each)) for each in world.foreign]

    def _noting(self, cluster: Cluster, resource: Resource) -> Callable[[Change], None]:
        return lambda change: self._changes.append((cluster, resource, change))

    def put(self, cluster: Cluster, manifest: Manifest) -> None:
        """Create an object, or patch the one that exists; times that only a server gives are adopted."""
        self._is_calm = False
        api_server, (_, resource, key) = self.clusters[cluster], self._place((cluster, manifest))
        live = api_server.get(resource, key)
        metadata = {name: value for name, value in manifest["metadata"].items() if name not in ONLY_THE_SERVER_GIVES}
        if live is None:
            request = requests.create(resource, {**manifest, "metadata": metadata}, key.namespace)
        else:
            request = requests.merge_patch(resource, key, {**manifest, "metadata": metadata})
        response = api_server.handle(request)
        assert response.is_success, response.body
        if times := {
            each: manifest["metadata"][each] for each in ONLY_THE_SERVER_GIVES if each in manifest["metadata"]
        }:
            api_server.adopt(resource, key, times)
        if status := manifest.get("status"):
            response = api_server.handle(requests.merge_patch(resource, key, {"status": status}, subresource="status"))
            assert response.is_success or response.status == 404, response.body

    def patch(self, placed: Placed, patch: Manifest, subresource: str = "") -> None:
        """Change an object, if it still exists and the API server lets people do so."""
        self._is_calm = False
        cluster, resource, key = self._place(placed)
        self.clusters[cluster].handle(requests.merge_patch(resource, key, patch, subresource=subresource))

    def delete(self, placed: Placed) -> None:
        """Ask for the deletion of an object, which stays while it has finalizers."""
        self._is_calm = False
        cluster, resource, key = self._place(placed)
        self.clusters[cluster].handle(requests.delete(resource, key))

    def remove(self, placed: Placed) -> None:
        """Delete an object for good, whatever finalizers it has."""
        self._is_calm = False
        cluster, resource, key = self._place(placed)
        if self._live(cluster, resource, key) is not None:
            self.clusters[cluster].adopt(resource, key, {"finalizers": []})
            self.clusters[cluster].handle(requests.delete(resource, key))
            self.clusters[cluster].run_controllers()

    def settle(self) -> None:
        """Turns of all keys, until a round writes nothing while nobody else does."""
        for _ in range(MOST_ROUNDS):
            self._is_calm = True
            if not self.round() and self._is_calm:
                return
        raise AssertionError("the controller does not come to rest")

    def round(self) -> list[Action]:
        """One turn of each key: what was sent."""
        before = len(self.sent)
        self._known_keys.update(all_keys(self.world.controller, self.snapshot()))
        for key in sorted(self._known_keys):
            self.turn(key)
        return self.sent[before:]

    def turn(self, key: ObjectKey) -> None:
        """One turn, carried out to its end."""
        controller = self.world.controller
        surroundings = _Mixed(self.clusters, self._mixed)
        results: list[WriteResult] = []

        def carry_out(action: Action) -> WriteResult:
            self._pass_moment()
            live = self.clusters[action.cluster].get(action.resource, action.key)
            is_refused = isinstance(action, Create) or live not in self._foreign
            assert is_refused, f"{action} concerns an object of somebody else"
            self.sent.append(action)
            results.append(surroundings.carry_out(action))
            return results[-1]

        def perform(step: Step[Any]) -> Any:
            self._pass_moment()
            reply = performed(step, surroundings, self._clock, carry_out, render=self.world.render)
            snapshot.advance()
            return reply

        snapshot = LiveSnapshot(self.snapshot)
        versions = frozenset({self.clusters[Cluster.TARGET].version})
        context = Context(self._clock(), controller.config, state=self._states.get(key), server_versions=versions)
        plan, steps = executed(controller.reconcile(key, snapshot, context), perform)
        for action in plan.actions:
            if carry_out(action).error and plan.in_order:
                break
        self._states[key] = plan.state
        self.turns.append(Turn(key, tuple(steps), plan, tuple(results)))

    def _pass_moment(self) -> None:
        self.moments += 1
        self.at_moment(self.moments - 1)

    def restart(self) -> None:
        """A new process: it remembers nothing, and its caches have shown nothing."""
        self._states.clear()
        self._shown = 0
        self.at_moment = lambda _moment: None

    def snapshot(self) -> StoreSnapshot:
        """What the caches show."""
        controller = self.world.controller
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        self._shown = max(self._shown, len(self._changes) - self.lag)
        visible = self._changes[: self._shown]
        for watch in controller.watches:
            held: dict[ObjectKey, Manifest] = {}
            for cluster, resource, change in visible:
                if (cluster, resource) == (watch.cluster, watch.resource):
                    held.pop(key_of(change.new or change.old or {}), None)
                    if change.new is not None:
                        held[key_of(change.new)] = change.new
            indexes = [index for index in controller.indexes if is_over(index, watch)]
            store = stores[watch.cluster][watch.resource] = ObjectStore(indexes)
            for manifest in self._mixed(list(filter(seen_by(watch, ()), held.values()))):
                store.put(watch.transform(manifest))
        return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    def pass_time(self, seconds: float) -> None:
        """Nothing happens for a while."""
        self._clock.advance(seconds)

    def in_the_end(self) -> dict[str, Manifest]:
        """All objects once nothing is left to do, today and a day later, without what differs from run to run."""
        self.settle()
        self.pass_time(timedelta(days=1).total_seconds())
        self.settle()
        return {
            f"{cluster.name} {resource.kind} {key_of(each)}": self.world.without_secrets(comparable(each))
            for cluster, api_server in self.clusters.items()
            for resource in api_server.resources
            for each in api_server.objects(resource)
        }

    def _place(self, placed: Placed) -> tuple[Cluster, Resource, ObjectKey]:
        cluster, manifest = placed
        resource = self.clusters[cluster].resource_of(ObjectKind.of(manifest))
        assert resource is not None, manifest
        return cluster, resource, key_of(manifest)

    def _live(self, cluster: Cluster, resource: Resource, key: ObjectKey) -> Manifest | None:
        return self.clusters[cluster].get(resource, key)

    def _mixed(self, manifests: Sequence[Manifest]) -> Sequence[Manifest]:
        if self._shuffle is None:
            return manifests
        return [reordered(each, self._shuffle) for each in self._shuffle.sample(manifests, len(manifests))]


class _Mixed(InMemory):
    """API servers whose lists have another order."""

    def __init__(
        self, clusters: Mapping[Cluster, InMemoryCluster], mixed: Callable[[Sequence[Manifest]], Sequence[Manifest]]
    ) -> None:
        super().__init__(clusters)
        self._mixed = mixed

    def answer(self, question: Question) -> Answer:
        found = super().answer(question)
        return Found(tuple(self._mixed(found.objects))) if isinstance(found, Found) else found


def reordered(value: Any, random: Random) -> Any:
    """A value with the fields of its mappings in another order; lists mean their order."""
    if isinstance(value, Mapping):
        return {name: reordered(value[name], random) for name in random.sample([*value], len(value))}
    return [reordered(each, random) for each in value] if isinstance(value, list) else value


def comparable(manifest: Manifest) -> dict[str, Any]:
    """The object without what the server gives; the order of its finalizers means nothing."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in GIVEN_BY_THE_SERVER}
    if "finalizers" in metadata:
        metadata["finalizers"] = sorted(metadata["finalizers"])
    return {**deepcopy({**manifest}), "metadata": metadata}


def touch(stage: Stage) -> None:
    """Somebody annotates the subject."""
    stage.patch(stage.world.subject, {"metadata": {"annotations": {"example.com/touched": "yes"}}})


def remove(stage: Stage) -> None:
    """Somebody deletes the subject."""
    stage.remove(stage.world.subject)


def replace(stage: Stage) -> None:
    """Somebody deletes the subject, and creates it anew: the same name, another uid."""
    stage.remove(stage.world.subject)
    stage.put(*stage.world.subject)


CHANGES: Final[Mapping[str, Callable[[Stage], None]]] = {"touched": touch, "removed": remove, "replaced": replace}
"""What may happen to the subject of any world."""


def changes_of(world: World) -> Mapping[str, Callable[[Stage], None]]:
    """All that others may do in a world."""
    return {**CHANGES, **world.changes}


def settled(world: World) -> Stage:
    """A world in which nothing is left to do."""
    stage = Stage(world)
    stage.settle()
    return stage


def crashed(world: World, moment: int) -> Stage:
    """A world in which the process has died at a moment, if it got that far."""

    def die(now: int) -> None:
        if now == moment:
            raise CrashError

    stage = Stage(world)
    stage.at_moment = die
    with suppress(CrashError):
        stage.settle()
    stage.restart()
    return stage


def disturbed(world: World, moment: int, change: Callable[[Stage], None]) -> Stage:
    """A world in which somebody changes something at a moment, or after the last one."""

    def happen(now: int) -> None:
        if now == moment:
            change(stage)

    stage = Stage(world)
    stage.at_moment = happen
    stage.settle()
    if stage.moments <= moment:
        stage.restart()
        change(stage)
    return stage


def lagging(world: World, change: str, lags: list[int], *, takes_over: bool) -> Stage:
    """A world that has settled before the change: the process goes on, or another one takes over."""
    stage = settled(world)
    changes_of(world)[change](stage)
    if takes_over:
        stage.restart()
    for lag in lags:
        stage.lag = lag
        stage.round()
    stage.lag = 0
    return stage


def moments_of(world: World) -> Iterator[int]:
    """All moments until the world has settled, and the one after the last."""
    return iter(range(settled(world).moments + 1))
