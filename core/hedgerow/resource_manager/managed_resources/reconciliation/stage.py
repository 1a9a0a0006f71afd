"""What a step of a reconciliation looks at: all that is known at one stage of the turn.

A step either passes on, with a record that says more, or returns the plan of this stage. As every stage begins at the
first step again, a step asks what is the case by now: what was planned before shows in outcomes and answers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, find, get_or_init, updated
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, uid_of
from hedgerow.machinery.plan import Action, Event, JsonPatch, Outcome, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.decoding import DecodedValue
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES, RESOURCES_APPLIED
from hedgerow.resource_manager.managed_resources.origin import Origin
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Memory, Remembered
from hedgerow.resource_manager.managed_resources.references import Reference
from hedgerow.resource_manager.managed_resources.status import status_patch

_NOTHING_DESIRED: Final = Desired((), (), (), (), (), (), "", ())
_OWN: Final = (MANAGED_RESOURCES, Cluster.SOURCE)
Writes: TypeAlias = Mapping[tuple[Cluster, Resource, ObjectKey], Sequence[Outcome]]


class Statement(NamedTuple):
    """What a condition is to say from now on."""

    type: str
    status: ConditionStatus
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One ManagedResource, and what is known about what it asks for."""

    key: ObjectKey
    snapshot: Snapshot
    context: Context[ManagedResourceConfig]
    writes: Writes
    """What became of the writes of this turn, object by object, in their order."""
    managed_resource: Manifest
    """As the last write of this turn left it."""
    pending: tuple[Action, ...] = ()
    """What the next plan is to begin with."""
    secrets: Mapping[str, Manifest] = field(default_factory=dict)
    """The Secrets that it refers to, by name."""
    decoded: tuple[DecodedValue, ...] = ()
    desired: Desired = _NOTHING_DESIRED
    foreign: tuple[tuple[Reference, Origin], ...] = ()
    """What is no longer asked for and yet stays, as it belongs to a ManagedResource of another cluster."""
    applied: tuple[Remembered, ...] = ()
    """What is worth remembering of the objects that are as they should be."""

    @property
    def config(self) -> ManagedResourceConfig:
        """What the controller is configured with."""
        return self.context.config

    @property
    def memory(self) -> Memory | None:
        """What the last turn left."""
        memory: Memory | None = self.context.memory
        return memory

    @property
    def origin(self) -> str:
        """What the origin annotation of its objects says."""
        return str(Origin(self.config.cluster_id, self.key))

    @property
    def status(self) -> Manifest:
        """The status that is stored; empty where there is none."""
        status = self.managed_resource.get("status")
        return status if isinstance(status, (dict, Mapping)) else {}

    def said(self, condition_type: str) -> Condition | None:
        """What a condition says by now; none where it is not there."""
        return find(conditions_of(self.managed_resource), condition_type)

    def writes_of(self, resource: Resource, key: ObjectKey) -> Sequence[Outcome]:
        """What became of the writes of this turn to an object of the target cluster."""
        return self.writes.get((Cluster.TARGET, resource, key), ())

    def own_writes(self) -> Sequence[Outcome]:
        """What became of the writes of this turn to the ManagedResource itself."""
        return self.writes.get((Cluster.SOURCE, MANAGED_RESOURCES, self.key), ())


Step: TypeAlias = Callable[[Stage], Stage | Plan]


def walk(stage: Stage, steps: Iterable[Step]) -> Plan:
    """The plan of the first step that has one; a step that ends the list always does."""
    for step in steps:
        result = step(stage)
        if isinstance(result, Plan):
            return _after_what_is_pending(stage, result)
        stage = result
    raise AssertionError("the last step passed on")


def _after_what_is_pending(stage: Stage, plan: Plan) -> Plan:
    """What is pending comes first; where the plan is about the very object that it changes, the plan is made anew."""
    if not stage.pending:
        return plan
    if plan.is_final or any((each.resource, each.cluster) == _OWN for each in plan.actions):
        return Plan(stage.pending, in_order=True, goes_on=True)
    return replace(plan, actions=(*stage.pending, *plan.actions))


def writes_of_turn(outcomes: Iterable[Outcome]) -> Writes:
    """The outcomes by object."""
    writes: dict[tuple[Cluster, Resource, ObjectKey], list[Outcome]] = {}
    for outcome in outcomes:
        action = outcome.action
        writes.setdefault((action.cluster, action.resource, action.key), []).append(outcome)
    return writes


def status_write(stage: Stage, reason: str, *statements: Statement, **members: Any) -> tuple[JsonPatch, ...]:
    """The write that makes the status say what it is to say; none where it does already.

    Args:
        stage: what is known.
        reason: the rule that asks for it.
        statements: what conditions are to say.
        members: as those of `status_patch`.
    """
    stored = conditions_of(stage.managed_resource)
    now = stage.context.now
    conditions = [
        updated(get_or_init(stored, each.type, now), each.status, each.reason, each.message, now=now).condition
        for each in statements
    ]
    patch = status_patch(stage.managed_resource, conditions, reason=reason, **members)
    return () if patch is None else (patch,)


def trouble(stage: Stage, reason: str, message: str, problem: str, memory: Memory | None) -> Plan:
    """The plan of a turn that ends because something failed, and is to be tried again with growing patience.

    Args:
        stage: what is known.
        reason: what `ResourcesApplied` is to give as reason for being false.
        message: what it is to say.
        problem: what failed, for the log.
        memory: for the next turn.
    """
    statement = Statement(RESOURCES_APPLIED, ConditionStatus.FALSE, reason, message)
    return Plan(
        actions=status_write(stage, reason, statement),
        events=warning_of(stage, reason, message),
        failures=(failure(stage, problem),),
        memory=memory,
    )


def not_found_out(stage: Stage, problem: str, memory: Memory | None) -> Plan:
    """The plan of a turn that ends because nobody answered: conditions say what they said, as nothing new is known.

    Args:
        stage: what is known.
        problem: why there was no answer, for the log.
        memory: for the next turn.
    """
    return Plan(failures=(failure(stage, problem),), memory=memory)


def failure(stage: Stage, problem: str) -> DomainFailure:
    """What failed, and may succeed another time."""
    return DomainFailure(MANAGED_RESOURCES, stage.key, "", problem, retryable=True)


def warning_of(stage: Stage, reason: str, message: str) -> tuple[Event, ...]:
    """The event that tells of trouble; none where the condition gives that reason already."""
    said = stage.said(RESOURCES_APPLIED)
    return () if said is not None and said.reason == reason else (event(stage, "Warning", reason, message),)


def event(stage: Stage, kind: Any, reason: str, note: str) -> Event:
    """An event about the ManagedResource, of type `Normal` or `Warning`."""
    uid = uid_of(stage.managed_resource)
    return Event(MANAGED_RESOURCES, stage.key, uid, kind, reason, note, Cluster.SOURCE)
