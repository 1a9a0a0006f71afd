"""Turns what one running controller reports into log lines and metrics.

Draws no conclusions but one: what was said a short while ago is not said again. What is told most often only counts;
what takes time to work out is worked out when somebody asks for the metrics.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from typing_extensions import override

from hedgerow.machinery.controller import Change, Controller
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Action, Create, Delete, Event, JsonPatch, MergePatch, Update
from hedgerow_adapters.informer.exchanges import Refused
from hedgerow_adapters.informer.informer import Watched
from hedgerow_adapters.runtime.executor import NotWritten
from hedgerow_adapters.runtime.observer import ControllerObserver, Result
from hedgerow_adapters.runtime.runner import keys_under_way
from hedgerow_adapters.runtime.write_conflicts import WriteConflict
from hedgerow_adapters.telemetry.logs import begin_reconciliation, end_reconciliation, get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.troubles import ReadingTelemetry

KINDS: Final[Mapping[type[Action], str]] = {
    Create: "create",
    Update: "update",
    MergePatch: "merge_patch",
    JsonPatch: "json_patch",
    Delete: "delete",
}


class ControllerTelemetry(ReadingTelemetry, ControllerObserver):
    """The ears of one controller."""

    def __init__(
        self,
        controller: Controller[Any],
        metrics: RuntimeMetrics,
        *,
        clock: Callable[[], float] = time.monotonic,
        unix_time: Callable[[], float] = time.time,
    ) -> None:
        log = get_logger("controller").bind(controller=controller.name)
        self._primary = controller.primary
        self._workers = keys_under_way(controller)
        self._metrics = metrics.controller(controller.name, self._workers)
        self._queue = metrics.queue(controller.name)
        super().__init__(log, metrics.reading(controller.name), clock=clock, unix_time=unix_time)
        self._states = metrics.object_states(controller.reported) if controller.reported else None
        self._depth = 0
        self._slowed = 0
        self._running: dict[ObjectKey, float] = {}
        self._refused: dict[ObjectKey, frozenset[Failure]] = {}
        """What has gone wrong in the turns that go on."""
        self._failing: dict[ObjectKey, frozenset[Failure]] = {}
        """What went wrong in the last turn of a key."""
        self._failing_since: dict[ObjectKey, float] = {}
        self._rejected: set[ObjectKey] = set()
        """Failing keys whose input has to change."""
        self._queue.depth.set_function(lambda: self._depth)
        self._queue.unfinished_work.set_function(lambda: sum(self._ages()))
        self._queue.longest_running.set_function(lambda: max(self._ages(), default=0))
        self._metrics.active_workers.set_function(lambda: len(self._running))
        self._metrics.slowed_keys.set_function(lambda: self._slowed)
        self._metrics.failing_keys.set_function(lambda: len(self._failing_since))
        self._metrics.rejected_keys.set_function(lambda: len(self._rejected))
        self._metrics.failing_time.set_function(self._failing_time)

    def _ages(self) -> list[float]:
        now = self._clock()
        return [now - began for began in list(self._running.values())]

    def _failing_time(self) -> float:
        now = self._clock()
        return now - min((at for key, at in self._failing_since.items() if key not in self._rejected), default=now)

    @override
    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """Count the end of a list or watch; one that has a problem is worth a line, or leaves nothing to work at."""
        super().interrupted(watched, cause, problem)
        if watched.resource != self._primary:
            return
        is_absent = cause == "absent"
        if is_absent or (isinstance(problem, Refused) and problem.error.is_unproven_absence):
            self._cache_metrics.waiting_for_definition(str(watched.resource)).set(1)
        if is_absent and self._is_news(("absent", watched.resource)):
            self._log.tell(Message.IDLE, resource=watched.resource)

    @override
    def resumed(self, watched: Watched) -> None:
        super().resumed(watched)
        if watched.resource == self._primary:
            self._cache_metrics.waiting_for_definition(str(watched.resource)).set(0)

    @override
    def changed(self, changes: Sequence[Change]) -> None:
        if self._states is not None:
            self._states.changed(changes)

    @override
    def queues(self, waiting: Callable[[], float]) -> None:
        self._metrics.queue_age.set_function(waiting)

    @override
    def started(self, keys: int) -> None:
        self._log.tell(Message.STARTING_WORKERS, workers=self._workers, keys=keys)

    @override
    def added(self, depth: int) -> None:
        self._depth = depth
        self._queue.adds.inc()

    @override
    def taken(self, depth: int, waited: float) -> None:
        self._depth = depth
        self._queue.queue_duration.observe(waited)

    @override
    def finished(self, worked: float) -> None:
        self._queue.work_duration.observe(worked)

    @override
    def retried(self) -> None:
        self._queue.retries.inc()

    @override
    def began(self, key: ObjectKey) -> None:
        self._running[key] = self._clock()
        begin_reconciliation(key)

    @override
    def reconciled(self, key: ObjectKey, result: Result, seconds: float) -> None:
        self._running.pop(key, None)
        self._metrics.results(result).inc()
        self._metrics.seconds.observe(seconds)
        if result == "error":
            self._metrics.errors.inc()
            self._note_failure(key)
        elif result != "requeue":
            self._failing_since.pop(key, None)
            self._rejected.discard(key)
        self._note_recovery(key)
        self._log.tell(Message.RECONCILED, result=result, seconds=seconds)
        end_reconciliation()

    @override
    def acted(self, key: ObjectKey, action: Action) -> None:
        kind = KINDS[type(action)]
        self._metrics.plan_actions(kind).inc()
        self._log.tell(Message.CARRIED_OUT, action=kind, resource=action.resource, key=action.key, reason=action.reason)

    @override
    def not_written(self, key: ObjectKey, failed: NotWritten) -> None:
        """Say what could not be done and why, once where all are hit alike; a lost race is nothing to worry about."""
        action, kind = failed.action, KINDS[type(failed.action)]
        whose = None if failed.hits_all else key
        is_news = not failed.is_race and self._is_news(("write", kind, action.resource, failed.problem, whose))
        self._log.tell(Message.NOT_CARRIED_OUT, again=not is_news, action=kind, resource=action.resource,
                       key=action.key, reason=action.reason, error=failed.problem)  # fmt: skip

    @override
    def refused(self, key: ObjectKey, failures: Sequence[Failure]) -> None:
        if not any(failure.retryable for failure in failures):
            self._metrics.terminal_errors.inc()
        self._refused[key] = frozenset(failures)
        for failure in failures:
            self._once(("failed", key, failure), Message.NOT_RECONCILED, error=failure)

    @override
    def warned(self, key: ObjectKey, event: Event) -> None:
        self._once(("warned", key, event), Message.WARNED, reason=event.reason, note=event.note)

    def _note_failure(self, key: ObjectKey) -> None:
        """Note since when a key fails: one that is retried again after its input has changed begins anew."""
        failures = self._refused.get(key, frozenset())
        if failures and not any(failure.retryable for failure in failures):
            self._rejected.add(key)
        elif key in self._rejected:
            self._rejected.discard(key)
            self._failing_since.pop(key, None)
        self._failing_since.setdefault(key, self._clock())

    def _note_recovery(self, key: ObjectKey) -> None:
        """Note that what went wrong with a key does so no longer: the next time it is news."""
        refused = self._refused.pop(key, frozenset())
        for failure in self._failing.pop(key, frozenset()) - refused:
            self._repetition.ended(("failed", key, failure))
        if refused:
            self._failing[key] = refused

    @override
    def raised(self, key: ObjectKey, error: Exception) -> None:
        """Show a defect with its traceback; a reconciliation that took too long is none."""
        if isinstance(error, TimeoutError):
            self._log.tell(Message.TOO_LONG)
            return
        self._metrics.panics.inc()
        self._log.tell(Message.DEFECT, exc_info=error)

    @override
    def unmapped(self, resource: Resource, error: Exception) -> None:
        """Show a defect in a mapping: the keys that a change concerns are not known, a resync finds them."""
        self._metrics.panics.inc()
        self._log.tell(Message.NOT_MAPPED, resource=resource, exc_info=error)

    @override
    def deletions_held(self, key: ObjectKey, deletions: int) -> None:
        self._metrics.deletion_guard_stops.inc()
        self._once(("held", key), Message.HELD, deletions=deletions)

    @override
    def conflicted(self, key: ObjectKey, conflict: WriteConflict, wait: float) -> None:
        self._metrics.conflicts.inc()
        self._log.tell(
            Message.CONFLICT,
            what=conflict,
            resource=conflict.action.resource,
            key=conflict.action.key,
            wait=wait,
            managers=conflict.managers,
        )

    @override
    def slowed(self, keys: int) -> None:
        self._slowed = keys

    @override
    def waited(self, key: ObjectKey, seconds: float, *, caught_up: bool) -> None:
        self._metrics.cache_wait.observe(seconds)
        if not caught_up:
            self._metrics.cache_wait_timeouts.inc()
            self._once("behind", Message.CACHES_BEHIND)
