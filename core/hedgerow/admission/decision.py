"""What a webhook decides: an operation is allowed as it is, allowed with a changed object, or denied.

Source: webhooks-and-tokens §3.2, §3.4.
"""

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.patches import Operation, json_patch_between
from hedgerow.machinery.questions import NotAnswered

OK: Final = 200
BAD_REQUEST: Final = 400
FORBIDDEN: Final = 403
INVALID: Final = 422
INTERNAL_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Mutation:
    """The change of an object by one rule. Both objects share what the rule left alone, and must not be changed."""

    rule: str
    """Its short stable name, such as `node-affinity`."""
    before: Manifest
    after: Manifest

    @property
    def patch(self) -> list[Operation]:
        """What the rule changed."""
        return json_patch_between(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The operation may go on as it is."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class Mutated:
    """The operation may go on with a changed object."""

    mutations: tuple[Mutation, ...]
    """At least one, in order; each rule sees the object that the one before it made."""

    @property
    def object(self) -> Manifest:
        """The object as changed."""
        return self.mutations[-1].after

    @property
    def patch(self) -> list[Operation]:
        """All changes together; empty if later rules undid those of earlier ones."""
        return json_patch_between(self.mutations[0].before, self.mutations[-1].after)


@dataclass(frozen=True, slots=True)
class Denied:
    """The operation must not go on."""

    code: int
    """HTTP status that the client of the API server sees."""
    message: str
    reason: str = ""
    """As in a Status, such as `Forbidden`; empty: none."""
    details: Mapping[str, Any] | None = None
    """As in a Status."""
    is_undecided: bool = field(default=False, compare=False)
    """Whether a read failed that the decision needs. Not part of the answer; for logs and metrics."""


Decision: TypeAlias = Allowed | Mutated | Denied
Deciding: TypeAlias = Coroutine[Any, Any, Decision]
"""A review that awaits live reads, and ends in a decision."""


def forbidden(message: str) -> Denied:
    """The denial by a rule."""
    return Denied(FORBIDDEN, message, "Forbidden")


def bad_request(message: str) -> Denied:
    """The denial of an object or request that cannot be read."""
    return Denied(BAD_REQUEST, message)


def internal_error(message: str) -> Denied:
    """The denial because the decision lacks something."""
    return Denied(INTERNAL_ERROR, message, is_undecided=True)


def unanswered(answer: NotAnswered) -> Denied:
    """The denial because of a failed read, in the API server's words."""
    return Denied(answer.code, answer.message, answer.reason, is_undecided=not answer.is_not_found)
