"""Controller declarations: watches, indexes, and the function that reconciles a key.

The same declaration runs against API servers, in memory and over files. A reconciliation is level-based: it gets a key,
never an event.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, uid_of
from hedgerow.machinery.plan import Decision, Plan
from hedgerow.machinery.reported_states import ReportedStates
from hedgerow.machinery.selectors import selected_by
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import Execution, Step

Config = TypeVar("Config")

SINGLETON: Final = ObjectKey("", "")


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one object: created (no old), deleted (no new), or updated. A resync has the same object twice."""

    old: Manifest | None
    new: Manifest | None


def every_change(_change: Change) -> bool:
    """The predicate of all changes."""
    return True


def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """What a watch of primary objects enqueues."""
    return (key_of(manifest),)


def no_key(_manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """What a watch enqueues whose objects are only looked up."""
    return ()


def nothing_wrong(_manifest: Manifest) -> tuple[Problem, ...]:
    """The check of a resource whose decisions read nothing but metadata, or check what they read."""
    return ()


def creation_deletion_or(changed: Callable[[Manifest, Manifest], bool]) -> Callable[[Change], bool]:
    """The predicate of creations, deletions, and updates with `changed(old, new)`, or to another uid."""

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        return old is None or new is None or uid_of(old) != uid_of(new) or changed(old, new)

    return passes


@dataclass(frozen=True, slots=True)
class Read:
    """The objects of one resource in one cluster that decisions look up in a cache."""

    resource: Resource
    transform: Callable[[Manifest], Manifest]
    """Reduces an object to the fields that decisions read. Caches and snapshots hold nothing else."""
    _: KW_ONLY
    metadata_only: bool = False
    """True if `transform` keeps nothing but metadata: the API server then sends only metadata."""
    cluster: Cluster = Cluster.TARGET
    may_be_absent: bool = False
    """True if the API server may lack the resource, which then has no objects."""
    required_for_sync: bool = True
    """True if no decision begins before the objects are listed; otherwise a snapshot may lack the resource at first."""
    label_selector: str = ""
    field_selector: str = ""
    """As queries spell them: only objects that both select are read."""
    namespace: str = ""
    """The only namespace that is read, so that a role in it is enough; empty: all namespaces."""
    problems: Callable[[Manifest], Iterable[Problem]] = nothing_wrong
    """What no API server would have stored, as far as decisions read it unchecked. Only for plain manifests."""

    def reads(self, manifest: Manifest) -> bool:
        """True if selectors and namespace select the object."""
        return selected_by(self.label_selector, self.field_selector, self.namespace)(manifest)


@dataclass(frozen=True, slots=True)
class Watch(Read):
    """Objects that a controller reads, and the keys that their changes enqueue, after `transform`."""

    enqueue: Callable[[Manifest, Snapshot], Iterable[ObjectKey]]
    """Called with the old and the new version: a key that the object no longer names is reconciled, too."""
    predicate: Callable[[Change], bool] = every_change
    _: KW_ONLY
    is_desired_state: bool = False
    """True if the objects are desired state, not output."""


@dataclass(frozen=True, slots=True)
class DynamicWatch:
    """Watches of the kinds that are values of an index, while served. They do not delay the start of the controller."""

    kinds: Index[Kind]
    watches: Callable[[Resource], tuple[Watch, ...]]
    """The watch of the resource, and of other resources that its objects need."""
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class Context(Generic[Config]):
    """The inputs of a decision besides the snapshot."""

    now: datetime
    """When the decision began; a decision that needs the time of a later step awaits `Now`."""
    config: Config
    state: Any = None
    """The `state` of the last plan of the key; none at the start of a process. It is an input: it may decide."""
    jitter: float = 0.0
    """From 0 to less than 1; spreads work that would be due at once."""
    server_versions: frozenset[str] = frozenset()
    """Every version of the target's API servers that this process has seen. None is ever removed: two servers of
    different versions behind one address cause one change, not one a minute."""
    looks_once: bool = False
    """True in `plan`, and in `simulate` where no time passes: nothing may be left to a later turn for a fast start."""


@dataclass(frozen=True, slots=True)
class Controller(Generic[Config]):
    """One controller, complete."""

    name: str
    primary: Resource
    """The resource whose keys it reconciles, in the `primary_cluster`."""
    watches: tuple[Watch, ...]
    concurrency: int
    config: Config
    reconcile: Callable[[ObjectKey, Snapshot, Context[Config]], Plan | Decision]
    indexes: tuple[Index[Any], ...] = ()
    owned: Index[ObjectKey] | None = None
    """The objects that it creates, by the keys of their owners; the deletion guard counts them. None: no guard."""
    primary_cluster: Cluster = Cluster.TARGET
    dynamic_watches: tuple[DynamicWatch, ...] = ()
    yields_to: tuple[str, ...] = ()
    """Controllers of the same process: while one of them has keys to reconcile, keys of this one wait up to 5 s."""
    permissions: tuple[Permission, ...] = ()
    """Besides listing and watching what it declares to watch."""
    periodic: bool = False
    """True if its only key is `SINGLETON`, which its plans requeue."""
    longest_wait: float | None = None
    """In seconds, after failures or in a write conflict; none: the runtime's limits."""
    shortest_wait: float = 0.0
    """In seconds, from the end of a turn to the key's next one: what changes often is then told at once."""
    events_from: str = ""
    """The reporting controller of its events; empty: its name."""
    reads_server_version: bool = False
    """True if its decisions depend on `Context.server_versions`."""
    reported: ReportedStates | None = None
    """What a metric tells of each primary object; none: only totals are counted."""


def concerned_keys(watch: Watch, change: Change, snapshot: Snapshot) -> frozenset[ObjectKey]:
    """The keys that a change enqueues; none if the predicate of its watch drops it."""
    if not watch.predicate(change):
        return frozenset()
    versions = (change.old, change.new) if change.old is not change.new else (change.new,)
    return frozenset(key for version in versions if version is not None for key in watch.enqueue(version, snapshot))


def all_keys(controller: Controller[Config], snapshot: Snapshot) -> list[ObjectKey]:
    """Every key of a controller, in order; any other has the empty plan, because a reconciliation is level-based."""
    return sorted({key for cluster in Cluster for key in keys_from(controller, snapshot, cluster)})


def keys_from(controller: Controller[Config], snapshot: Snapshot, cluster: Cluster) -> Iterator[ObjectKey]:
    """The keys of primary objects, and of owners of owned objects, in a cluster; some repeatedly."""
    if controller.periodic:
        if controller.primary_cluster is cluster:
            yield SINGLETON
        return
    if controller.primary_cluster is cluster:
        yield from (key_of(manifest) for manifest in snapshot.list(controller.primary, cluster=cluster))
    owned = controller.owned
    if owned is not None and owned.cluster is cluster:
        for manifest in snapshot.list(owned.resource, cluster=cluster):
            yield from owned.values(manifest)


def primary_object(controller: Controller[Config], snapshot: Snapshot, key: ObjectKey) -> Manifest | None:
    """The object that a key names; none if it does not exist."""
    if controller.periodic:
        return None
    return snapshot.get(controller.primary, key, controller.primary_cluster)


def is_owned(controller: Controller[Config], manifest: Manifest) -> bool:
    """True if an object is in the controller's index of owned objects."""
    return controller.owned is not None and any(controller.owned.values(manifest))


def owned_objects(controller: Controller[Config], snapshot: Snapshot) -> list[Manifest]:
    """The objects that a controller has created."""
    owned = controller.owned
    if owned is None:
        return []
    return [each for each in snapshot.list(owned.resource, cluster=owned.cluster) if is_owned(controller, each)]


def plans(controller: Controller[Config], snapshot: Snapshot, now: datetime) -> Iterator[tuple[ObjectKey, Plan]]:
    """The plans of a controller for all keys of a snapshot, in order; TypeError for a decision that awaits a step."""
    context = Context(now, controller.config)
    for key in all_keys(controller, snapshot):
        with Execution(controller.reconcile(key, snapshot, context)) as execution:
            plan = execution.begin()
        if isinstance(plan, Step):
            raise TypeError(f"the decision about {key} awaits {type(plan).__name__}, which only a driver can perform")
        yield key, plan
