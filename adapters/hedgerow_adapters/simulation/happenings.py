"""What happens in the turns of a simulation, as its controllers tell it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from typing_extensions import override

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Action, Event
from hedgerow_adapters.informer.informer import Watched
from hedgerow_adapters.runtime.executor import NotWritten
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.write_conflicts import WriteConflict
from hedgerow_adapters.simulation.clusters import Effect, SimulationError


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
    """False if the object stayed as it was."""

    def __str__(self) -> str:
        """The object and the server's words, as one sentence."""
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

    def __init__(self, controller: str, key: ObjectKey, error: Exception) -> None:
        super().__init__(f"the turn of {controller} about {key} crashed: {type(error).__name__}: {error}")


class CrashedMappingError(SimulationError):
    """The `enqueue` function of a watch raised an exception: it has a defect."""

    def __init__(self, controller: str, resource: Resource, error: Exception) -> None:
        super().__init__(f"{controller} could not map {resource} to keys: {type(error).__name__}: {error}")


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
        """The first."""

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
        raise CrashedTurnError(self._controller, key, error) from error

    @override
    def unmapped(self, resource: Resource, error: Exception) -> None:
        if self.defect is None:
            self.defect = CrashedMappingError(self._controller, resource, error)
            self.defect.__cause__ = error
