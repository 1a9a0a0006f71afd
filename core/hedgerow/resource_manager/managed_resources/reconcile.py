"""The reconciliation of one ManagedResource, from top to bottom; each part is in a module of `reconciliation`.

A part that returns a plan ends the reconciliation.

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
from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.reconciliation.applying import apply
from hedgerow.resource_manager.managed_resources.reconciliation.conditions import attempted, finish, invalidate, record
from hedgerow.resource_manager.managed_resources.reconciliation.deletion import delete, hand_over, hold
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import (
    Reconciliation,
    Statement,
    status_write,
    write,
)
from hedgerow.resource_manager.managed_resources.reconciliation.pruning import RETRY_AFTER, prune, release_orphans
from hedgerow.resource_manager.managed_resources.reconciliation.secrets import decode, desired_state, read_secrets
from hedgerow.resource_manager.managed_resources.reconciliation.state import State
from hedgerow.resource_manager.managed_resources.reconciliation.unchanged import completed_state, is_unchanged


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[ManagedResourceConfig]) -> Plan:
    """Bring the objects of one ManagedResource to what its Secrets ask for, and say how that went.

    Args:
        key: which ManagedResource.
        snapshot: the watched objects.
        context: the configuration, and the state that the last reconciliation left.
    """
    manifest = snapshot.get(MANAGED_RESOURCES, key, Cluster.SOURCE)
    if manifest is None:
        return Plan()
    state: State | None = context.state
    mr = Reconciliation(key, snapshot, context, manifest, context.now, context.config.budget(), state or State())
    try:
        return await _reconciled(mr)
    except UnreadableError as error:
        failure = Failure(MANAGED_RESOURCES, key, error.problem)
        return Plan(failures=(failure,), state=mr.state)


async def _reconciled(mr: Reconciliation) -> Plan:  # noqa: PLR0911 -- one for each rule
    """Whether anything is to be done about a ManagedResource by this instance, and what.

    As long as the instance of another class holds it, this one waits for its release. It also waits if the
    ManagedResource is being deleted, although §7.2 lets either delete it: this instance has applied nothing, and may
    look after another cluster, where objects of the same names belong to somebody else.
    """
    class_filter = mr.config.class_filter
    if mr.is_gone or not class_filter.passes(mr.manifest):
        return Plan()
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
    recovers, course = mr.is_in_trouble, mr.course
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
    return await finish(mr, content, applied.desired, foreign, applied.states, recovers=recovers)


async def _begin_operation(mr: Reconciliation) -> Plan | None:
    """Remove the annotation of the operation, and forget all state; the end of the reconciliation if that fails."""
    patch = {"metadata": {"annotations": {OPERATION: None}}}
    done = MergePatch(MANAGED_RESOURCES, mr.key, patch, "operation-begun", cluster=Cluster.SOURCE)
    if end := await write(mr, done, "failed to remove operation annotation"):
        return end
    mr.state = State()
    return None


async def _ignored(mr: Reconciliation) -> Plan:
    """Say that the ManagedResource is ignored, and do nothing else."""
    said = ("ManagedResourceIgnored", "ManagedResource is marked to be ignored.")
    return Plan(
        await status_write(
            mr,
            "ignored",
            Statement(RESOURCES_APPLIED, ConditionStatus.TRUE, *said),
            Statement(RESOURCES_HEALTHY, ConditionStatus.TRUE, *said),
            Statement(RESOURCES_PROGRESSING, ConditionStatus.FALSE, *said),
        ),
        state=mr.state,
    )
