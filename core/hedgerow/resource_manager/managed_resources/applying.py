"""Applies the objects of a ManagedResource, one after the other, up to the first that fails.

Objects that this ManagedResource has not applied before are created without reading them. Once a write shows that one
exists, all others are read at once: a ManagedResource whose objects all exist is applied as fast as a new one.

Source: managed-resources §4.4, §7.9.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from hedgerow.api.managed_resources import APPLY_FAILED, MANAGED_RESOURCES
from hedgerow.api.references import Identity, Origin, identity_of, other_origin, references_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of
from hedgerow.machinery.plan import Event, InOrder, Plan, RecordEvents, Update, WriteResult
from hedgerow.machinery.questions import Found, ObjectQuestion, defines_kinds
from hedgerow.machinery.reading import boolean_at
from hedgerow.machinery.steps import AtOnce, Now
from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects, all_scaled_objects
from hedgerow.resource_manager.managed_resources.conditions import attempted
from hedgerow.resource_manager.managed_resources.desired import Desired, DesiredObject, injected_labels, install_place
from hedgerow.resource_manager.managed_resources.equivalences import equivalences_of
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions
from hedgerow.resource_manager.managed_resources.object_application import ApplyError, Done, ObjectApplication, Rules
from hedgerow.resource_manager.managed_resources.reconciliation import ObjectState, Reconciliation, digest
from hedgerow.resource_manager.managed_resources.secrets import Content, desired_state
from hedgerow.resource_manager.managed_resources.server_defaults.rules import StorageRule, custom_resource_rule


async def apply(mr: Reconciliation, content: Content, desired: Desired) -> tuple[Desired, Sequence[ObjectState]] | Plan:
    """Apply all objects that the content of the Secrets asks for; the end of the reconciliation if one fails.

    Returns what was applied, with the scopes of kinds that this reconciliation has defined, and the objects' states.
    """
    autoscaled = await all_scaled_objects(mr.snapshot)
    if not isinstance(autoscaled, ScaledObjects):
        return await _failed(mr, desired, ApplyError(*autoscaled), {})
    rules: dict[Resource, StorageRule | None] = {}
    mr.now = await Now()
    objects = await _objects(mr, desired, autoscaled, rules)
    while True:
        await _read(objects)
        await _read_definitions(objects, rules)
        await _decide(mr, objects)
        writes = [each for each in _before_an_error(objects) if each.write is not None]
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
    """The objects in install order; what can be decided without reading is decided."""
    options_of = _merge_options(mr, autoscaled)
    objects: list[ObjectApplication] = []
    for wanted in desired.objects:
        objects.append(each := ObjectApplication(mr, wanted, *options_of(wanted), rules))
        each.begin()
        await mr.work(each.nodes)
    return sorted(objects, key=lambda each: install_place(each.wanted.manifest))


def _merge_options(
    mr: Reconciliation, autoscaled: ScaledObjects
) -> Callable[[DesiredObject], tuple[Instructions, bytes]]:
    """For each object its merge options, and a digest of all that is asked of it.

    Previous labels and annotations stay out of the digest: they only tell what to remove, which is done once.
    """
    equivalences = equivalences_of(mr.manifest)
    spec = mr.manifest.get("spec") or {}
    labels = injected_labels(mr.manifest, mr.config.managed_by)
    overwrite_labels = boolean_at(spec, "forceOverwriteLabels") is True
    overwrite_annotations = boolean_at(spec, "forceOverwriteAnnotations") is True

    def of(wanted: DesiredObject) -> tuple[Instructions, bytes]:
        scaling = autoscaled.scaling_of(wanted.identity, equivalences)
        previous = (wanted.previous.labels, wanted.previous.annotations) if wanted.previous else ({}, {})
        options = Instructions(mr.origin, labels, *previous, overwrite_labels, overwrite_annotations, scaling)
        asked = [mr.origin, labels, overwrite_labels, overwrite_annotations, scaling]
        return options, digest([wanted.manifest, asked])

    return of


async def _read(objects: Sequence[ObjectApplication]) -> None:
    """Read the objects that may exist, all at once; all remaining ones once a creation has met an existing object."""
    while True:
        reads_all = any(each.has_met_an_existing_object for each in objects)
        unread = {
            ObjectQuestion(resource, key_of(each.wanted.manifest), Cluster.TARGET): each
            for each in _before_an_error(objects)
            if isinstance(resource := each.wanted.resource, Resource)
            and not each.is_read
            and not isinstance(each.next, Done)
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
        for each in _before_an_error(objects)
        if isinstance(resource := each.wanted.resource, Resource)
        and (question := each.definition_question()) is not None
    }
    answers = await AtOnce(tuple(questions)) if questions else ()
    for resource, answer in zip(questions.values(), answers, strict=True):
        found = answer.objects[0] if isinstance(answer, Found) else None
        rules[resource] = None if found is None else custom_resource_rule(found, resource.version)


async def _decide(mr: Reconciliation, objects: Sequence[ObjectApplication]) -> None:
    """Decide what to write for each object, by a dry run if only that can tell."""
    for each in objects:
        if each.next is None and (each.is_read or not each.may_exist):
            await mr.work(each.nodes)
            each.decide()
        if isinstance(each.next, ApplyError) and not each.next.is_unreachable:
            break
    tried = [(each, each.dry_run) for each in _before_an_error(objects) if each.dry_run is not None]
    results = await AtOnce(tuple(dry_run for _, dry_run in tried)) if tried else ()
    for (each, _), result in zip(tried, results, strict=True):
        each.take_dry_run(result)


def _before_an_error(objects: Iterable[ObjectApplication]) -> Iterator[ObjectApplication]:
    """The objects before the first that cannot be applied."""
    return takewhile(lambda each: not isinstance(each.next, ApplyError), objects)


async def _write(mr: Reconciliation, applications: Sequence[ObjectApplication]) -> tuple[WriteResult, ...]:
    """Write objects one after the other, up to the first error; record before which ones are taken from others."""
    taken = [each.live for each in applications if isinstance(each.write, Update) and each.live is not None]
    if events := _contested_events(mr, taken):
        await RecordEvents(events)
    return await InOrder(tuple(each.write for each in applications if each.write is not None))


def _contested_events(mr: Reconciliation, taken: Iterable[Manifest]) -> tuple[Event, ...]:
    """The event about live objects that are taken back from another ManagedResource of the cluster.

    Both may write, in turns, as nothing tells which is right; each one's events name the other. An object that moves
    from one to the other is taken once and not taken back, so there is no event for it.
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
    return (mr.event("Warning", "ContestedResources", note),) if contested else ()


def _claimed(mr: Reconciliation, key: ObjectKey) -> frozenset[Identity]:
    """The objects that another ManagedResource refers to, unless it is being deleted."""
    other = mr.snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE)
    if other is None or is_terminating(other):
        return frozenset()
    return frozenset(each.identity for each in references_of(other))


async def _end(
    mr: Reconciliation, desired: Desired, objects: Sequence[ObjectApplication]
) -> tuple[Desired, Sequence[ObjectState]] | Plan:
    """What `apply` returns once nothing is left to write."""
    done: dict[Identity, ObjectState | None] = {}
    error: ApplyError | None = None
    for each in objects:
        if isinstance(each.next, Done):
            done[each.wanted.identity] = each.next.state
        elif isinstance(each.next, ApplyError):
            error = error or each.next
            if not error.is_unreachable:
                break
    if error is not None:
        return await _failed(mr, desired, error, done)
    return desired, [state for state in done.values() if state is not None]


async def _failed(
    mr: Reconciliation, desired: Desired, error: ApplyError, done: Mapping[Identity, ObjectState | None]
) -> Plan:
    """The end of the reconciliation.

    In the status the references to objects that are applied already get their new labels and annotations. So the next
    merge knows which of them it has to remove, even if the Secrets change before all objects are applied.
    """
    new = {each.identity: each for each in desired.references if each.identity in done}
    references = [new.get(each.identity, each).in_status() for each in references_of(mr.manifest)]
    state = attempted(mr, desired, [each for each in done.values() if each is not None])
    logged = error.text if error.is_unreachable else f"could not apply all new resources: {error.text}"
    return await mr.failed(
        APPLY_FAILED, error.text, state, logged=logged, is_unreachable=error.is_unreachable, resources=references
    )
