"""That what nothing asks for any more is gone before anything else happens, and what is said as long as it is not.

Source: managed-resources §7.7, §14.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import Kind, Manifest, Resource
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.resource_manager.health.events import event_block
from hedgerow.resource_manager.managed_resources.names import DELETION_PENDING, RESOURCES_APPLIED
from hedgerow.resource_manager.managed_resources.reconciliation.deciding import RETRY_AFTER
from hedgerow.resource_manager.managed_resources.reconciliation.invalidating import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Memory
from hedgerow.resource_manager.managed_resources.reconciliation.removal import Pending, Steps, Unknown, removal
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, Statement, status_write
from hedgerow.resource_manager.managed_resources.references import Reference, references_of

_EVENTS: Final = Resource("", "v1", "events", "Event")
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
    in_order = [removals[at] for at in sorted(removals, key=str)]
    pending = [(each, outcome) for each, outcome in in_order if isinstance(outcome, Pending)]
    if not pending:
        return stage
    questions = tuple(dict.fromkeys(_events_of(each) for each, _ in pending if each.kind == _SERVICE))
    if any(question not in stage.context.answers for question in questions):
        return Plan(questions=questions)
    return _plan_to_wait(stage, pending, memory())


def _plan_to_wait(stage: Stage, pending: Sequence[tuple[Reference, Pending]], memory: Memory | None) -> Plan:
    statement = Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, _message(stage, pending))
    return Plan(
        status_write(stage, "deletion-pending", statement),
        requeue_after=RETRY_AFTER,
        memory=memory if memory is None else replace(memory, finished=()),
    )


def _message(stage: Stage, pending: Sequence[tuple[Reference, Pending]]) -> str:
    """What is still there. The ages of events alone are no news: then what was said stays as it was said."""

    def told(now: datetime) -> str:
        texts = [_text(stage, reference, state, now) for reference, state in pending]
        return told_together("Could not clean all old resources", texts)

    said = stage.said(RESOURCES_APPLIED)
    if said is not None and said.last_update_time is not None and told(said.last_update_time) == said.message:
        return said.message
    return told(stage.context.now.replace(microsecond=0))


def _text(stage: Stage, reference: Reference, state: Pending, now: datetime) -> str:
    text = f'deletion of old resource "{reference}" is still pending'
    if state.error:
        text = f"{text}: {state.error}"
    events = event_block(_warnings(stage, reference), reference.kind, reference.key, now)
    return f"{text}\n\n{events}" if events else text


def _warnings(stage: Stage, reference: Reference) -> Sequence[Manifest]:
    answer = stage.context.answers.get(_events_of(reference)) if reference.kind == _SERVICE else None
    return answer.objects if isinstance(answer, Found) else ()


def _events_of(reference: Reference) -> ListQuestion:
    return ListQuestion(_EVENTS, Cluster.TARGET, reference.identity.namespace)


def told_together(what: str, texts: Sequence[str]) -> str:
    """Several errors in one sentence, as the reference tells them."""
    if len(texts) == 1:
        return f"{what}: 1 error occurred: {texts[0]}"
    return f"{what}: {len(texts)} errors occurred: [{', '.join(texts)}]"
