"""Pruning: objects that are no longer listed go before others are applied, and conditions say which still exist.

Source: managed-resources §7.7, §14.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from hedgerow.api.events import event_block, message_with_ages, warnings_question
from hedgerow.api.managed_resources import DELETION_PENDING, RESOURCES_APPLIED
from hedgerow.api.origins import Origin
from hedgerow.api.references import Reference
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.execution import concurrently
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey
from hedgerow.machinery.plan import Event, Plan
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.machinery.steps import AtOnce, Now
from hedgerow.resource_manager.managed_resources.reconciliation.live_objects import Unanswered
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import (
    Reconciliation,
    Statement,
    event,
    not_found_out,
    status_write,
)
from hedgerow.resource_manager.managed_resources.reconciliation.removal import Gone, Pending, removed
from hedgerow.resource_manager.managed_resources.reconciliation.state import State

Foreign: TypeAlias = tuple[tuple[Reference, Origin], ...]
"""Objects that are no longer listed and stay, as they belong to ManagedResources of other clusters."""

RETRY_AFTER: Final = 5.0
"""Seconds until the next look at what is waited for."""
MOST_TOLD: Final = 50
"""Objects that one message names. Thousands would not fit into a ManagedResource."""
_CONFIRMED_AFTER: Final = timedelta(seconds=RETRY_AFTER - 1)
_SERVICE: Final = Kind("v1", "Service")


async def prune(mr: Reconciliation, references: Iterable[Reference], state: State) -> Foreign | Plan:
    """Delete objects, all at once. A later reconciliation confirms that they are gone.

    Args:
        mr: the ManagedResource that they belonged to.
        references: the objects.
        state: for the next reconciliation, as long as some of them exist.

    Returns:
        What stays, or the end of a reconciliation that has to wait.
    """
    going = {each.identity: each for each in references}
    in_order = [going[at] for at in sorted(going, key=str)]
    mr.now = await Now()
    removals = list(zip(in_order, await concurrently(removed(mr, each) for each in in_order), strict=True))
    if silent := [removal.text for _, removal in removals if isinstance(removal, Unanswered)]:
        return not_found_out(mr, f"could not find out what is left of old resources: {silent[0]}", state)
    if pending := [(each, removal) for each, removal in removals if isinstance(removal, Pending)]:
        return await _wait_for(mr, pending, state)
    gone = [(each, removal) for each, removal in removals if isinstance(removal, Gone)]
    if unserved := _newly_unserved(mr, gone):
        return Plan(requeue_after=RETRY_AFTER, state=replace(state, finished=(), unserved=unserved))
    return tuple((each, removal.foreign) for each, removal in gone if removal.foreign)


async def _wait_for(mr: Reconciliation, pending: Sequence[tuple[Reference, Pending]], state: State) -> Plan:
    """Say which objects are still there, with the warnings about Services, which may take long."""
    shown = pending[:MOST_TOLD]
    services = {each.identity: _events_of(each) for each, _ in shown if each.kind == _SERVICE}
    answers = await AtOnce(tuple(services.values())) if services else ()
    warnings = {at: answer.objects for at, answer in zip(services, answers, strict=True) if isinstance(answer, Found)}

    def told(now: datetime) -> str:
        texts = [_text(each, removal, warnings.get(each.identity, ()), now) for each, removal in shown]
        return told_together("Could not clean all old resources", texts, len(pending))

    message = message_with_ages(told, mr.said(RESOURCES_APPLIED), await Now())
    statement = Statement(RESOURCES_APPLIED, ConditionStatus.PROGRESSING, DELETION_PENDING, message)
    return Plan(
        await status_write(mr, "deletion-pending", statement),
        requeue_after=RETRY_AFTER,
        state=replace(state, finished=()),
    )


def _newly_unserved(mr: Reconciliation, gone: Iterable[tuple[Reference, Gone]]) -> Mapping[Kind, datetime]:
    """Since when the server does not know kinds, as far as that is found; empty if it has been so for long enough.

    A server that has just started may learn of a kind a moment later, and its objects are not gone.
    """
    before = mr.state.unserved
    found = {each.kind: before.get(each.kind, mr.now) for each, removal in gone if removal.is_unserved}
    return found if any(mr.now - since < _CONFIRMED_AFTER for since in found.values()) else {}


def foreign_events(mr: Reconciliation, foreign: Foreign) -> tuple[Event, ...]:
    """The event about objects that are left to ManagedResources of other clusters."""
    if not foreign:
        return ()
    objects = ", ".join(f'"{reference}" of origin "{origin}"' for reference, origin in foreign)
    note = f"left to ManagedResources of other clusters: {objects}"
    return (event(mr, "Warning", "ForeignResourcesLeft", note),)


def _text(reference: Reference, pending: Pending, warnings: Sequence[Manifest], now: datetime) -> str:
    text = f'deletion of old resource "{reference}" is still pending'
    if pending.error:
        text = f"{text}: {pending.error}"
    events = event_block(warnings, reference.kind, _key(reference), now)
    return f"{text}\n\n{events}" if events else text


def _events_of(reference: Reference) -> ListQuestion:
    return warnings_question(reference.kind, _key(reference))


def _key(reference: Reference) -> ObjectKey:
    return ObjectKey(reference.identity.namespace, reference.key.name)


def told_together(what: str, texts: Sequence[str], count: int) -> str:
    """Several errors in one sentence, of which it names the first `MOST_TOLD`."""
    if count == 1:
        return f"{what}: 1 error occurred: {texts[0]}"
    named = ", ".join(texts[:MOST_TOLD])
    more = f", and {count - MOST_TOLD} more" if count > MOST_TOLD else ""
    return f"{what}: {count} errors occurred: [{named}{more}]"
