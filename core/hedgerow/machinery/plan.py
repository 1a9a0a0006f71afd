"""What a reconciliation wants done, as an immutable value.

A plan holds the difference between what is desired and what the snapshot shows, so a settled object has the empty plan.
Its actions are independent of each other, unless it says that they are in order: an executor sends them in any order or
at once, attempts all of them, and one that fails stops no other.

A decision that has to know first what becomes of its actions, or what only a live request can tell, plans as far as it
can see and asks to go on: within the same turn of its key it is made again, with outcomes and answers at hand.

Each action carries a `reason`: the rule that asks for it, short and stable, for people and for tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.questions import Question

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object that the snapshot does not hold, or ask for what a subresource of one that exists makes.

    The latter stores nothing: a TokenRequest, by its subresource `token`, is answered with the token.
    """

    resource: Resource
    manifest: Manifest
    reason: str
    cluster: Cluster = Cluster.TARGET
    subresource: str = ""

    @property
    def key(self) -> ObjectKey:
        """Key of the object to create, or of the one whose subresource it is."""
        return key_of(self.manifest)


@dataclass(frozen=True, slots=True)
class Update:
    """Write an object in place of the stored one, if that still is of the version which the manifest carries."""

    resource: Resource
    manifest: Manifest
    reason: str
    subresource: str = ""
    cluster: Cluster = Cluster.TARGET

    @property
    def key(self) -> ObjectKey:
        """Key of the object to write."""
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
    propagation: Propagation | None = None
    """What becomes of the objects that it owns; none: what the server does by default."""
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class DeleteCollection:
    """Delete all objects of a resource in one namespace that a label selector matches."""

    resource: Resource
    namespace: str
    label_selector: str
    """As a query spells it; never empty."""
    reason: str
    cluster: Cluster = Cluster.TARGET

    @property
    def key(self) -> ObjectKey:
        """The namespace, without a name."""
        return ObjectKey(self.namespace, "")


Action: TypeAlias = Create | Update | MergePatch | JsonPatch | Delete | DeleteCollection


def only_asks(action: Action) -> bool:
    """Whether an action asks a subresource for something, such as a token, and leaves the object as it is."""
    return isinstance(action, Create) and bool(action.subresource)


class Cause(NamedTuple):
    """One of the causes that a server names for a refusal."""

    reason: str
    message: str
    field: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an action was not carried out, in the words of the server, or of the connection to it."""

    code: int
    """HTTP status; 0 where there was no answer."""
    reason: str
    """As in a Status, such as `Invalid`; empty where there is none."""
    message: str
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one action that an earlier plan of the same turn asked for."""

    action: Action
    stored: Manifest | None = None
    """The object as the server has it now; none where it is gone, or was not written."""
    refusal: Refusal | None = None
    """None: the action was carried out."""


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
    in_order: bool = False
    """Whether the actions are carried out one after the other, the first that fails being the last."""
    questions: tuple[Question, ...] = ()
    """What has to be known to go on; it is found out after the actions are carried out."""
    kinds: tuple[Kind, ...] = ()
    """Kinds of which has to be known, to go on, as which resource the target cluster serves them."""
    goes_on: bool = False
    """Whether the decision is to be made again when the actions are carried out, even without a question. What such a
    plan says of failures and later turns counts for nothing."""
    memory: object = None
    """What the next turn of the key is to be told, by this process only: it may save work, and decides nothing."""

    @property
    def deletions(self) -> int:
        """How many objects the plan deletes."""
        return sum(isinstance(action, Delete) for action in self.actions)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.actions

    @property
    def is_final(self) -> bool:
        """Whether the turn of the key ends with this plan."""
        return not self.questions and not self.kinds and not self.goes_on
