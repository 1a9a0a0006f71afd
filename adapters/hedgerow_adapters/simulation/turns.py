"""Drives the turn of a key without an event loop, and tells everything that it asks for.

For whoever wants to know all that would be done, such as `hedgerow plan`. What the plans before the last one ask for
has to be carried out somewhere, as the decision builds on it: see `surroundings`.

Expected flow, for a controller that is to be shown at work on some files or on a live cluster:

    surroundings = InMemory({Cluster.TARGET: cluster, Cluster.SOURCE: cluster})  # or Imagined(...)
    following = with_followed(controller, snapshot, surroundings)  # make the snapshot anew, of this one
    for key in all_keys(following, snapshot):
        decision = decided(following, key, snapshot, now, surroundings)
        decision.steps  # every action in order, the object before it, and the refusal if there was one
        decision.plan.failures

The actions of the last plan are the last steps. They are not carried out, as nothing builds on them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from hedgerow.machinery.controller import Controller, Follow, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Action, DeleteCollection, Event, Outcome, Plan, Refusal
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.turn import Turn
from hedgerow_adapters.simulation.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class DecidedStep:
    """One action of a turn."""

    action: Action
    before: Manifest | None
    """The whole object as it was; none if it did not exist, for a deletion of many, and where nobody looked."""
    is_last: bool = False
    """Whether the last plan asks for it, so that it was not tried."""
    refusal: Refusal | None = None
    """Why it was not carried out, where it was tried."""

    @property
    def is_done(self) -> bool:
        """Whether it was tried, and carried out."""
        return not self.is_last and self.refusal is None


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything that one turn of a key asks for."""

    steps: tuple[DecidedStep, ...]
    """All actions in their order, those of the last plan included; without those that a refusal kept from being tried,
    as their plan has them in order."""
    plan: Plan
    """The last plan."""
    events: tuple[Event, ...] = ()
    """Those that any plan of the turn asks for."""


def decided(
    controller: Controller[Any],
    key: ObjectKey,
    snapshot: Snapshot,
    now: datetime,
    surroundings: Surroundings,
    *,
    jitter: float = 0.0,
    memory: object = None,
    looks_before: bool = True,
) -> Decision:
    """Everything that a turn of a key asks for; what plans before the last one want is carried out.

    Args:
        controller: who decides.
        key: about what.
        snapshot: the world as the controller watches it; it need not show what the turn itself writes.
        now: the time at which all of it happens.
        surroundings: where questions are answered, kinds looked up and actions carried out.
        jitter: where between 0 and 1 the turn is to lie among those that would all be due at one time.
        memory: what the last turn of the key wanted this one to be told.
        looks_before: whether the steps are to tell what their objects were before.

    Raises:
        EndlessTurnError: the decision goes on and on.
    """
    turn = Turn(controller, key, memory, jitter=jitter)
    steps: list[DecidedStep] = []
    events: list[Event] = []
    while not (plan := turn.plan(snapshot, now, {})).is_final:
        events += plan.events
        outcomes: list[Outcome] = []
        for action in plan.actions:
            before = _live(action, surroundings) if looks_before else None
            outcomes.append(surroundings.carry_out(action))
            steps.append(DecidedStep(action, before, refusal=outcomes[-1].refusal))
            if plan.in_order and outcomes[-1].refusal:
                break
        turn = turn.after(outcomes)
        turn = turn.told(
            {question: surroundings.answer(question) for question in turn.open_questions(plan)},
            {kind: surroundings.look_up(kind) for kind in turn.open_kinds(plan, {})},
        )
    steps += (
        DecidedStep(action, _live(action, surroundings) if looks_before else None, is_last=True)
        for action in plan.actions
    )
    return Decision(tuple(steps), plan, (*events, *plan.events))


def with_followed(controller: Controller[Any], snapshot: Snapshot, surroundings: Surroundings) -> Controller[Any]:
    """A controller that declares to watch what it follows, as far as that is served: a snapshot of it shows it all.

    Args:
        controller: who follows.
        snapshot: the world as it declares to watch it.
        surroundings: where kinds are looked up.
    """
    watches = {(watch.cluster, watch.resource): watch for watch in controller.watches}
    for follow in controller.follows:
        for watch in _watches_of(follow, snapshot, surroundings):
            watches.setdefault((watch.cluster, watch.resource), watch)
    return replace(controller, watches=tuple(watches.values()))


def _watches_of(follow: Follow, snapshot: Snapshot, surroundings: Surroundings) -> Iterator[Watch]:
    index = follow.kinds
    holders = snapshot.list(index.resource, cluster=index.cluster)
    for kind in sorted({kind for each in holders for kind in index.values(each)}):
        resource = surroundings.look_up(kind, follow.cluster)
        if isinstance(resource, Resource):
            yield from follow.watches(resource)


def _live(action: Action, surroundings: Surroundings) -> Manifest | None:
    """The object that an action concerns, as it is."""
    if isinstance(action, DeleteCollection):
        return None
    answer = surroundings.answer(ObjectQuestion(action.resource, action.key, action.cluster))
    return answer.objects[0] if isinstance(answer, Found) else None
