"""What a reconciliation wants done, as an immutable value.

A plan holds the difference between what is desired and what the snapshot shows, so a settled object has the empty plan.
Its actions are independent of each other: an executor sends them in any order or at once, attempts all of them, and one
that fails stops no other. A controller whose writes build on each other plans the first of them and is asked again
when the world has changed.

Each action carries a `reason`: the rule that asks for it, short and stable, for people and for tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object that the snapshot does not hold."""

    resource: Resource
    manifest: Manifest
    reason: str
    cluster: Cluster = Cluster.TARGET

    @property
    def key(self) -> ObjectKey:
        """Key of the object to create."""
        return key_of(self.manifest)


@dataclass(frozen=True, slots=True)
class MergePatch:
    """Change fields of an object by a JSON merge patch (RFC 7386).

    With a `resource_version` the patch applies only to the very version that it was computed against.
    """

    resource: Resource
    key: ObjectKey
    patch: Manifest
    reason: str
    resource_version: str | None = None
    subresource: str = ""
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """Change an object by JSON patch operations (RFC 6902); a `test` operation is its precondition."""

    resource: Resource
    key: ObjectKey
    operations: Sequence[Mapping[str, Any]]
    reason: str
    subresource: str = ""
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object if it still is the one that the snapshot showed."""

    resource: Resource
    key: ObjectKey
    reason: str
    uid: str | None = None
    resource_version: str | None = None
    cluster: Cluster = Cluster.TARGET


Action: TypeAlias = Create | MergePatch | JsonPatch | Delete


@dataclass(frozen=True, slots=True)
class Event:
    """A Kubernetes Event to record about an object."""

    resource: Resource
    key: ObjectKey
    uid: str | None
    type: Literal["Normal", "Warning"]
    reason: str
    """CamelCase, stable: alerts match on it."""
    note: str
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that one reconciliation asks for.

    `failures` are what could not be planned: the actions are carried out all the same, then the key counts as failed.
    """

    actions: tuple[Action, ...] = ()
    events: tuple[Event, ...] = ()
    failures: tuple[DomainFailure, ...] = ()
    requeue_after: float | None = None
    """Seconds until the key wants to be looked at again without any event; none: never."""

    @property
    def deletions(self) -> int:
        """How many objects the plan deletes."""
        return sum(isinstance(action, Delete) for action in self.actions)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.actions
