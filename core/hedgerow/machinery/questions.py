"""What only the world can tell a decision, asked for as a value.

A decision that cannot go on without it returns a question; whoever runs it obtains the answer, live and from no cache,
and asks again with the answer at hand. So the decision stays pure, and a recorded one repeats exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.selection import selected_by


@dataclass(frozen=True, slots=True)
class ObjectQuestion:
    """Which object has a key now?"""

    resource: Resource
    key: ObjectKey
    cluster: Cluster
    outdated: str = ""
    """What is known to be no longer true of it, as a write was refused that was made for it: so what was answered
    before that is not the answer to this question."""


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """Which objects of a resource exist now?"""

    resource: Resource
    cluster: Cluster
    namespace: str = ""
    """Empty: all namespaces."""
    label_selector: str = ""
    """As a query spells it; empty: whatever their labels."""
    field_selector: str = ""
    """As a query spells it; empty: whatever is in their fields."""
    metadata_only: bool = False
    """Whether nothing but metadata is read, so that an answer need not hold more."""
    attempt: int = 0
    """Told apart by it, the same is asked again within a turn, as no question is answered twice."""

    def asks_for(self, manifest: Manifest) -> bool:
        """Whether an object of the resource is among those that are asked for."""
        is_selected = selected_by(self.label_selector, self.field_selector)
        return self.namespace in {"", key_of(manifest).namespace} and is_selected(manifest)


Question: TypeAlias = ObjectQuestion | ListQuestion


@dataclass(frozen=True, slots=True)
class Found:
    """The objects that a question asks for: all of a list, or the one of a key."""

    objects: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """Why the API server did not show what was asked for; that something does not exist has the code 404."""

    code: int
    """HTTP status; 500 where there was no answer at all."""
    reason: str
    """As in a Status, such as `NotFound`; empty where the server gave none."""
    message: str
    is_unserved: bool = field(default=False, compare=False)
    """Whether the server does not even know the resource. One that has just started may learn of it a moment later."""

    @property
    def is_not_found(self) -> bool:
        """Whether the object, or the resource itself, does not exist."""
        return self.code == 404  # noqa: PLR2004 -- HTTP status

    @property
    def is_silence(self) -> bool:
        """Whether there was no answer at all, so that nothing is known, not even that something is wrong."""
        return self.code == 500 and not self.reason  # noqa: PLR2004 -- HTTP status


Answer: TypeAlias = Found | NotAnswered
Kinds: TypeAlias = Mapping[Kind, Resource | NotAnswered]
"""As which resource the API server of the target cluster serves each kind that has been looked up, or why not."""
Answers: TypeAlias = Mapping[Question, Answer]
"""What has been found out for a decision so far."""
