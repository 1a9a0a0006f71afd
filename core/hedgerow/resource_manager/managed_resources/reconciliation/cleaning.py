"""That what nothing asks for any more is gone before anything else happens, and what is said as long as it is not.

Source: managed-resources §7.7, §14.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey
from hedgerow.machinery.plan import Event, Plan
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.resource_manager.health.events import event_block, message_with_ages, warnings_question
from hedgerow.resource_manager.managed_resources.names import DELETION_PENDING, RESOURCES_APPLIED
from hedgerow.resource_manager.managed_resources.reconciliation.deciding import RETRY_AFTER
from hedgerow.resource_manager.managed_resources.reconciliation.invalidating import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.live import Unanswered
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Memory
from hedgerow.resource_manager.managed_resources.reconciliation.removal import (
    Gone,
    Pending,
    Removal,
    Steps,
    Unknown,
    removal,
)
from hedgerow.resource_manager.managed_resources.reconciliation.stage import (
    Stage,
    Statement,
    event,
    not_found_out,
    status_write,
)
from hedgerow.resource_manager.managed_resources.references import Reference, references_of

_CONFIRMED_AFTER: Final = timedelta(seconds=RETRY_AFTER - 1)
_SERVICE: Final = Kind("v1", "Service")


def clean_up_what_left(stage: Stage) -> Stage | Plan:
    """What has left the Secrets goes before anything of them is applied."""
    return clean_up(stage, stage.desired.left, lambda: attempted(stage))


def clean_up_everything(stage: Stage) -> Stage | Plan:
    """All that was ever applied goes."""
    return clean_up(stage, references_of(stage.managed_resource), lambda: stage.memory)


def clean_up(stage: Stage, references: Iterable[Reference], memory: Callable[[], Memory | None]) -> Stage | Plan:
    """Objects go, all at once; another look confirms that they are gone.

    Args:
        stage: what is known.
        references: the objects.
        memory: what to leave to the next turn as long as some of them are there.
    """
    removals = {each.identity: (each, removal(stage, each)) for each in references}
    outcomes = [outcome for _, outcome in removals.values()]
    if unknown := [outcome for outcome in outcomes if isinstance(outcome, Unknown)]:
        questions = tuple(question for each in unknown for question in each.questions)
        return Plan(questions=questions, kinds=tuple(kind for each in unknown for kind in each.kinds))
    if steps := [outcome for outcome in outcomes if isinstance(outcome, Steps)]:
        return Plan(tuple(action for each in steps for action in each.actions), goes_on=True)
    if silent := [outcome.text for outcome in outcomes if isinstance(outcome, Unanswered)]:
        return not_found_out(stage, f"could not find out what is left of old resources: {silent[0]}", memory())
    in_order = [removals[at] for at in sorted(removals, key=str)]
    pending = [(each, outcome) for each, outcome in in_order if isinstance(outcome, Pending)]
    return _with_patience(stage, pending, memory()) if pending else _without_them(stage, in_order, memory)


def _without_them(
    stage: Stage, removals: Sequence[tuple[Reference, Removal]], memory: Callable[[], Memory | None]
) -> Stage | Plan:
    """Nothing is left, unless it only seems so."""
    if unserved := _newly_unserved(stage, removals):
        known = memory() or Memory()
        return Plan(requeue_after=RETRY_AFTER, memory=replace(known, finished=(), unserved=unserved))
    foreign = tuple(
        (each, outcome.foreign) for each, outcome in removals if isinstance(outcome, Gone) and outcome.foreign
    )
    return replace(stage, foreign=foreign)


def _with_patience(stage: Stage, pending: Sequence[tuple[Reference, Pending]], memory: Memory | None) -> Plan:
    """What is still there is told of, with the events of what may take long."""
    questions = tuple(dict.fromkeys(_events_of(each) for each, _ in pending if each.kind == _SERVICE))
    if any(question not in stage.context.answers for question in questions):
        return Plan(questions=questions)
    return _plan_to_wait(stage, pending, memory)


def _newly_unserved(stage: Stage, removals: Iterable[tuple[Reference, Removal]]) -> Mapping[Kind, datetime]:
    """Since when the server does not know kinds, as far as that is found; none where it has been so for long enough.

    A server that has just started may learn of a kind a moment later, and its objects are not gone.
    """
    before = stage.memory.unserved if stage.memory is not None else {}
    now = stage.context.now
    found = {
        each.kind: before.get(each.kind, now)
        for each, outcome in removals
        if isinstance(outcome, Gone) and outcome.is_unserved
    }
    return found if any(now - since < _CONFIRMED_AFTER for since in found.values()) else {}


def foreign_events(stage: Stage) -> tuple[Event, ...]:
    """The event that tells what is no longer managed and stays as it belongs elsewhere; none where nothing does."""
    if not stage.foreign:
        return ()
    objects = ", ".join(f'"{reference}" of origin "{origin}"' for reference, origin in stage.foreign)
    note = f"left to ManagedResources of other clusters: {objects}"
    return (event(stage, "Warning", "ForeignResourcesLeft", note),)


def _plan_to_wait(stage: Stage, pending: Sequence[tuple[Reference, Pending]], memory: Memory | None) -> Plan:
    statement = Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, _message(stage, pending))
    return Plan(
        status_write(stage, "deletion-pending", statement),
        requeue_after=RETRY_AFTER,
        memory=memory if memory is None else replace(memory, finished=()),
    )


def _message(stage: Stage, pending: Sequence[tuple[Reference, Pending]]) -> str:
    """What is still there."""

    def told(now: datetime) -> str:
        texts = [_text(stage, reference, state, now) for reference, state in pending]
        return told_together("Could not clean all old resources", texts)

    return message_with_ages(told, stage.said(RESOURCES_APPLIED), stage.context.now)


def _text(stage: Stage, reference: Reference, state: Pending, now: datetime) -> str:
    text = f'deletion of old resource "{reference}" is still pending'
    if state.error:
        text = f"{text}: {state.error}"
    events = event_block(_warnings(stage, reference), reference.kind, _key(reference), now)
    return f"{text}\n\n{events}" if events else text


def _warnings(stage: Stage, reference: Reference) -> Sequence[Manifest]:
    answer = stage.context.answers.get(_events_of(reference)) if reference.kind == _SERVICE else None
    return answer.objects if isinstance(answer, Found) else ()


def _events_of(reference: Reference) -> ListQuestion:
    return warnings_question(reference.kind, _key(reference))


def _key(reference: Reference) -> ObjectKey:
    return ObjectKey(reference.identity.namespace, reference.key.name)


def told_together(what: str, texts: Sequence[str]) -> str:
    """Several errors in one sentence, as the reference tells them."""
    if len(texts) == 1:
        return f"{what}: 1 error occurred: {texts[0]}"
    return f"{what}: {len(texts)} errors occurred: [{', '.join(texts)}]"
