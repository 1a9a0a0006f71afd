"""Plans and actions: what a reconciliation writes, as immutable values.

A plan holds the difference between the desired state and the snapshot, so a settled object has the empty plan. Its
actions are independent, unless the plan is `in_order`: an executor sends them in any order or at once, and attempts all
of them even if one fails. Every action is a step too: a decision that needs its result awaits it.

Each action has a `reason`: the rule that asks for it, short and stable, for people and for tests.
"""

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.questions import NOT_FOUND
from hedgerow.machinery.steps import AtOnce, Step

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True, slots=True)
class Create(Step["WriteResult"]):
    """Create an object; or post to a subresource, which stores nothing: `token` returns a token."""

    resource: Resource
    manifest: Manifest
    reason: str
    cluster: Cluster = Cluster.TARGET
    subresource: str = ""

    @property
    def key(self) -> ObjectKey:
        """Of the object to create, or of the one whose subresource it is."""
        return key_of(self.manifest)


@dataclass(frozen=True, slots=True)
class Update(Step["WriteResult"]):
    """Replace the stored object, if it still has the manifest's resource version."""

    resource: Resource
    manifest: Manifest
    reason: str
    subresource: str = ""
    cluster: Cluster = Cluster.TARGET
    dry_run: bool = False
    """True: the server returns what it would store after admission, and stores nothing."""

    @property
    def key(self) -> ObjectKey:
        """Of the object to write."""
        return key_of(self.manifest)


@dataclass(frozen=True, slots=True)
class MergePatch(Step["WriteResult"]):
    """Change fields of an object by a JSON merge patch (RFC 7386), of one version only if it is given."""

    resource: Resource
    key: ObjectKey
    patch: Manifest
    reason: str
    resource_version: str | None = None
    subresource: str = ""
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class JsonPatch(Step["WriteResult"]):
    """Change an object by JSON patch operations (RFC 6902); a `test` operation is its precondition."""

    resource: Resource
    key: ObjectKey
    operations: Sequence[Mapping[str, Any]]
    reason: str
    subresource: str = ""
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class Delete(Step["WriteResult"]):
    """Delete an object, if it still has the uid from the snapshot."""

    resource: Resource
    key: ObjectKey
    reason: str
    uid: str | None = None
    resource_version: str | None = None
    propagation: Propagation | None = None
    """How the server deletes the objects that it owns; none: the server's default."""
    cluster: Cluster = Cluster.TARGET


Action: TypeAlias = Create | Update | MergePatch | JsonPatch | Delete
ACTIONS: Final = (Create, Update, MergePatch, JsonPatch, Delete)


def is_dry_run(action: Action) -> bool:
    """True if the server only returns what it would store."""
    return isinstance(action, Update) and action.dry_run


def only_asks(action: Action) -> bool:
    """True if an action changes no object: a dry run, or a request to a subresource such as `token`."""
    return is_dry_run(action) or (isinstance(action, Create) and bool(action.subresource))


class Cause(NamedTuple):
    """One of the causes that a server names for an error."""

    reason: str
    message: str
    field: str


@dataclass(frozen=True, slots=True)
class ApiError:
    """Why an action failed, in the words of the server or of the connection."""

    code: int
    """HTTP status; 0 if no answer arrived."""
    reason: str
    message: str
    causes: tuple[Cause, ...] = ()

    @property
    def is_not_found(self) -> bool:
        """True if it is proven that the object does not exist; a 404 with any other reason proves nothing."""
        return self.code == 404 and self.reason == NOT_FOUND  # noqa: PLR2004 -- HTTP status


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of one action."""

    action: Action
    stored: Manifest | None = None
    """The object as stored; none if it is gone, or was not written."""
    error: ApiError | None = None


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
class InOrder(Step[tuple[WriteResult, ...]]):
    """Actions one after the other. The first error ends the sequence, and is in the last result."""

    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class RecordEvents(Step[None]):
    """Events to record now rather than at the end."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The conclusion of one reconciliation."""

    actions: tuple[Action, ...] = ()
    events: tuple[Event, ...] = ()
    failures: tuple[Failure, ...] = ()
    """The actions are carried out all the same; then the key counts as failed."""
    requeue_after: float | None = None
    """Seconds until the key is reconciled again without an event; none: never."""
    in_order: bool = False
    """True if the actions are carried out one after the other, and the first error ends the sequence."""
    state: object = None
    """The `Context.state` of the key's next turn in this process. It is an input of that decision: it may decide."""

    @property
    def deletions(self) -> int:
        """How many objects it deletes."""
        return sum(isinstance(action, Delete) for action in self.actions)

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to write."""
        return not self.actions


Decision: TypeAlias = Coroutine[Any, Any, Plan]


def failed(*failures: Failure) -> Plan:
    """The plan that has failures and nothing else."""
    return Plan(failures=failures)


def actions_in(step: Step[Any] | Plan) -> tuple[Action, ...]:
    """All actions of a step or a plan, those of nested steps included."""
    match step:
        case Plan(actions) | InOrder(actions):
            return actions
        case AtOnce(steps):
            return tuple(action for each in steps for action in actions_in(each))
        case Create() | Update() | MergePatch() | JsonPatch() | Delete():
            return (step,)
        case _:
            return ()
