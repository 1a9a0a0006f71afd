"""The reconciliation of one ManagedResource, from top to bottom. A part that returns a plan ends it.

Source: managed-resources §5, §7.1, §7.2.
"""

from hedgerow.api.managed_resources import (
    MANAGED_RESOURCES,
    OPERATION,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
    is_ignored,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import ObjectKey, annotations_of, is_terminating
from hedgerow.machinery.plan import MergePatch, Plan
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.applying import apply
from hedgerow.resource_manager.managed_resources.conditions import attempted, finish, invalidate, record
from hedgerow.resource_manager.managed_resources.deletion import (
    RETRY_AFTER,
    delete,
    hand_over,
    hold,
    prune,
    release_orphans,
)
from hedgerow.resource_manager.managed_resources.reconciliation import (
    ManagedResourceConfig,
    Reconciliation,
    State,
    Statement,
)
from hedgerow.resource_manager.managed_resources.secrets import decode, desired_state, read_secrets
from hedgerow.resource_manager.managed_resources.unchanged import completed_state, is_unchanged
from hedgerow.resource_manager.managed_resources.unserved import unserved


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[ManagedResourceConfig]) -> Plan:
    """Bring the objects of one ManagedResource to what its Secrets ask for, and report in its status."""
    manifest = snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE)
    if manifest is None:
        return Plan()
    state: State | None = context.state
    mr = Reconciliation(key, snapshot, context, manifest, context.now, context.config.budget(), state or State())
    try:
        return await _reconciled(mr)
    except UnreadableError as error:
        return Plan(failures=(Failure(MANAGED_RESOURCES, key, error.problem),), state=mr.state)


async def _reconciled(mr: Reconciliation) -> Plan:  # noqa: PLR0911 -- one for each part
    """Choose the part that the ManagedResource needs by its class, annotations and deletion.

    While the instance of another class holds the ManagedResource, this one waits for its release, even if it is being
    deleted. §7.2 lets either delete it; but this instance has applied nothing, and may manage another cluster, where
    objects of the same names belong to somebody else.
    """
    class_filter = mr.config.class_filter
    if mr.is_deleted:
        return Plan()
    if not class_filter.passes(mr.manifest):
        return unserved(mr)
    operation = annotations_of(mr.manifest).get(OPERATION)
    if operation == "wait-for-state":
        return Plan(state=mr.state)
    if operation == "reconcile":
        return await _begin_operation(mr) or await _reconciled(mr)
    if is_ignored(mr.manifest) and not is_terminating(mr.manifest):
        return await _ignored(mr)
    if not class_filter.has_to_act(mr.manifest):
        return Plan(requeue_after=RETRY_AFTER)
    if is_terminating(mr.manifest):
        return await delete(mr)
    if not class_filter.is_responsible(mr.manifest):
        return await hand_over(mr)
    return await _applied(mr)


async def _applied(mr: Reconciliation) -> Plan:  # noqa: PLR0911 -- one for each part that may end it
    """Apply the objects of a ManagedResource, and delete those that are no longer listed."""
    course, before = mr.course, mr.applied
    recovers = before is not None and before.status == ConditionStatus.FALSE
    if end := await hold(mr):
        return end
    if not mr.has_written and is_unchanged(mr):
        return Plan(requeue_after=mr.config.sync_period, state=completed_state(mr))
    secrets = await read_secrets(mr)
    if isinstance(secrets, Plan):
        return secrets
    content = await decode(mr, secrets)
    desired = await desired_state(mr, content)
    mr.read_again()
    if mr.course != course:
        return await _reconciled(mr)
    if end := await invalidate(mr, desired):
        return end
    attempt = attempted(mr, desired)
    foreign = await prune(mr, desired.left, attempt)
    if isinstance(foreign, Plan):
        return foreign
    if end := await release_orphans(mr, desired, attempt) or await record(mr, desired):
        return end
    if mr.course != course:
        return await _reconciled(mr)
    applied = await apply(mr, content, desired)
    if isinstance(applied, Plan):
        return applied
    return await finish(mr, content, *applied, foreign, recovers=recovers)


async def _begin_operation(mr: Reconciliation) -> Plan | None:
    """Remove the annotation of the operation, and forget all state; the end of the reconciliation if that fails."""
    patch = {"metadata": {"annotations": {OPERATION: None}}}
    removal = MergePatch(MANAGED_RESOURCES, mr.key, patch, "operation-begun", cluster=Cluster.SOURCE)
    if end := await mr.write(removal, "failed to remove operation annotation"):
        return end
    mr.state = State()
    return None


async def _ignored(mr: Reconciliation) -> Plan:
    """Say in the status that the ManagedResource is ignored, and do nothing else."""
    ignored = ("ManagedResourceIgnored", "ManagedResource is marked to be ignored.")
    actions = await mr.status_patches(
        "ignored",
        Statement(RESOURCES_APPLIED, ConditionStatus.TRUE, *ignored),
        Statement(RESOURCES_HEALTHY, ConditionStatus.TRUE, *ignored),
        Statement(RESOURCES_PROGRESSING, ConditionStatus.FALSE, *ignored),
    )
    return Plan(actions, state=mr.state)
