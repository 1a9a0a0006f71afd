"""A webhook as a declaration: where it is reached, what it reads, how it decides.

The same declaration answers an API server over HTTPS, decides over files, and serves the in-memory cluster; nothing
here knows which.

Source: webhooks-and-tokens §1.2, §3.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hedgerow.admission.decision import Allowed, Denied, Mutation, Review, bad_request
from hedgerow.admission.request import DELETE, AdmissionRequest
from hedgerow.machinery.controller import Read
from hedgerow.machinery.fields import shape_of
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.questions import Answers
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Index, Snapshot

Reviewing: TypeAlias = Callable[[AdmissionRequest, Snapshot, Answers], Review]
Rule: TypeAlias = tuple[str, Callable[[Manifest], Manifest | Denied]]
"""A short stable name, and what it makes of an object: the very same one if it has nothing to change."""

_LONGEST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook, complete with its configuration."""

    name: str
    """How people and configurations call it: `high-availability-config`."""
    path: str
    """Where a server offers it."""
    review: Reviewing
    """Decides about a request, from what the caches show and from what has been found out before."""
    reads: tuple[Read, ...] = ()
    """What it looks up in caches."""
    indexes: tuple[Index[Any], ...] = ()
    permissions: tuple[Permission, ...] = ()
    """What it has to be allowed beside to list and watch what it looks up: what it asks about live."""


def apply_rules(manifest: Manifest, rules: Sequence[Rule]) -> Allowed | Denied:
    """What an ordered list of rules makes of an object, or the first denial among them."""
    mutations = []
    for name, rule in rules:
        changed = rule(manifest)
        if isinstance(changed, Denied):
            return changed
        if changed is not manifest:
            mutations.append(Mutation(name, manifest, changed))
            manifest = changed
    return Allowed(tuple(mutations))


def mutating(resource: Resource, review: Reviewing) -> Reviewing:
    """The review of a webhook that changes objects of one type: what it cannot read it denies with code 400.

    A deletion has no object to change, so it is allowed unseen.

    Args:
        resource: what the objects are; others are refused.
        review: decides about a request whose object is of that type; may raise UnreadableError.

    Source: webhooks-and-tokens §3.2, defaulters.
    """

    def checked(request: AdmissionRequest, snapshot: Snapshot, answers: Answers) -> Review:
        if request.operation == DELETE:
            return Allowed()
        if problem := type_problem(request.object, resource):
            return bad_request(problem)
        try:
            return review(request, snapshot, answers)
        except UnreadableError as error:
            return bad_request(str(error))

    return checked


def type_problem(value: Any, resource: Resource) -> str | None:
    """What keeps a value from being an object of a resource; none if nothing."""
    if value is None:
        return "there is no object in the request"
    if not isinstance(value, dict):
        return f"expected an object, got {shape_of(value)}"
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if (api_version, kind) != (resource.api_version, resource.kind):
        return f"expected {resource.kind} of {resource.api_version}, got {_shown(kind)} of {_shown(api_version)}"
    return None


def _shown(value: Any) -> str:
    """What a message shows of a value: no more of a text than it takes to recognise it, nothing from inside others."""
    return value[:_LONGEST_SHOWN] if isinstance(value, str) else shape_of(value)
