"""Where an object of the target cluster is, and what it is like now.

Source: managed-resources §7.9.
"""

from dataclasses import dataclass
from typing import NamedTuple

from hedgerow.api.references import DEFAULT_NAMESPACE
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.machinery.questions import Answer, Found, KindQuestion, NotAnswered, ObjectQuestion


@dataclass(frozen=True, slots=True)
class Live:
    """The object is known."""

    manifest: Manifest | None
    """None: it does not exist."""
    is_unserved: bool = False
    """True if it may exist nevertheless, as the server does not know its kind."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """An API server did not answer."""

    text: str
    """Why."""


class ResourceKey(NamedTuple):
    """The resource and the key of an object."""

    resource: Resource
    key: ObjectKey

    @property
    def question(self) -> ObjectQuestion:
        """Reads the object."""
        return ObjectQuestion(self.resource, self.key, Cluster.TARGET)


async def resource_key_of(kind: Kind, key: ObjectKey) -> ResourceKey | NotAnswered:
    """The resource that serves a kind, with the key; or why the resource is unknown."""
    resource = await KindQuestion(kind)
    if isinstance(resource, NotAnswered):
        return resource
    namespace = key.namespace or DEFAULT_NAMESPACE
    return ResourceKey(resource, ObjectKey(namespace if resource.namespaced else "", key.name))


def live(answer: Answer) -> Live | NotAnswered:
    """The object that an answer shows, or why that is not known."""
    if isinstance(answer, Found):
        return Live(answer.objects[0] if answer.objects else None)
    return Live(None, answer.is_unserved) if answer.is_not_found else answer
