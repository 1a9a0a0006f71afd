"""The kinds of objects that health rules are about, and what the rules are told of an object.

An object out of a list does not say what it is, so its kind is told beside it.
"""

from dataclasses import dataclass
from enum import Enum

from hedgerow.api.managed_resources import SKIP_HEALTH_CHECK
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, annotations_of, key_of


class Absence(Enum):
    """Why there is no live object."""

    NOT_FOUND = "the object does not exist"
    NOT_SERVED = "the cluster does not know the kind"


@dataclass(frozen=True, slots=True)
class Observed:
    """One object that a ManagedResource manages, and what the target cluster shows of it."""

    kind: Kind
    key: ObjectKey
    live: Manifest | Absence
    pod_count: int | None = None
    """How many pods a Deployment selects; none: nobody has counted."""

    @classmethod
    def existing(cls, live: Manifest, pod_count: int | None = None) -> "Observed":
        """A live object that says itself what it is."""
        return cls(Kind.of(live), key_of(live), live, pod_count)

    def __str__(self) -> str:
        """As messages name it: the kind, then namespace and name even where the namespace is empty."""
        return f'{self.kind.kind} "{self.key.namespace}/{self.key.name}"'


def is_skipped(live: Manifest) -> bool:
    """Whether somebody asked for an object's health not to count."""
    return annotations_of(live).get(SKIP_HEALTH_CHECK) == "true"
