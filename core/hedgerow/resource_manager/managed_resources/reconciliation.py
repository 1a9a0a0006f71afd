"""One ManagedResource under reconciliation: configuration, state between reconciliations, and writes of its status.

The state decides what is read, written and hashed: unchanged objects are neither read nor compared again. It is small,
and a process that has just started has none and reads everything once.

Source: managed-resources §2, §3.1, §7.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from returns.result import Failure as Failed
from returns.result import Result

from hedgerow.api.managed_resource_status import status_patch
from hedgerow.api.managed_resources import IGNORE, MANAGED_RESOURCES, OPERATION, RESOURCES_APPLIED, ClassFilter
from hedgerow.api.references import Identity, Origin
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, find, get_or_init, updated
from hedgerow.machinery.controller import Context
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, annotations_of, is_terminating, uid_of
from hedgerow.machinery.plan import Event, JsonPatch, MergePatch, Plan
from hedgerow.machinery.reading import object_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now, Pause
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.decoding import Decompress
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference
from hedgerow.resource_manager.managed_resources.write_context import UNKNOWN, WriteContext, write_context


def _not_decompressed(_compressed: bytes) -> tuple[Result[bytes, str], ...]:
    return (Failed("cannot be decompressed: no decompressor is configured"),)


@dataclass(frozen=True, slots=True)
class ManagedResourceConfig:
    """Which ManagedResources are applied, and how."""

    class_filter: ClassFilter = field(default_factory=ClassFilter)
    cluster_id: str = ""
    """Id of the source cluster in origin annotations; empty: they have none."""
    managed_by: str = "gardener"
    """Value of the label that says who manages an object."""
    sync_period: float = 60.0
    """Seconds between two reconciliations without any event."""
    always_update: bool = False
    """True if objects are written even if that changes nothing."""
    garbage_collection: bool = False
    """True if the garbage collector handles ConfigMaps and Secrets that are labelled for it."""
    decompress: Decompress = _not_decompressed
    budget: Callable[[], ReadingBudget] = ReadingBudget
    """Limits what one reconciliation reads of the Secrets."""


class ObjectState(NamedTuple):
    """One object that is as its manifest asks for."""

    identity: Identity
    resource: Resource
    key: ObjectKey
    asked: bytes
    """Digest of the manifest and of all other inputs of the merge but the previous labels and annotations."""
    fingerprint: str
    """Of the live object."""
    seen: datetime
    """When the whole object was read or written last."""
    tried: datetime | None
    """When this process last wrote the object or tried that by a dry run."""
    context: WriteContext = UNKNOWN
    """What the result of that write depended on."""
    changed: datetime | None = None
    """When the context was last found to have changed."""
    settled: tuple[Difference, ...] = ()
    """Differences that the server makes, beyond known defaults."""
    scaling: Scaling = Scaling()


@dataclass(frozen=True, slots=True)
class State:
    """What a reconciliation leaves to the next one."""

    objects: Mapping[Identity, ObjectState] = field(default_factory=dict)
    attempted: bytes = b""
    """Digest of the desired objects for which conditions were last set to unknown."""
    finished: tuple[Any, ...] = ()
    """Versions of the ManagedResource and its Secrets for which all objects were as desired; empty: they were not."""
    unserved: Mapping[Kind, datetime] = field(default_factory=dict)
    """Kinds of objects to delete that the server did not serve, and since when."""
    checked: bytes = b""
    """Digest of the values that the checksum is of."""
    checksum: str = ""
    """The last checksum; computing that of a large Secret takes seconds."""


class Statement(NamedTuple):
    """The new content of a condition."""

    type: str
    status: ConditionStatus
    reason: str
    message: str


@dataclass(slots=True)
class Reconciliation:
    """One ManagedResource under reconciliation.

    Methods that write return the plan that ends the reconciliation if the write fails.
    """

    key: ObjectKey
    snapshot: Snapshot
    context: Context[ManagedResourceConfig]
    manifest: Manifest
    """The ManagedResource as it was read last, or as this reconciliation has written it."""
    now: datetime
    """When something was read last."""
    budget: ReadingBudget
    state: State
    """For the next reconciliation if this one ends now."""
    is_deleted: bool = False
    """True if the ManagedResource does not exist any more."""
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
        """What decides on the course of the reconciliation; if it changes, the reconciliation starts again."""
        annotations = annotations_of(self.manifest)
        asked = (annotations.get(OPERATION), annotations.get(IGNORE))
        return self.is_deleted, spec_version(self.manifest), is_terminating(self.manifest), asked

    @property
    def status(self) -> Manifest:
        """The stored status; empty if there is none."""
        return object_at(self.manifest, "status")

    @property
    def applied(self) -> Condition | None:
        """The stored condition `ResourcesApplied`."""
        return find(conditions_of(self.manifest), RESOURCES_APPLIED)

    def read_again(self) -> None:
        """Read the ManagedResource from the snapshot, unless that may not show the own writes yet."""
        if not self.has_written:
            latest = self.snapshot.get(MANAGED_RESOURCES, self.key, Cluster.SOURCE)
            self.is_deleted = latest is None
            self.manifest = self.manifest if latest is None else latest

    async def work(self, nodes: int) -> None:
        """Count work equal to reading so many nodes, and let other keys run if it completes a slice."""
        if self.budget.ends_slice(nodes):
            await Pause(self.budget.nodes)

    def write_context(self, resource: Resource, namespace: str) -> WriteContext:
        """What a write of an object depends on, as this reconciliation saw it first."""
        if (known := self._write_contexts.get((resource, namespace))) is not None:
            return known
        found = write_context(self.snapshot, resource, namespace, self.context.server_versions)
        return self._write_contexts.setdefault((resource, namespace), found)

    async def write(self, action: JsonPatch | MergePatch, problem: str) -> Plan | None:
        """Write the ManagedResource; `problem` says in the log what failed."""
        result = await action
        if result.error is None:
            self.manifest, self.has_written = result.stored or self.manifest, True
            return None
        if result.error.is_not_found:
            return Plan()
        return Plan(failures=(self.failure(f"{problem}: {result.error.message}"),), state=self.state)

    async def write_status(
        self, reason: str, *statements: Statement, resources: Sequence[Manifest] | None = None
    ) -> Plan | None:
        """Write conditions and references now, if the status differs."""
        for patch in await self.status_patches(reason, *statements, resources=resources):
            return await self.write(patch, "could not update the ManagedResource status")
        return Plan() if self.is_deleted else None

    async def status_patches(self, reason: str, *statements: Statement, **members: Any) -> tuple[JsonPatch, ...]:
        """The patch to the new conditions and further `members` of `status_patch`; none if nothing differs."""
        self.now = await Now()
        self.read_again()
        if self.is_deleted:
            return ()
        stored = conditions_of(self.manifest)
        conditions = [
            updated(get_or_init(stored, kind, self.now), status, why, message, now=self.now)
            for kind, status, why, message in statements
        ]
        patch = status_patch(self.manifest, conditions, reason=reason, **members)
        return () if patch is None else (patch,)

    async def failed(
        self,
        reason: str,
        message: str,
        state: State,
        *,
        logged: str,
        is_unreachable: bool = False,
        resources: Sequence[Manifest] | None = None,
    ) -> Plan:
        """The end of a failed reconciliation, which is retried with growing delays, and the state for that.

        The condition `ResourcesApplied` becomes false. But if an API server did not answer, conditions stay, as nothing
        new is known. Without `resources` the references in the status stay.
        """
        failures = (self.failure(logged),)
        if is_unreachable:
            actions = () if resources is None else await self.status_patches("applied-in-part", resources=resources)
            return Plan(actions, failures=failures, state=state)
        statement = Statement(RESOURCES_APPLIED, ConditionStatus.FALSE, reason, message)
        actions = await self.status_patches(reason, statement, resources=resources)
        return Plan(actions, events=self.warnings(reason, message), failures=failures, state=state)

    def failure(self, problem: str) -> Failure:
        """A failure that is retried."""
        return Failure(MANAGED_RESOURCES, self.key, Problem("", problem), retryable=True)

    def warnings(self, reason: str, message: str) -> tuple[Event, ...]:
        """The event for a condition that becomes false; none if the condition has that reason already."""
        applied = self.applied
        return () if applied and applied.reason == reason else (self.event("Warning", reason, message),)

    def event(self, kind: Literal["Normal", "Warning"], reason: str, note: str) -> Event:
        """An event about the ManagedResource."""
        return Event(MANAGED_RESOURCES, self.key, uid_of(self.manifest), kind, reason, note, Cluster.SOURCE)


def digest(value: Any) -> bytes:
    """A digest of a JSON value; empty for a value that is nested too deep, which equals no other."""
    try:
        text = json.dumps(value, sort_keys=True)
    except RecursionError:
        return b""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def version_of(manifest: Manifest) -> tuple[Any, Any]:
    """UID and resource version of an object; both may be none."""
    metadata = manifest.get("metadata") or {}
    return metadata.get("uid"), metadata.get("resourceVersion")


def spec_version(managed_resource: Manifest) -> tuple[Any, Any]:
    """UID and generation of a ManagedResource, which change with its spec only."""
    metadata = managed_resource.get("metadata") or {}
    return metadata.get("uid"), metadata.get("generation")
