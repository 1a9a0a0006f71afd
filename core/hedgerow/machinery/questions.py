"""Questions: steps that read live from the API server, past all caches.

A decision that awaits a question stays pure, and a recorded one repeats exactly.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.machinery.selectors import selected_by
from hedgerow.machinery.steps import Step

NOT_FOUND: Final = "NotFound"
"""Reason of a proven 404: a Status of the API server names the object that does not exist."""
NO_MATCH: Final = "NoMatch"
"""Reason of a proven 404: a discovery document of the API server lacks the resource."""
_DEFINING: Final = frozenset(
    {("apiextensions.k8s.io", "customresourcedefinitions"), ("apiregistration.k8s.io", "apiservices")}
)


def itself(manifest: Manifest) -> Manifest:
    """All of an object, for lists."""
    return manifest


@dataclass(frozen=True, slots=True)
class ObjectQuestion(Step["Answer"]):
    """Which object has a key now?"""

    resource: Resource
    key: ObjectKey
    cluster: Cluster


@dataclass(frozen=True, slots=True)
class ListQuestion(Step["Answer"]):
    """Which objects of a resource exist now?"""

    resource: Resource
    cluster: Cluster
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    """As queries spell them; empty: all objects."""
    metadata_only: bool = False
    """True if the answer need not hold more than metadata."""
    keep: Callable[[Manifest], Manifest | None] = field(default=itself, compare=False, repr=False)
    """What the decision reads of an object; none if it reads nothing of it. Of what it has kept it keeps everything.

    Who reads pages holds no more of them, and reads one such list at a time. Other drivers may answer with whole
    objects. A record leaves it out.
    """

    def asks_for(self, manifest: Manifest) -> bool:
        """True if an object of the resource is among those that are asked for."""
        return selected_by(self.label_selector, self.field_selector, self.namespace)(manifest)


Question: TypeAlias = ObjectQuestion | ListQuestion


@dataclass(frozen=True, slots=True)
class KindQuestion(Step["Resource | NotAnswered"]):
    """As which resource does a cluster serve a kind? A driver may answer from what discovery has told before."""

    kind: Kind
    cluster: Cluster = Cluster.TARGET


@dataclass(frozen=True, slots=True)
class Found:
    """The objects that a question asks for: all of a list, or the one of a key."""

    objects: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """Why the API server did not show what was asked for.

    A 404 with any other reason than `NotFound` and `NoMatch` proves nothing: a gateway or a wrong address answers so.
    """

    code: int
    """HTTP status; 500 where there was no answer at all."""
    reason: str
    """As in a Status, such as `NotFound`; empty where the server gave none."""
    message: str

    @property
    def is_not_found(self) -> bool:
        """True if it is proven that the object, or the resource itself, does not exist."""
        return self.code == 404 and self.reason in {NOT_FOUND, NO_MATCH}  # noqa: PLR2004 -- HTTP status

    @property
    def is_unserved(self) -> bool:
        """True if discovery lacks the resource. A server that has just started may serve it a moment later."""
        return self.code == 404 and self.reason == NO_MATCH  # noqa: PLR2004 -- HTTP status

    @property
    def is_unreachable(self) -> bool:
        """True if no answer arrived: the state of the object is unknown."""
        return self.code == 500 and not self.reason  # noqa: PLR2004 -- HTTP status


Answer: TypeAlias = Found | NotAnswered
Kinds: TypeAlias = Mapping[Kind, Resource | NotAnswered]
"""The resources as which the target cluster serves kinds that were looked up, or why it does not."""


def defines_kinds(resource: Resource) -> bool:
    """True if objects of a resource define which kinds are served: writing one may change the answers about kinds."""
    return (resource.group, resource.plural) in _DEFINING
