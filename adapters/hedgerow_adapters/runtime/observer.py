"""What a running controller tells about itself, for logs and metrics.

Every method does nothing here, so that one who listens overrides what is of interest.
"""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from hedgerow.machinery.controller import Change
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Action, Event
from hedgerow_adapters.informer.informer import Watched
from hedgerow_adapters.runtime.executor import NotWritten
from hedgerow_adapters.runtime.write_conflicts import WriteConflict

Result: TypeAlias = Literal["success", "error", "requeue", "requeue_after"]


class ControllerObserver:
    """Hears of everything that happens in one running controller, and changes nothing."""

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """A list or watch ended, as `InformerObserver` has it."""

    def resumed(self, watched: Watched) -> None:
        """All is well where a list or watch had come to its end by a problem, as `InformerObserver` has it."""

    def keeps(self, resource: Resource, silence: Callable[[], float]) -> None:
        """A cache is kept; `silence` tells for how many seconds it has heard nothing from its API server."""

    def synced(self) -> None:
        """All caches are complete."""

    def changed(self, changes: Sequence[Change]) -> None:
        """The cache shows changes of primary objects, of an event or of a list."""

    def queues(self, waiting: Callable[[], float]) -> None:
        """There is a queue; `waiting` tells for how many seconds its oldest key has waited."""

    def started(self, keys: int) -> None:
        """The workers begin, with so many keys in the queue."""

    def added(self, depth: int) -> None:
        """A key was put in line; so many wait now."""

    def taken(self, depth: int, waited: float) -> None:
        """A worker took a key that had waited so many seconds."""

    def finished(self, worked: float) -> None:
        """A worker is done with a key after so many seconds."""

    def retried(self) -> None:
        """A key was put back because it failed."""

    def slowed(self, keys: int) -> None:
        """A key was slowed down, or is no longer; so many are now."""

    def conflicted(self, key: ObjectKey, conflict: WriteConflict, wait: float) -> None:
        """A write conflict began for a key, which now waits so many seconds."""

    def began(self, key: ObjectKey) -> None:
        """A reconciliation begins; all that is told until it ends, in the same task, belongs to it."""

    def reconciled(self, key: ObjectKey, result: Result, seconds: float) -> None:
        """A reconciliation has ended."""

    def acted(self, key: ObjectKey, action: Action) -> None:
        """The server carried out an action."""

    def not_written(self, key: ObjectKey, failed: NotWritten) -> None:
        """The server did not carry out an action."""

    def refused(self, key: ObjectKey, failures: Sequence[Failure]) -> None:
        """Something could not be planned."""

    def warned(self, key: ObjectKey, event: Event) -> None:
        """A plan has an event of type Warning."""

    def raised(self, key: ObjectKey, error: Exception) -> None:
        """A reconciliation ended with an exception: a defect, or a TimeoutError where it took too long."""

    def unmapped(self, resource: Resource, error: Exception) -> None:
        """Which keys a change of an object concerns could not be found out: a defect. The change is passed over."""

    def deletions_held(self, key: ObjectKey, deletions: int) -> None:
        """The guard let a plan's deletions not pass."""

    def waited(self, key: ObjectKey, seconds: float, *, caught_up: bool) -> None:
        """A key had to wait until the caches showed what was written for it, if they did in good time."""
