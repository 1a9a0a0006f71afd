"""A webhook as a declaration: where it is reached, what it reads, how it decides; and its decisions.

An operation is allowed as it is, allowed with a changed object, or denied. The same declaration serves an API server
over HTTPS, the in-memory cluster, and reviews over files.

Source: webhooks-and-tokens §1.2, §3.2, §3.4.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Any, Final, TypeAlias

from hedgerow.admission.request import DELETE, AdmissionRequest
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Read
from hedgerow.machinery.failures import json_type
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.patches import Operation, json_patch_between
from hedgerow.machinery.questions import ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import Execution, Step

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
    warnings: tuple[str, ...] = ()
    """What the client of the API server is told beside: one sentence each, at best no longer than 120 characters."""


@dataclass(frozen=True, slots=True)
class Mutated:
    """The operation may go on with a changed object."""

    mutations: tuple[Mutation, ...]
    """At least one, in order; each rule sees the object that the one before it made."""
    warnings: tuple[str, ...] = ()
    """As of what is allowed unchanged."""

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
    """As in a Status, such as `Forbidden`, and so are the details; empty: none."""
    details: Mapping[str, Any] | None = None
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


Reviewing: TypeAlias = Callable[[AdmissionRequest, Snapshot], Decision | Deciding]
MutationRule: TypeAlias = tuple[str, Callable[[Manifest], Manifest | Denied]]
"""A short stable name, and a function that returns the changed object, or the same one if nothing changes."""

MOST_READS: Final = 8
"""Live reads of one review; a webhook needs one or two."""
_LONGEST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook, complete with its configuration."""

    name: str
    """As in configurations: `high-availability-config`."""
    path: str
    review: Reviewing
    """Decides about a request, from caches and from the live reads that it awaits."""
    reads: tuple[Read, ...] = ()
    """From caches."""
    indexes: tuple[Index[Any], ...] = ()
    permissions: tuple[Permission, ...] = ()
    """For its live reads."""

    def execution(self, request: AdmissionRequest, snapshot: Snapshot) -> Execution[Decision]:
        """The review of a request. A driver performs `read_in(step)` for each step, and goes on with the Answer.

        It ends with an EndlessDecisionError after `MOST_READS` reads.
        """
        return Execution(self.review(request, snapshot), f"a request to {self.name}", most_steps=MOST_READS)


def read_in(step: Step[Any]) -> Question:
    """The live read that a review awaits.

    Raises:
        TypeError: the step is something else, which no webhook may ask for.
    """
    if not isinstance(step, ObjectQuestion | ListQuestion):
        raise TypeError(f"a review awaits {type(step).__name__}, which is no read")
    return step


def apply_rules(manifest: Manifest, rules: Sequence[MutationRule]) -> Decision:
    """The object as rules change it one after the other, or the first denial."""
    mutations = []
    for name, rule in rules:
        changed = rule(manifest)
        if isinstance(changed, Denied):
            return changed
        if changed is not manifest:
            mutations.append(Mutation(name, manifest, changed))
            manifest = changed
    return Mutated(tuple(mutations)) if mutations else Allowed()


def mutating(resource: Resource, review: Reviewing) -> Reviewing:
    """The review of a webhook that changes objects of one type; an object that it cannot read is denied with code 400.

    A deletion has no object to change, so it is allowed. Objects of other types are denied. `review` gets only requests
    whose object is of the type, and may raise UnreadableError.
    """

    def checked(request: AdmissionRequest, snapshot: Snapshot) -> Decision | Deciding:
        if request.operation == DELETE:
            return Allowed()
        if problem := type_problem(request.object, resource):
            return bad_request(problem)
        try:
            reviewed = review(request, snapshot)
        except UnreadableError as error:
            return bad_request(str(error))
        return readable(reviewed) if isinstance(reviewed, CoroutineType) else reviewed

    return checked


async def readable(review: Deciding) -> Decision:
    """The end of a review, or the denial of an object that it cannot read."""
    try:
        return await review
    except UnreadableError as error:
        return bad_request(str(error))


def type_problem(value: Any, resource: Resource) -> str | None:
    """Why a value is no object of a resource; none: it is one."""
    if value is None:
        return "there is no object in the request"
    if not isinstance(value, dict):
        return f"expected an object, got {json_type(value)}"
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if (api_version, kind) != (resource.api_version, resource.kind):
        return f"expected {resource.kind} of {resource.api_version}, got {_shown(kind)} of {_shown(api_version)}"
    return None


def _shown(value: Any) -> str:
    """A value as a message shows it: the beginning of a text, and only the type of others."""
    return value[:_LONGEST_SHOWN] if isinstance(value, str) else json_type(value)
