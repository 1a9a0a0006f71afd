"""The clusters of a simulation, and what happens to them: what each turn does, and what objects were before."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, Self, TypeAlias

from typing_extensions import override

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, Event
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.cache import is_over
from hedgerow_adapters.informer.informer import Watched
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.memory.options import FOREGROUND
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, Transport, attributes_of
from hedgerow_adapters.runtime.executor import NotWritten
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.write_conflicts import WriteConflict

_WRITING: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class SimulationError(Exception):
    """A simulation cannot go on; the message says why in one sentence."""


class ReadingError(SimulationError):
    """A cluster cannot be read."""


class Place(NamedTuple):
    """Identifies an object, in all versions of its API group."""

    resource: str
    """With its group, as roles name it."""
    key: ObjectKey

    @classmethod
    def of(cls, request: Request) -> Self:
        """The object that a request is about; for a creation, the one that it creates."""
        asked = attributes_of(request)
        name = asked.name or (str(request.body["metadata"].get("name")) if request.method == "POST" else "")
        return cls(asked.resource.partition("/")[0], ObjectKey(asked.namespace, name))


class Effect(NamedTuple):
    """What a write did: the object before, none if it did not exist, and whether the write changed it."""

    before: Manifest | None
    is_change: bool


class Effects:
    """What writes did, until they are asked for.

    Of a controller's own object the first write shows what the controller keeps of it: that is all that it can change.
    """

    def __init__(self) -> None:
        self._noted: dict[str, list[Effect]] = {}
        self._written: set[Place] = set()
        self.kept: Final[dict[str, Callable[[ObjectKey], Manifest | None]]] = {}
        """What controllers keep of their own objects, by resource."""

    def keep(self, controller: Controller[Any], snapshot: Snapshot, cluster: Cluster) -> None:
        """Let a controller's own objects be shown as it keeps them."""
        for watch in controller.watches:
            is_primary = (watch.resource, watch.cluster) == (controller.primary, controller.primary_cluster)
            is_owned = controller.owned is not None and is_over(controller.owned, watch)
            if watch.cluster is cluster and (is_owned or (is_primary and not controller.periodic)):
                self.kept[str(watch.resource)] = partial(_typed, snapshot, watch.resource, cluster)

    def note(self, request: Request, before: Manifest | None, answer: Response) -> None:
        """Remember a write that has succeeded."""
        place, shown = Place.of(request), before
        if before is not None and place not in self._written and place.resource in self.kept:
            shown = self.kept[place.resource](place.key) or before
        self._written.add(place)
        self._noted.setdefault(request.path, []).append(Effect(shown, answer.body != before))

    def of(self, action: Action) -> Effect:
        """What an action did that is told of for the first time."""
        noted = self._noted.get(requests.for_action(action).path)
        return noted.pop(0) if noted else Effect(None, is_change=False)


def _typed(snapshot: Snapshot, resource: Resource, cluster: Cluster, key: ObjectKey) -> Manifest | None:
    """An object of a snapshot with the type that caches leave out."""
    kept = snapshot.get(resource, key, cluster)
    return {"apiVersion": resource.api_version, "kind": resource.kind, **kept} if kept is not None else None


class SimulatedTransport(Transport, Protocol):
    """The way to a cluster in which nothing lasts."""

    effects: Effects
    is_whole: bool
    """True if the cluster serves all that controllers rely on; false if it holds what somebody has put into it."""
    failure: Exception | None
    """Why a write could not even be imagined."""


class World(NamedTuple):
    """A cluster of a simulation."""

    transport: SimulatedTransport
    namespaces: tuple[str, ...] = ()
    """Those that are visible; none: all."""


Worlds: TypeAlias = Mapping[Cluster, World]


def in_memory(target: InMemoryCluster, source: InMemoryCluster | None = None, namespaces: Sequence[str] = ()) -> Worlds:
    """In-memory clusters; without a `source`, one in both roles. `namespaces` of the target are visible; none: all."""
    transport = _InMemory(target)
    other = transport if source is None or source is target else _InMemory(source)
    return {Cluster.TARGET: World(transport, tuple(namespaces)), Cluster.SOURCE: World(other)}


class _InMemory(MemoryTransport):
    """Deletes in the foreground without waiting for dependents, as no garbage collector runs in memory."""

    is_whole = False
    failure: Exception | None = None

    def __init__(self, cluster: InMemoryCluster) -> None:
        super().__init__(cluster)
        self.effects = Effects()

    @override
    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        is_noted = request.method in _WRITING and "dryRun" not in request.query
        before = self._cluster.at(request.path) if is_noted and request.method != "POST" else None
        response = await super().send(request, timeout=timeout, may_send=may_send)
        if is_noted and response.is_success:
            self.effects.note(request, before, response)
        if request.method == "DELETE" and response.is_success:
            self._let_go(response.body)
        return response

    def _let_go(self, deleted: Manifest) -> None:
        finalizers = (deleted.get("metadata") or {}).get("finalizers") or ()
        if FOREGROUND in finalizers and (resource := self._cluster.resource_of(Kind.of(deleted))) is not None:
            others = [name for name in finalizers if name != FOREGROUND]
            self._cluster.adopt(resource, key_of(deleted), {"finalizers": others})


@dataclass(frozen=True, slots=True)
class SentAction:
    """One action that was sent."""

    controller: str
    key: ObjectKey
    action: Action
    error: str = ""
    """The server's words if it did not carry the action out."""
    before: Manifest | None = field(default=None, compare=False, repr=False)
    """The object before; none if it did not exist."""
    is_change: bool = field(default=True, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.action.resource.kind} {self.action.key}: {self.error}"


@dataclass(frozen=True, slots=True)
class Happening:
    """A turn."""

    at: datetime
    controller: str
    key: ObjectKey
    steps: tuple[SentAction, ...]
    """Without those that were refused while the decision went on, as that has dealt with it."""
    events: tuple[Event, ...]
    failures: tuple[Failure, ...]
    again_after: float | None
    """Seconds until the next turn of the key if no event brings it forward; none: only an event does."""

    @property
    def is_failure(self) -> bool:
        """Whether anything was refused, or could not be planned."""
        return bool(self.failures) or any(step.error for step in self.steps)

    def problems(self, explained: Callable[[Failure], str] = str) -> Iterator[str]:
        """What could not be planned, and what was refused, a sentence each."""
        yield from map(explained, self.failures)
        yield from (str(step) for step in self.steps if step.error)


class CrashedTurnError(SimulationError):
    """A turn ended with an exception: its decision has a defect, or took too long."""


class CrashedMappingError(SimulationError):
    """The `enqueue` function of a watch raised an exception: it has a defect."""


class Account(ControllerObserver):
    """What happens in the last turn; raises what must not happen."""

    def __init__(self, controller: str, effect: Callable[[Action], Effect]) -> None:
        self._controller = controller
        self._effect = effect
        self.steps: list[SentAction] = []
        self.events: list[Event] = []
        self.failures: tuple[Failure, ...] = ()
        self.defect: CrashedMappingError | None = None
        self.interruptions: dict[tuple[Resource, Cluster], Exception | None] = {}
        """Resources that could not be listed once, and the first problem; none: they are not served."""
        self.conflict: WriteConflict | None = None

    def record(self, events: Iterable[Event]) -> None:
        """Note events in place of recording them."""
        self.events += events

    @override
    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        if problem is not None or cause == "absent":
            place = (watched.resource, watched.cluster)
            self.interruptions[place] = self.interruptions.get(place) or problem

    @override
    def began(self, key: ObjectKey) -> None:
        self.steps, self.events, self.failures = [], [], ()

    @override
    def acted(self, key: ObjectKey, action: Action) -> None:
        self.steps.append(SentAction(self._controller, key, action, "", *self._effect(action)))

    @override
    def not_written(self, key: ObjectKey, failed: NotWritten) -> None:
        self.steps.append(SentAction(self._controller, key, failed.action, failed.problem))

    @override
    def refused(self, key: ObjectKey, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)

    @override
    def conflicted(self, key: ObjectKey, conflict: WriteConflict, wait: float) -> None:
        self.conflict = self.conflict or conflict

    @override
    def raised(self, key: ObjectKey, error: Exception) -> None:
        if isinstance(error, SimulationError):
            raise error
        turn = f"the turn of {self._controller} about {key}"
        raise CrashedTurnError(f"{turn} crashed: {type(error).__name__}: {error}") from error

    @override
    def unmapped(self, resource: Resource, error: Exception) -> None:
        if self.defect is None:
            mapping = f"{self._controller} could not map {resource} to keys"
            self.defect = CrashedMappingError(f"{mapping}: {type(error).__name__}: {error}")
            self.defect.__cause__ = error
