"""Runs the decisions of one controller: performs each step and the final plan against the API servers.

Guarantees: the deletion guard sees all actions of a step, or of the plan, before the first is sent. The key's next turn
waits until the caches show every write; within a turn nothing waits for the caches, as the replies hold the written
objects. Nothing is sent after the lease is lost. Does not decide when a key is reconciled again.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, primary_object
from hedgerow.machinery.deletion_guard import deleted_by
from hedgerow.machinery.objects import ObjectKey, Resource, uid_of
from hedgerow.machinery.plan import Action, ApiError, Decision, Delete, Event, Plan, WriteResult, actions_in, is_dry_run
from hedgerow.machinery.questions import KindQuestion, NotAnswered
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Execution, Now, Pause, Step
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.kubernetes.live_reads import Questions
from hedgerow_adapters.runtime.caches import Caches, View
from hedgerow_adapters.runtime.deletions import DeletionGuard
from hedgerow_adapters.runtime.events import EventSink
from hedgerow_adapters.runtime.executor import Executor, NotWritten, Report, Unanswered
from hedgerow_adapters.runtime.expectations import Expectations
from hedgerow_adapters.runtime.field_managers import other_writers_of
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.queue import WorkQueue
from hedgerow_adapters.runtime.steps import Driver, Perform, gather, reply_to, without_deletions
from hedgerow_adapters.runtime.write_conflicts import Place, WriteConflictDetector, changed_nothing, place_of

PATIENCE: Final = 120.0
"""Seconds for the answer to a live read. Many wait for a place at a time; the rest of a turn's limit is for writes."""
PAUSE: Final = 0.002
"""Seconds between two slices of a decision, about as long as a slice: other keys get half of the time."""
Decide: TypeAlias = Callable[[Controller[Any], ObjectKey, Snapshot, Context[Any]], Plan | Decision]
"""Makes a decision, or records it as well."""
_HELD: Final = ApiError(0, "DeletionsHeld", "deletions are held back until it is clear that they are meant")


class TurnResult(NamedTuple):
    """The last plan of a turn, and how it was carried out."""

    plan: Plan
    failed: bool
    held: bool
    """True if deletions were held back."""
    deletes: bool
    """True if any plan of the turn wants to delete."""


@dataclass(slots=True)
class _Turn:
    """A turn under way."""

    controller: Controller[Any]
    key: ObjectKey
    context: Context[Any]
    driver: Driver | None = None
    computed: int = 0
    """How many values of decoded documents the decision holds."""
    doubted: set[str] = field(default_factory=set)
    """Deletions without evidence for which the guard was asked to look again."""
    is_step_held: bool = False
    held: bool = False
    deletes: bool = False

    @property
    def identity(self) -> tuple[str, ObjectKey]:
        return self.controller.name, self.key


class _DoubtfulDeletionsError(Exception):
    """The plan wants so many deletions without evidence: make a forecast, then decide again."""


class OutdatedTurnError(Exception):
    """The answer to a write is lost, and the caches know more than the decision: decide again."""


class LeaseLostError(Exception):
    """This process may not write any more; the decision was closed before its end."""


def reconciled(
    controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]
) -> Plan | Decision:
    """The decision of a controller, recorded nowhere."""
    return controller.reconcile(key, snapshot, context)


class Turns:
    """Takes the turns of one controller."""

    def __init__(
        self,
        controller: Controller[Any],
        caches: Caches,
        view: View,
        queue: WorkQueue,
        *,
        recorder: EventSink,
        observer: ControllerObserver,
        may_write: Callable[[], bool],
        decide: Decide,
        guards_deletions: bool,
        pause: float,
        perform: Perform,
    ) -> None:
        """No turn was taken yet; the arguments are those of the `ControllerRunner`."""
        clusters = caches.clusters
        self.expectations: Final = Expectations(view.snapshot, view.informer_of)
        self.deletions: Final = DeletionGuard(controller, view.snapshot, view.relist)
        self.conflicts: Final = WriteConflictDetector(controller.longest_wait)
        self.server_versions: frozenset[str] = frozenset()
        """Those that the next turns see in their context."""
        self._controller = controller
        self._caches = caches
        self._snapshot = view.snapshot
        self._queue = queue
        self._recorder = recorder
        self._observer = observer
        self._may_write = may_write
        self._decide = decide
        self._guards_deletions = guards_deletions
        self._pause = pause
        self._perform = perform
        self._executor = Executor(
            clusters.target.transport,
            source=clusters.source.transport,
            may_write=may_write,
            is_overtaken=self.expectations.overtaken,
        )
        self._questions = Questions(
            {cluster: clusters.access(cluster).transport for cluster in Cluster},
            {cluster: clusters.access(cluster).namespaces for cluster in Cluster},
            patience=PATIENCE,
            places=caches.places_for_questions,
            # Whoever creates nothing on its own is told of objects by name, and has written them all the same.
            beyond=controller.owned is None,
            lacks=lambda cluster, resource: caches.discoveries[cluster].lacks(resource),
        )

    def reconfigure(self, controller: Controller[Any]) -> None:
        """Use another configuration for the turns that begin from now on."""
        self._controller = controller
        self.deletions.reconfigure(controller)

    async def take(self, key: ObjectKey, state: object) -> TurnResult:
        """Take the turn of a key, with the `state` of its last plan.

        Raises EndlessDecisionError, LeaseLostError, OutdatedTurnError and NoRoomError.
        """
        jitter, config = self._caches.random(), self._controller.config
        context = Context(utc_now(), config, state=state, jitter=jitter, server_versions=self.server_versions)
        turn = _Turn(self._controller, key, context)
        try:
            while True:
                try:
                    return await self._taken(turn)
                except _DoubtfulDeletionsError as doubtful:
                    await self.deletions.look_again(*doubtful.args)
                    # A decision that starts again knows its own writes from the caches alone.
                    await self.expectations.catch_up(key)
                    turn.context = replace(context, now=utc_now())
        finally:
            self._caches.long_decisions.end(turn.identity)

    async def _taken(self, turn: _Turn) -> TurnResult:
        """Run a decision from its first line to its end, and carry out its plan."""
        decision = self._decide(turn.controller, turn.key, self._snapshot, turn.context)
        with Execution(decision, turn.key) as execution:
            state = execution.begin()
            while isinstance(state, Step):
                reply = await self._performed(turn, state)
                if not self._may_write():
                    raise LeaseLostError
                state = execution.go_on(reply)
        plan = state
        held = self._are_held(turn, plan)
        self._record(turn.key, plan.events)
        reports = await self._reports(turn.key, plan.actions, in_order=plan.in_order, held=held, is_last=True)
        failed = any(isinstance(report, NotWritten) for report in reports)
        return TurnResult(plan, failed, turn.held, turn.deletes)

    async def _performed(self, turn: _Turn, step: Step[Any]) -> Any:
        """The reply to a step. Other keys run before each step, except before `Now`."""
        if isinstance(step, Now):
            return utc_now()
        if not isinstance(step, Pause):
            self._caches.long_decisions.computed(turn.identity, turn.computed)
            turn.is_step_held = self._are_held(turn, Plan(actions_in(step)))
            await asyncio.sleep(0)
        if turn.driver is None:
            turn.driver = Driver(
                ask=self._questions.ask,
                look_up=self._resources,
                carry_out=partial(self._results, turn),
                record=partial(self._record, turn.key),
                now=utc_now,
                pause=partial(self._wait, turn),
                render=self._caches.render,
                gather=gather,
                further=self._perform,
            )
        return await reply_to(step, turn.driver)

    def _record(self, key: ObjectKey, events: Sequence[Event]) -> None:
        self._recorder.record(events)
        for event in events:
            if event.type == "Warning":
                self._observer.warned(key, event)

    async def _wait(self, turn: _Turn, step: Pause) -> None:
        await self._caches.long_decisions.begin(turn.identity, partial(self._queue.add, turn.key, low_priority=True))
        turn.computed = max(turn.computed, step.held)
        await asyncio.sleep(self._pause)

    async def _resources(self, questions: Sequence[KindQuestion]) -> list[Resource | NotAnswered]:
        found: dict[KindQuestion, Resource | NotAnswered] = {}
        for cluster in {question.cluster for question in questions}:
            asked = [question for question in questions if question.cluster is cluster]
            known = await self._caches.discoveries[cluster].look_up(question.kind for question in asked)
            found |= {question: known[question.kind] for question in asked}
        return [found[question] for question in questions]

    async def _results(
        self, turn: _Turn, actions: Sequence[Action], *, in_order: bool = False
    ) -> tuple[WriteResult, ...]:
        """The results of the actions of a step; deletions that are held back are refused."""
        held = turn.is_step_held
        reports = await self._reports(turn.key, actions, in_order=in_order, held=held, is_last=False)
        results = [report.result for report in reports if not isinstance(report, Unanswered)]
        if not held:
            return tuple(results)
        if in_order:
            first = next((action for action in actions if isinstance(action, Delete)), None)
            is_reached = first is not None and all(result.error is None for result in results)
            return (*results, *([WriteResult(first, error=_HELD)] if first is not None and is_reached else ()))
        sent = iter(results)
        return tuple(
            WriteResult(action, error=_HELD) if isinstance(action, Delete) else next(sent) for action in actions
        )

    async def _reports(
        self, key: ObjectKey, actions: Sequence[Action], *, in_order: bool, held: bool, is_last: bool
    ) -> Sequence[Report]:
        """Send actions, except deletions that are held back, and note the results, even if the turn is cancelled.

        Raises OutdatedTurnError if the answer to a write is lost.
        """
        if held:
            actions = without_deletions(actions, in_order=in_order)
        if not actions:
            return []
        corrections: list[WriteResult] = []
        contested = [action for action in actions if self.conflicts.may_begin(key, action)]
        # Before the write, which takes the fields over.
        managers = {place_of(action): await other_writers_of(action, self._questions.ask) for action in contested}

        def note(report: Report) -> None:
            if (correction := self._noted(key, report, is_last=is_last)) is not None:
                corrections.append(correction)

        try:
            reports = await self._executor.carry_out(actions, note, in_order=in_order)
        finally:
            self._slow_down_conflicts(key, corrections, managers)
        if any(isinstance(report, Unanswered) for report in reports):
            raise OutdatedTurnError
        return reports

    def _are_held(self, turn: _Turn, plan: Plan) -> bool:
        """True if the deletions of a step or a plan are held back; raises if the guard has to look again first."""
        if not plan.deletions:
            return False
        turn.deletes = True
        if not self._guards_deletions or self.deletions.allows(turn.key, plan, turn.controller):
            return False
        if note := self.deletions.accept_annotation(turn.key, plan):
            self._tell(turn.key, "Normal", "DeletionsAllowed", note)
            return False
        deleted = deleted_by(plan)
        if not deleted <= turn.doubted:
            turn.doubted |= deleted
            raise _DoubtfulDeletionsError(plan.deletions)
        if note := self.deletions.note_of_stop(turn.key, plan):
            self._tell(turn.key, "Warning", "DeletionsHeld", note)
        self._observer.deletions_held(turn.key, plan.deletions)
        turn.held = True
        return True

    def _noted(self, key: ObjectKey, report: Report, *, is_last: bool) -> WriteResult | None:
        """The result of a write, if it has changed the object.

        A refusal in the middle of a decision is for the decision to handle, unless every write would be refused.
        """
        action = report.action
        discovery = self._caches.discoveries[action.cluster]
        if isinstance(report, NotWritten):
            if report.answer is not None and report.answer.is_unproven_absence:
                discovery.in_doubt(action.resource)
            if is_last or report.hits_all:
                self._observer.not_written(key, report)
            return None
        if is_dry_run(action):
            return None
        # What is served may be different because of what was written.
        discovery.may_have_changed(action.resource, action.key)
        if isinstance(report, Unanswered):
            return None
        self.expectations.expect(key, report)
        self._observer.acted(key, action)
        return None if changed_nothing(action, report.stored) else report.result

    def _slow_down_conflicts(
        self, key: ObjectKey, corrections: Sequence[WriteResult], managers: Mapping[Place, tuple[str, ...]]
    ) -> None:
        """Let a key in a write conflict wait, and record an event at its owner when the conflict begins."""
        slowdown = self.conflicts.carried_out(key, corrections, asyncio.get_running_loop().time(), managers)
        if slowdown is None:
            return
        self._queue.hold(key, slowdown.seconds)
        for conflict in slowdown.begun:
            self._observer.conflicted(key, conflict, slowdown.seconds)
            note = conflict.note(slowdown.seconds, self.conflicts.longest_wait)
            self._tell(key, "Warning", "WriteConflict", note)

    def _tell(self, key: ObjectKey, kind: Literal["Normal", "Warning"], reason: str, note: str) -> None:
        """Record an event of the runtime at the object of a key; the key of a periodic controller has no object."""
        if self._controller.periodic:
            return
        owner = primary_object(self._controller, self._snapshot, key)
        uid = uid_of(owner) if owner else None
        cluster = self._controller.primary_cluster
        self._recorder.record([Event(self._controller.primary, key, uid, kind, reason, note, cluster=cluster)])
