"""What an object of the target cluster is like now, as far as this turn has found out.

Source: managed-resources §7.9.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, resource_version_of
from hedgerow.machinery.plan import Outcome, Update
from hedgerow.machinery.questions import Found, Kinds, NotAnswered, ObjectQuestion
from hedgerow.resource_manager.managed_resources.equivalences import DEFAULT_NAMESPACE
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage

_ABSENT: Final = "absent"


@dataclass(frozen=True, slots=True)
class Live:
    """The object is known."""

    manifest: Manifest | None
    """None: it does not exist."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """It could not be found out, as nobody answered."""

    text: str
    """Why."""


Look: TypeAlias = Live | NotAnswered | ObjectQuestion
"""What is known; or why it cannot be found out; or what has to be asked."""


class Place(NamedTuple):
    """Where an object is."""

    resource: Resource
    key: ObjectKey


def place_of(kind: Kind, key: ObjectKey, kinds: Kinds) -> Place | NotAnswered | None:
    """Where the object of a reference is, or why that cannot be told; none: its kind has not been looked up."""
    resource = kinds.get(kind)
    if not isinstance(resource, Resource):
        return resource
    namespace = key.namespace or DEFAULT_NAMESPACE
    return Place(resource, ObjectKey(namespace if resource.namespaced else "", key.name))


def live(stage: Stage, resource: Resource, key: ObjectKey) -> Look:
    """The object as it was found, after the last refused write to it if there was one."""
    refused = [outcome for outcome in stage.writes_of(resource, key) if outcome.refusal is not None]
    outdated = _outdated(refused[-1]) if refused else ""
    return found(stage, ObjectQuestion(resource, key, Cluster.TARGET, outdated))


def found(stage: Stage, question: ObjectQuestion) -> Look:
    """What the answer to a question says."""
    match stage.context.answers.get(question):
        case None:
            return question
        case Found(objects):
            return Live(objects[0] if objects else None)
        case NotAnswered() as problem:
            return Live(None) if problem.is_not_found else problem


def _outdated(refused: Outcome) -> str:
    """What was thought of an object when a write was made that was refused."""
    action = refused.action
    return (isinstance(action, Update) and resource_version_of(action.manifest)) or _ABSENT
