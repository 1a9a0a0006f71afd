"""Applies the objects of a ManagedResource, one after the other, up to the first that fails.

What this ManagedResource has not applied before is created without a look. Once a write shows that it exists, all that
is left is read at once, so that a ManagedResource whose objects all exist is as fast as one with new objects.

Source: managed-resources §7.9.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final

from returns.result import Failure

from hedgerow.api.managed_resources import APPLY_FAILED
from hedgerow.api.references import Identity, references_of
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.plan import InOrder, Plan, RecordEvents, Update, WriteResult
from hedgerow.machinery.questions import defines_kinds
from hedgerow.machinery.steps import AtOnce, Now
from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.ordering import in_install_order
from hedgerow.resource_manager.managed_resources.reconciliation.conditions import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.live_objects import Unanswered
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import (
    Reconciliation,
    not_found_out,
    status_write,
    trouble,
)
from hedgerow.resource_manager.managed_resources.reconciliation.merge_options import merge_options, scaled
from hedgerow.resource_manager.managed_resources.reconciliation.object_application import (
    Done,
    Fails,
    ObjectApplication,
    Rules,
    rule_of,
)
from hedgerow.resource_manager.managed_resources.reconciliation.ownership_conflicts import contested_events
from hedgerow.resource_manager.managed_resources.reconciliation.secrets import Content, desired_state
from hedgerow.resource_manager.managed_resources.reconciliation.state import ObjectState
from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored

_NOTHING: Final[Mapping[Identity, ObjectState | None]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Applied:
    """All objects are as they should be."""

    desired: Desired
    """What was applied; objects of kinds that this reconciliation has defined have their scope."""
    states: tuple[ObjectState, ...]
    """Of the objects, as far as something identifies them."""


async def apply(mr: Reconciliation, content: Content, desired: Desired) -> Applied | Plan:
    """Apply all objects; the end of the reconciliation if one of them fails.

    Args:
        mr: the ManagedResource.
        content: what its Secrets hold.
        desired: what it asks for.
    """
    autoscaled = await scaled(mr)
    if isinstance(autoscaled, Unanswered):
        return not_found_out(mr, autoscaled.text, attempted(mr, desired))
    if isinstance(autoscaled, Failure):
        return await _failed(mr, desired, autoscaled.failure())
    rules: dict[Resource, Stored | None] = {}
    mr.now = await Now()
    objects = await _objects(mr, desired, autoscaled.unwrap())
    while True:
        await _read(objects)
        await _read_definitions(objects, rules)
        await _decide(mr, objects, rules)
        writes = [each for each in _before_an_obstacle(objects) if each.write is not None]
        if not writes:
            return await _end(mr, desired, objects)
        outcomes = await _write(mr, writes)
        mr.now = await Now()
        for each, outcome in zip(writes, outcomes, strict=False):
            await mr.work(each.nodes)
            each.take_outcome(outcome, rules)
        if any(defines_kinds(outcome.action.resource) for outcome in outcomes):
            desired = await desired_state(mr, content)
            objects = _carried_over(objects, await _objects(mr, desired, autoscaled.unwrap()))


async def _objects(mr: Reconciliation, desired: Desired, autoscaled: ScaledObjects) -> list[ObjectApplication]:
    """The objects in the order in which they are applied; what can be decided without reading is."""
    options_of = merge_options(mr, autoscaled)
    by_manifest: dict[int, ObjectApplication] = {}
    for wanted in desired.objects:
        each = by_manifest[id(wanted.manifest)] = ObjectApplication(mr, wanted, *options_of(wanted))
        each.begin()
        await mr.work(each.nodes)
    return [by_manifest[id(manifest)] for manifest in in_install_order(wanted.manifest for wanted in desired.objects)]


def _carried_over(before: Iterable[ObjectApplication], after: Iterable[ObjectApplication]) -> list[ObjectApplication]:
    """The new applications, but the old ones of objects that were read or written already."""
    begun = {each.wanted.identity: each for each in before if each.writes or each.live is not None}
    return [begun.get(each.wanted.identity, each) for each in after]


async def _read(objects: Sequence[ObjectApplication]) -> None:
    """Read the objects that may exist, all at once; all that are left once a creation has met an existing object."""
    while True:
        is_wary = any(each.has_met_an_existing_object for each in objects)
        unread = {
            each.target.question: each
            for each in _before_an_obstacle(objects)
            if each.live is None and not each.is_at_end and each.target is not None and (is_wary or each.may_exist)
        }
        if not unread:
            return
        for each, answer in zip(unread.values(), await AtOnce(tuple(unread)), strict=True):
            each.take_answer(answer)


async def _read_definitions(objects: Sequence[ObjectApplication], rules: dict[Resource, Stored | None]) -> None:
    """Read the definitions of custom resources that differ from their manifests."""
    questions = {
        question: each.wanted.resource
        for each in _before_an_obstacle(objects)
        if (question := each.rule_question(rules)) is not None
    }
    answers = await AtOnce(tuple(questions)) if questions else ()
    for resource, answer in zip(questions.values(), answers, strict=True):
        if isinstance(resource, Resource):
            rules[resource] = rule_of(resource, answer)


async def _decide(mr: Reconciliation, objects: Sequence[ObjectApplication], rules: Rules) -> None:
    """Decide what to write for each object, by a dry run if only that can tell."""
    for each in objects:
        if each.next is None and (each.live is not None or not each.may_exist):
            await mr.work(each.nodes)
            each.decide(rules)
        if isinstance(each.next, Fails):
            break
    tried = [(each, each.dry_run) for each in _before_an_obstacle(objects) if each.dry_run is not None]
    outcomes = await AtOnce(tuple(dry_run for _, dry_run in tried)) if tried else ()
    for (each, _), outcome in zip(tried, outcomes, strict=True):
        each.take_dry_run(outcome, rules)


def _before_an_obstacle(objects: Iterable[ObjectApplication]) -> Iterator[ObjectApplication]:
    """The objects before the first that cannot be applied."""
    return takewhile(lambda each: not isinstance(each.next, Fails | Unanswered), objects)


async def _write(mr: Reconciliation, applications: Sequence[ObjectApplication]) -> tuple[WriteResult, ...]:
    """Write objects one after the other, up to the first refusal; tell before which ones are taken from others."""
    writes = [each.write for each in applications]
    taken = [each.live for each in applications if isinstance(each.write, Update)]
    events = contested_events(mr, [live.manifest for live in taken if live is not None and live.manifest is not None])
    if events:
        await RecordEvents(events)
    return await InOrder(tuple(write for write in writes if write is not None))


async def _end(mr: Reconciliation, desired: Desired, objects: Sequence[ObjectApplication]) -> Applied | Plan:
    """How the objects ended up: up to the first that fails, or all that could be read."""
    done: dict[Identity, ObjectState | None] = {}
    unanswered: str | None = None
    for each in objects:
        match each.next:
            case Done(state):
                done[each.wanted.identity] = state
            case Unanswered(text):
                unanswered = unanswered or text
            case Fails(text) if unanswered is None:
                return await _failed(mr, desired, text, done)
            case _:
                pass
    states = tuple(state for state in done.values() if state is not None)
    if unanswered is None:
        return Applied(desired, states)
    write = await status_write(mr, "applied-in-part", resources=_references(mr, desired, done))
    return replace(not_found_out(mr, unanswered, attempted(mr, desired, states)), actions=write)


async def _failed(
    mr: Reconciliation, desired: Desired, text: str, done: Mapping[Identity, ObjectState | None] = _NOTHING
) -> Plan:
    problem = f"could not apply all new resources: {text}"
    state = attempted(mr, desired, [each for each in done.values() if each is not None])
    return await trouble(mr, APPLY_FAILED, text, problem, state, resources=_references(mr, desired, done))


def _references(mr: Reconciliation, desired: Desired, done: Container[Identity]) -> list[dict[str, Any]]:
    """The references in the status, with labels and annotations as applied for the objects that are applied already.

    So the next merge knows which of them it has to remove, even if the Secrets change before this delivery is complete.
    """
    new = {each.identity: each for each in desired.references if each.identity in done}
    return [new.get(each.identity, each).in_status() for each in references_of(mr.manifest)]
