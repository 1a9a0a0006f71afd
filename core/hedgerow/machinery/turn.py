"""One turn of a key: the decision, made again and again until its plan is final.

Knows neither who carries plans out nor where answers come from, so that the same turn is driven against API servers,
in memory, and by who only imagines what would be done::

    turn = Turn(controller, key)
    while not (plan := turn.plan(snapshot, now, known)).is_final:
        outcomes = ...  # of the plan's actions, in their order
        turn = turn.after(outcomes)
        turn = turn.told(
            ...,  # the answers to turn.open_questions(plan)
            ...,  # as which resources the kinds of turn.open_kinds(plan, known) are served
        )

What the last plan wants is for the driver to do as well, but nothing is decided about that any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Generic

from hedgerow.machinery.controller import Config, Context, Controller
from hedgerow.machinery.notes import Notes
from hedgerow.machinery.objects import Kind, ObjectKey, Resource
from hedgerow.machinery.plan import Outcome, Plan
from hedgerow.machinery.questions import Answers, Kinds, Question
from hedgerow.machinery.snapshot import Snapshot

MOST_STAGES: Final = 1_000
"""Plans of one turn. Decisions need a few, and one more for each refusal that they pass over; a Secret of 1 MiB does
not hold as many objects as would be refused here."""

_DEFINING: Final = frozenset(
    {("apiextensions.k8s.io", "customresourcedefinitions"), ("apiregistration.k8s.io", "apiservices")}
)


class EndlessTurnError(Exception):
    """A decision goes on and on: a defect."""

    def __init__(self, key: ObjectKey) -> None:
        super().__init__(f"the decision about {key} has not come to its end after {MOST_STAGES} plans")


@dataclass(frozen=True, slots=True)
class Turn(Generic[Config]):
    """What one turn of a key has come to so far."""

    controller: Controller[Config]
    key: ObjectKey
    memory: object = None
    """What the last turn of the key wanted this one to be told."""
    outcomes: tuple[Outcome, ...] = ()
    """What became of the actions of this turn, in their order."""
    answers: Answers = field(default_factory=dict)
    kinds: Kinds = field(default_factory=dict)
    """As which resources kinds are served that this turn has asked for."""
    stages: int = 0
    """How many plans of this turn were not final."""
    notes: Notes = field(default_factory=Notes, compare=False)
    """What was computed for earlier plans of this turn."""
    jitter: float = 0.0
    """Where between 0 and 1 this turn is to lie among those that would all be due at one time."""

    def plan(self, snapshot: Snapshot, now: datetime, known: Kinds) -> Plan:
        """What is wanted next.

        Args:
            snapshot: the world as it is at hand; it may have moved on since the turn began.
            now: the time at which the decision is made.
            known: what is known of kinds by now, whoever has asked.

        Raises:
            EndlessTurnError: it was asked too often.
        """
        if self.stages >= MOST_STAGES:
            raise EndlessTurnError(self.key)
        kinds = {**self.kinds, **known} if self.kinds else known
        context = Context(
            now, self.controller.config, self.answers, kinds, self.outcomes, self.memory, self.notes, self.jitter
        )
        return self.controller.reconcile(self.key, snapshot, context)

    def open_questions(self, plan: Plan) -> tuple[Question, ...]:
        """What a plan asks that this turn does not know yet, each question once: none is answered twice in a turn."""
        return tuple(question for question in dict.fromkeys(plan.questions) if question not in self.answers)

    def open_kinds(self, plan: Plan, known: Kinds) -> tuple[Kind, ...]:
        """The kinds that a plan wants looked up and of which nothing is known, each once."""
        return tuple(kind for kind in dict.fromkeys(plan.kinds) if kind not in self.kinds and kind not in known)

    def after(self, outcomes: Sequence[Outcome]) -> "Turn[Config]":
        """The turn once the actions of a plan that is not final were carried out.

        Args:
            outcomes: of those that were tried, in their order.
        """
        kinds = self.kinds
        if any(defines_kinds(outcome.action.resource) for outcome in outcomes):
            kinds = {kind: resource for kind, resource in kinds.items() if isinstance(resource, Resource)}
        return replace(self, outcomes=(*self.outcomes, *outcomes), kinds=kinds, stages=self.stages + 1)

    def told(self, answers: Answers, kinds: Kinds) -> "Turn[Config]":
        """The turn with more known.

        Args:
            answers: to the open questions of its last plan.
            kinds: as which resources its open kinds are served.
        """
        return replace(self, answers={**self.answers, **answers}, kinds={**self.kinds, **kinds})


def defines_kinds(resource: Resource) -> bool:
    """Whether objects of a resource define which kinds are served: one that was not may be, once one was written."""
    return (resource.group, resource.plural) in _DEFINING
