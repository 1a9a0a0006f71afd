"""A webhook as a declaration: where it is reached, what it reads, how it decides.

The same declaration serves an API server over HTTPS, the in-memory cluster, and reviews over files.

Source: webhooks-and-tokens §1.2, §3.2, defaulters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, Final, TypeAlias

from hedgerow.admission.decision import Allowed, Deciding, Decision, Denied, Mutated, Mutation, bad_request
from hedgerow.admission.request import DELETE, AdmissionRequest
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Read
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.failures import json_type
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import ListQuestion, ObjectQuestion, Question
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import Step

Reviewing: TypeAlias = Callable[[AdmissionRequest, Snapshot], Decision | Deciding]
Rule: TypeAlias = tuple[str, Callable[[Manifest], Manifest | Denied]]
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
    """Of its URL."""
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


def apply_rules(manifest: Manifest, rules: Sequence[Rule]) -> Decision:
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

    A deletion has no object to change, so it is allowed.

    Args:
        resource: the type; objects of others are denied.
        review: decides about a request whose object is of that type; may raise UnreadableError.
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
        return _readable(reviewed) if isinstance(reviewed, CoroutineType) else reviewed

    return checked


async def _readable(review: Deciding) -> Decision:
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
