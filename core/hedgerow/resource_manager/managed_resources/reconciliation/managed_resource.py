"""The ManagedResource under reconciliation: what is known of it, and how its status is written.

Source: managed-resources §2, §7.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from hedgerow.api.managed_resource_status import status_patch
from hedgerow.api.managed_resources import IGNORE, MANAGED_RESOURCES, OPERATION, RESOURCES_APPLIED
from hedgerow.api.origins import Origin
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, find, get_or_init, updated
from hedgerow.machinery.controller import Context
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, is_terminating, uid_of
from hedgerow.machinery.plan import Event, JsonPatch, MergePatch, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now, Pause
from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.reconciliation.state import State, spec_version
from hedgerow.resource_manager.managed_resources.write_context import WriteContext, write_context


class Statement(NamedTuple):
    """What a condition is to say from now on."""

    type: str
    status: ConditionStatus
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why something could not be done."""

    text: str
    is_unreachable: bool = False
    """True if an API server did not answer, so that nothing new is known."""


@dataclass(slots=True)
class Reconciliation:
    """One ManagedResource under reconciliation."""

    key: ObjectKey
    snapshot: Snapshot
    context: Context[ManagedResourceConfig]
    manifest: Manifest
    """The ManagedResource as this reconciliation has written it, or else as it was read last."""
    now: datetime
    """When something was read last."""
    budget: ReadingBudget
    """Limits what is read of the Secrets, and counts the work until other keys run."""
    state: State = field(default_factory=State)
    """What is left to the next reconciliation if this one ends now."""
    is_gone: bool = False
    has_written: bool = False
    """True once this reconciliation has written the ManagedResource. Caches may not show that yet."""
    _write_contexts: dict[tuple[Resource, str], WriteContext] = field(default_factory=dict)

    @property
    def config(self) -> ManagedResourceConfig:
        """The configuration of the controller."""
        return self.context.config

    @property
    def origin(self) -> str:
        """The origin annotation of its objects."""
        return str(Origin(self.config.cluster_id, self.key))

    @property
    def course(self) -> tuple[Any, ...]:
        """Changes if something else may have to be done than was decided before."""
        annotations = annotations_of(self.manifest)
        asked = (annotations.get(OPERATION), annotations.get(IGNORE))
        return self.is_gone, spec_version(self.manifest), is_terminating(self.manifest), asked

    @property
    def status(self) -> Manifest:
        """The stored status; empty if there is none."""
        status = self.manifest.get("status")
        return status if isinstance(status, (dict, Mapping)) else {}

    @property
    def is_in_trouble(self) -> bool:
        """True if the stored condition says that the objects are not applied."""
        said = self.said(RESOURCES_APPLIED)
        return said is not None and said.status == ConditionStatus.FALSE

    def said(self, condition_type: str) -> Condition | None:
        """The stored condition of a type."""
        return find(conditions_of(self.manifest), condition_type)

    def read_again(self) -> None:
        """Read the ManagedResource from the snapshot again, unless the snapshot may not show the own writes yet."""
        if not self.has_written:
            latest = self.snapshot.get(MANAGED_RESOURCES, self.key, Cluster.SOURCE)
            self.is_gone = latest is None
            self.manifest = self.manifest if latest is None else latest

    async def work(self, nodes: int) -> None:
        """Note work equal to reading so many nodes, and let other keys run if it completes a slice."""
        if self.budget.ends_slice(nodes):
            await Pause(self.budget.nodes)

    def write_context(self, resource: Resource, namespace: str) -> WriteContext:
        """What a write of an object depended on when it was first asked for."""
        if (known := self._write_contexts.get((resource, namespace))) is not None:
            return known
        found = write_context(self.snapshot, resource, namespace, self.context.server_versions)
        return self._write_contexts.setdefault((resource, namespace), found)


async def write(mr: Reconciliation, action: JsonPatch | MergePatch, problem: str) -> Plan | None:
    """Write the ManagedResource; the end of the reconciliation if the write was refused.

    Args:
        mr: the ManagedResource.
        action: the write.
        problem: what failed if it is refused, for the log.
    """
    result = await action
    if result.error is None:
        mr.manifest, mr.has_written = result.stored or mr.manifest, True
        return None
    if result.error.is_not_found:
        return Plan()
    return Plan(failures=(failure(mr, f"{problem}: {result.error.message}"),), state=mr.state)


async def say(
    mr: Reconciliation, reason: str, *statements: Statement, resources: Sequence[Manifest] | None = None
) -> Plan | None:
    """Write the status now if it does not say so yet; the end of the reconciliation if the write was refused.

    Args:
        mr: the ManagedResource.
        reason: the rule that asks for it.
        statements: the new conditions.
        resources: the references for the status; none: they stay.
    """
    for patch in await status_write(mr, reason, *statements, resources=resources):
        return await write(mr, patch, "could not update the ManagedResource status")
    return Plan() if mr.is_gone else None


async def status_write(
    mr: Reconciliation, reason: str, *statements: Statement, **members: Any
) -> tuple[JsonPatch, ...]:
    """The patch of the status; none if it says so already.

    Args:
        mr: the ManagedResource; it is read again.
        reason: the rule that asks for it.
        statements: the new conditions.
        members: as those of `status_patch`.
    """
    mr.now = await Now()
    mr.read_again()
    if mr.is_gone:
        return ()
    stored = conditions_of(mr.manifest)
    conditions = [
        updated(get_or_init(stored, each.type, mr.now), each.status, each.reason, each.message, now=mr.now)
        for each in statements
    ]
    patch = status_patch(mr.manifest, conditions, reason=reason, **members)
    return () if patch is None else (patch,)


async def trouble(
    mr: Reconciliation,
    obstacle: Obstacle,
    reason: str,
    problem: str,
    state: State,
    *,
    resources: Sequence[Manifest] | None = None,
) -> Plan:
    """The end of a reconciliation because something failed. It is tried again with growing delays.

    Conditions stay if an API server did not answer, as nothing new is known.

    Args:
        mr: the ManagedResource.
        obstacle: the message of the condition.
        reason: of the condition `ResourcesApplied`, which becomes false.
        problem: what failed, for the log.
        state: for the next reconciliation.
        resources: the references for the status; none: they stay.
    """
    failures = (failure(mr, problem),)
    if obstacle.is_unreachable:
        actions = await status_write(mr, "applied-in-part", resources=resources) if resources is not None else ()
        return Plan(actions, failures=failures, state=state)
    statement = Statement(RESOURCES_APPLIED, ConditionStatus.FALSE, reason, obstacle.text)
    actions = await status_write(mr, reason, statement, resources=resources)
    return Plan(actions, events=warning_of(mr, reason, obstacle.text), failures=failures, state=state)


def failure(mr: Reconciliation, problem: str) -> Failure:
    """A failure that is tried again."""
    return Failure(MANAGED_RESOURCES, mr.key, Problem("", problem), retryable=True)


def warning_of(mr: Reconciliation, reason: str, message: str) -> tuple[Event, ...]:
    """The event for a condition that becomes false; none if the condition has that reason already."""
    said = mr.said(RESOURCES_APPLIED)
    return () if said is not None and said.reason == reason else (event(mr, "Warning", reason, message),)


def event(mr: Reconciliation, kind: Literal["Normal", "Warning"], reason: str, note: str) -> Event:
    """An event about the ManagedResource."""
    return Event(MANAGED_RESOURCES, mr.key, uid_of(mr.manifest), kind, reason, note, Cluster.SOURCE)
