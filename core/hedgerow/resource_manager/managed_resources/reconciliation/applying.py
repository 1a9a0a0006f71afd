"""Applies the objects of a ManagedResource, one after the other, up to the first that fails.

What this ManagedResource has not applied before is created without a look. Once a write shows that it exists, all that
is left is read at once, so that a ManagedResource whose objects all exist is as fast as one with new objects.

Source: managed-resources §4.4, §7.9.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import Final

from hedgerow.api.managed_resources import APPLY_FAILED, MANAGED_RESOURCES
from hedgerow.api.origins import Origin, other_origin
from hedgerow.api.references import Identity, identity_of, references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of
from hedgerow.machinery.plan import Event, InOrder, Plan, RecordEvents, Update, WriteResult
from hedgerow.machinery.questions import ObjectQuestion, defines_kinds
from hedgerow.machinery.steps import AtOnce, Now
from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects, all_scaled_objects
from hedgerow.resource_manager.managed_resources.desired import Desired, in_install_order
from hedgerow.resource_manager.managed_resources.reconciliation.conditions import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import (
    Obstacle,
    Reconciliation,
    event,
    trouble,
)
from hedgerow.resource_manager.managed_resources.reconciliation.object_application import (
    Done,
    ObjectApplication,
    Rules,
    merge_options,
    rule_of,
)
from hedgerow.resource_manager.managed_resources.reconciliation.secrets import Content, desired_state
from hedgerow.resource_manager.managed_resources.reconciliation.state import ObjectState
from hedgerow.resource_manager.managed_resources.server_defaults.rules import StorageRule

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
    autoscaled = await all_scaled_objects(mr.snapshot)
    if not isinstance(autoscaled, ScaledObjects):
        obstacle = Obstacle(*autoscaled)
        if obstacle.is_unreachable:
            return await trouble(mr, obstacle, APPLY_FAILED, obstacle.text, attempted(mr, desired))
        return await _failed(mr, desired, obstacle)
    rules: dict[Resource, StorageRule | None] = {}
    mr.now = await Now()
    objects = await _objects(mr, desired, autoscaled, rules)
    while True:
        await _read(objects)
        await _read_definitions(objects, rules)
        await _decide(mr, objects)
        writes = [each for each in _before_an_obstacle(objects) if each.write is not None]
        if not writes:
            return await _end(mr, desired, objects)
        results = await _write(mr, writes)
        mr.now = await Now()
        for each, result in zip(writes, results, strict=False):
            await mr.work(each.nodes)
            each.take_result(result)
        if any(defines_kinds(result.action.resource) for result in results):
            desired = await desired_state(mr, content)
            begun = {each.wanted.identity: each for each in objects if each.writes or each.is_read}
            objects = await _objects(mr, desired, autoscaled, rules)
            objects = [begun.get(each.wanted.identity, each) for each in objects]


async def _objects(
    mr: Reconciliation, desired: Desired, autoscaled: ScaledObjects, rules: Rules
) -> list[ObjectApplication]:
    """The objects in the order in which they are applied; what can be decided without reading is."""
    options_of = merge_options(mr, autoscaled)
    by_manifest: dict[int, ObjectApplication] = {}
    for wanted in desired.objects:
        each = by_manifest[id(wanted.manifest)] = ObjectApplication(mr, wanted, *options_of(wanted), rules)
        each.begin()
        await mr.work(each.nodes)
    return [by_manifest[id(manifest)] for manifest in in_install_order(wanted.manifest for wanted in desired.objects)]


async def _read(objects: Sequence[ObjectApplication]) -> None:
    """Read the objects that may exist, all at once; all that are left once a creation has met an existing object."""
    while True:
        reads_all = any(each.has_met_an_existing_object for each in objects)
        unread = {
            ObjectQuestion(resource, key_of(each.wanted.manifest), Cluster.TARGET): each
            for each in _before_an_obstacle(objects)
            if isinstance(resource := each.wanted.resource, Resource)
            and not each.is_read
            and not each.is_at_end
            and (reads_all or each.may_exist)
        }
        if not unread:
            return
        for each, answer in zip(unread.values(), await AtOnce(tuple(unread)), strict=True):
            each.take_answer(answer)


async def _read_definitions(objects: Sequence[ObjectApplication], rules: dict[Resource, StorageRule | None]) -> None:
    """Read the definitions of custom resources that differ from their manifests."""
    questions = {
        question: resource
        for each in _before_an_obstacle(objects)
        if isinstance(resource := each.wanted.resource, Resource)
        and (question := each.definition_question()) is not None
    }
    answers = await AtOnce(tuple(questions)) if questions else ()
    for resource, answer in zip(questions.values(), answers, strict=True):
        rules[resource] = rule_of(resource, answer)


async def _decide(mr: Reconciliation, objects: Sequence[ObjectApplication]) -> None:
    """Decide what to write for each object, by a dry run if only that can tell."""
    for each in objects:
        if each.next is None and (each.is_read or not each.may_exist):
            await mr.work(each.nodes)
            each.decide()
        if isinstance(each.next, Obstacle) and not each.next.is_unreachable:
            break
    tried = [(each, each.dry_run) for each in _before_an_obstacle(objects) if each.dry_run is not None]
    results = await AtOnce(tuple(dry_run for _, dry_run in tried)) if tried else ()
    for (each, _), result in zip(tried, results, strict=True):
        each.take_dry_run(result)


def _before_an_obstacle(objects: Iterable[ObjectApplication]) -> Iterator[ObjectApplication]:
    """The objects before the first that cannot be applied."""
    return takewhile(lambda each: not isinstance(each.next, Obstacle), objects)


async def _write(mr: Reconciliation, applications: Sequence[ObjectApplication]) -> tuple[WriteResult, ...]:
    """Write objects one after the other, up to the first refusal; tell before which ones are taken from others."""
    taken = [each.live for each in applications if isinstance(each.write, Update) and each.live is not None]
    if events := _contested_events(mr, taken):
        await RecordEvents(events)
    return await InOrder(tuple(each.write for each in applications if each.write is not None))


def _contested_events(mr: Reconciliation, taken: Iterable[Manifest]) -> tuple[Event, ...]:
    """The event about live objects that are taken back from another ManagedResource of the cluster; none if none are.

    Both may write, in turns, as nothing tells which is right. But each is told of the other when it takes an object
    back. An object that moves from one to the other is taken once, and not back, so no event tells of that.
    """
    own = Origin(mr.config.cluster_id, mr.key)
    applied = frozenset(each.identity for each in references_of(mr.manifest) if each.is_applied)
    claimed: dict[ObjectKey, frozenset[Identity]] = {}
    contested: list[str] = []
    for live in taken:
        origin, identity = other_origin(live, own), identity_of(live)
        if origin is None or origin.cluster_id != own.cluster_id or identity not in applied:
            continue
        other = origin.managed_resource
        if other not in claimed:
            claimed[other] = _claimed(mr, other)
        if identity in claimed[other]:
            contested.append(f'"{identity}" by {other}')
    note = f"wanted by other ManagedResources as well: {', '.join(contested)}"
    return (event(mr, "Warning", "ContestedResources", note),) if contested else ()


def _claimed(mr: Reconciliation, key: ObjectKey) -> frozenset[Identity]:
    """The objects that another ManagedResource refers to, unless it is being deleted."""
    other = mr.snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE)
    if other is None or is_terminating(other):
        return frozenset()
    return frozenset(each.identity for each in references_of(other))


async def _end(mr: Reconciliation, desired: Desired, objects: Sequence[ObjectApplication]) -> Applied | Plan:
    """How the objects ended up: up to the first that fails, or all that could be read."""
    done: dict[Identity, ObjectState | None] = {}
    obstacle: Obstacle | None = None
    for each in objects:
        if isinstance(each.next, Done):
            done[each.wanted.identity] = each.next.state
        elif isinstance(each.next, Obstacle):
            obstacle = obstacle or each.next
            if not obstacle.is_unreachable:
                break
    if obstacle is not None:
        return await _failed(mr, desired, obstacle, done)
    return Applied(desired, tuple(state for state in done.values() if state is not None))


async def _failed(
    mr: Reconciliation, desired: Desired, obstacle: Obstacle, done: Mapping[Identity, ObjectState | None] = _NOTHING
) -> Plan:
    """The end of the reconciliation.

    In the status the references to the objects that are applied already have labels and annotations as applied. So the
    next merge knows which of them it has to remove, even if the Secrets change before this delivery is complete.
    """
    new = {each.identity: each for each in desired.references if each.identity in done}
    references = [new.get(each.identity, each).in_status() for each in references_of(mr.manifest)]
    problem = obstacle.text if obstacle.is_unreachable else f"could not apply all new resources: {obstacle.text}"
    state = attempted(mr, desired, [each for each in done.values() if each is not None])
    return await trouble(mr, obstacle, APPLY_FAILED, problem, state, resources=references)
