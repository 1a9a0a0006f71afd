"""Takes the turns of one controller's keys: has each plan carried out until the decision has come to its end.

Guarantees: every plan of a turn is shown to the guard of deletions; every write is expected before the key's next turn,
while within a turn nothing waits for the caches, as outcomes tell the decision of its own writes; nothing more is sent
once the lease is lost. Decides neither what is wanted nor when a key is looked at again.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, primary_object
from hedgerow.machinery.objects import ObjectKey, uid_of
from hedgerow.machinery.plan import Action, Delete, DeleteCollection, Event, Outcome, Plan, Refusal
from hedgerow.machinery.questions import Kinds
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.turn import Turn
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.kubernetes.questions import Questions
from hedgerow_adapters.runtime.caches import Caches, View
from hedgerow_adapters.runtime.deletions import DeletionLedger
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.executor import Executor, NotWritten, Written
from hedgerow_adapters.runtime.expectations import Expectations
from hedgerow_adapters.runtime.fights import FightDetector, changed_nothing
from hedgerow_adapters.runtime.observer import ControllerObserver

PATIENCE: Final = 120.0
"""Seconds for the answer to a question: others are asked as well, and an early end of a turn is nobody's gain. It
leaves a turn the time to keep what it has found out."""
Decide: TypeAlias = Callable[[Turn[Any], Snapshot, datetime, Kinds], Plan]
"""Makes the decision of a turn; whoever records decisions stands in between here."""
_HELD: Final = Refusal(0, "DeletionsHeld", "deletions are held back until it is clear that they are meant")


class Course(NamedTuple):
    """How a turn went."""

    plan: Plan
    """The last one."""
    failed: bool
    """Whether it was not carried out in full."""
    held: bool
    """Whether deletions were held back."""
    deletes: bool
    """Whether any plan of the turn wants to delete."""


class _Stage(NamedTuple):
    """One plan of a turn, carried out."""

    plan: Plan
    outcomes: Sequence[Outcome]
    failed: bool
    """Whether something that was sent was not carried out."""
    held: bool
    """Whether its deletions were held back."""


class LeaseLostError(Exception):
    """This process may not write any more, and the decision has not come to its end."""


class Turns:
    """Whatever turns need to be taken."""

    def __init__(
        self,
        controller: Controller[Any],
        caches: Caches,
        view: View,
        *,
        recorder: EventRecorder,
        observer: ControllerObserver,
        hold: Callable[[ObjectKey, float], None],
        may_write: Callable[[], bool],
        decide: Decide = Turn.plan,
    ) -> None:
        """No turn was taken yet.

        Args:
            controller: whose keys they are.
            caches: where to ask and to write.
            view: what the controller reads.
            recorder: records the events that plans ask for.
            observer: is told what happens.
            hold: lets a key wait for so many seconds because of a fight.
            may_write: asked before every write.
            decide: makes the decisions.
        """
        clusters = caches.clusters
        self.expectations: Final = Expectations(view.snapshot, view.informer_of)
        self.deletions: Final = DeletionLedger(controller, view.snapshot, view.relist)
        self.fights: Final = FightDetector()
        self._controller = controller
        self._caches = caches
        self._snapshot = view.snapshot
        self._recorder = recorder
        self._observer = observer
        self._hold = hold
        self._may_write = may_write
        self._decide = decide
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
            on_unserved=lambda cluster, resource: caches.discovery_of(cluster).not_found(resource),
        )

    def reconfigure(self, controller: Controller[Any]) -> None:
        """Let the turns that begin from now on be those of the same controller with another configuration."""
        self._controller = controller
        self.deletions.reconfigure(controller)

    async def take(self, key: ObjectKey, memory: object) -> Course:
        """Take the turn of a key.

        Args:
            key: whose turn it is.
            memory: what its last turn wanted this one to be told.

        Raises:
            EndlessTurnError: the decision goes on and on.
            LeaseLostError: it was stopped before its end.
        """
        turn = Turn(self._controller, key, memory, jitter=self._caches.random())
        held, deletes = False, False
        while True:
            stage = await self._stage(turn)
            held, deletes = held or stage.held, deletes or stage.plan.deletions > 0
            if stage.plan.is_final:
                return Course(stage.plan, stage.failed, held, deletes)
            if not self._may_write():
                raise LeaseLostError
            turn = await self._told(turn.after(stage.outcomes), stage.plan)

    async def _stage(self, turn: Turn[Any]) -> _Stage:
        """Decide what a turn wants next, and do it."""
        key = turn.key
        plan, held = await self._decision(turn)
        self._recorder.record(plan.events)
        if held:
            self._observer.deletions_held(key, plan.deletions)
        actions = _without_deletions(plan) if held else plan.actions
        written = await self._executor.carry_out(actions, in_order=plan.in_order) if actions else []
        self._take_note(key, written, is_last=plan.is_final)
        failed = any(isinstance(each, NotWritten) for each in written)
        outcomes = [each.outcome for each in written]
        if held and not (plan.in_order and failed):
            outcomes += _held_back(plan)
        return _Stage(plan, outcomes, failed, held)

    async def _told(self, turn: Turn[Any], plan: Plan) -> Turn[Any]:
        """A turn that knows what its last plan has asked."""
        discovery = self._caches.discovery
        # Others get a turn as well where nothing has to be waited for.
        await asyncio.sleep(0)
        questions, unknown = turn.open_questions(plan), turn.open_kinds(plan, discovery.known)
        if not questions and not unknown:
            return turn
        answers, kinds = await asyncio.gather(self._questions.ask_all(questions), discovery.look_up(unknown))
        return turn.told(answers, kinds)

    async def _decision(self, turn: Turn[Any]) -> tuple[Plan, bool]:
        """What a turn wants next, and whether the deletions of that are held back."""
        plan = self._plan(turn)
        if not plan.deletions or self.deletions.allows(turn.key, plan, turn.controller):
            return plan, False
        if forecast := await self.deletions.look_again(plan.deletions):
            self._warn(turn.key, "DeletionsHeld", f"deletions are held back: {forecast}")
        plan = self._plan(turn)
        return plan, plan.deletions > 0 and not self.deletions.allows(turn.key, plan, turn.controller)

    def _plan(self, turn: Turn[Any]) -> Plan:
        return self._decide(turn, self._snapshot, utc_now(), self._caches.discovery.known)

    def _take_note(self, key: ObjectKey, outcomes: Sequence[Written | NotWritten], *, is_last: bool) -> None:
        """Tell what was done. What is refused while a decision goes on is its own affair, unless all would be."""
        done: list[Action] = []
        for outcome in outcomes:
            if isinstance(outcome, Written):
                self.expectations.expect(key, outcome)
                self._observer.acted(key, outcome.action)
                self._note_kinds(outcome.action)
                if not changed_nothing(outcome.action, outcome.stored):
                    done.append(outcome.action)
                continue
            if outcome.answer is not None and outcome.answer.is_unserved:
                self._caches.discovery_of(outcome.action.cluster).not_found(outcome.action.resource)
            if is_last or outcome.hits_all:
                self._observer.not_written(key, outcome)
        self._slow_down_fights(key, done)

    def _note_kinds(self, action: Action) -> None:
        """What is served may be different because of what was written."""
        which = None if isinstance(action, DeleteCollection) else action.key
        self._caches.discovery_of(action.cluster).may_have_changed(action.resource, which)

    def _slow_down_fights(self, key: ObjectKey, done: Sequence[Action]) -> None:
        """Let a key wait whose objects somebody else keeps changing back, and tell the owner when that begins."""
        slowdown = self.fights.carried_out(key, done, asyncio.get_running_loop().time())
        if slowdown is None:
            return
        self._hold(key, slowdown.seconds)
        for fight in slowdown.begun:
            self._observer.fought(key, fight, slowdown.seconds)
            self._warn(key, "Fight", str(fight))

    def _warn(self, key: ObjectKey, reason: str, note: str) -> None:
        """Record an event of the runtime itself, at the object whose turn it is; a round of work has none."""
        if self._controller.periodic:
            return
        owner = primary_object(self._controller, self._snapshot, key)
        uid = uid_of(owner) if owner else None
        cluster = self._controller.primary_cluster
        self._recorder.record([Event(self._controller.primary, key, uid, "Warning", reason, note, cluster=cluster)])


def _without_deletions(plan: Plan) -> tuple[Action, ...]:
    """What a plan asks for while its deletions are held back: in order, only what comes before the first of them."""
    if plan.in_order:
        return tuple(itertools.takewhile(lambda action: not isinstance(action, Delete), plan.actions))
    return tuple(action for action in plan.actions if not isinstance(action, Delete))


def _held_back(plan: Plan) -> list[Outcome]:
    """What becomes of the deletions of a plan that are held back; in order, of the first alone: it is tried last."""
    held = [Outcome(action, refusal=_HELD) for action in plan.actions if isinstance(action, Delete)]
    return held[:1] if plan.in_order else held
