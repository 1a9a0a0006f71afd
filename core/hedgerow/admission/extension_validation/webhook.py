"""How the validation answers the API server.

Source: webhooks-and-tokens §1.2, §3.2, §9.1.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from hedgerow.admission.extension_validation.kinds import KINDS, Kind
from hedgerow.admission.request import CONNECT, CREATE, DELETE, UPDATE, AdmissionRequest
from hedgerow.admission.webhook import INVALID, Allowed, Decision, Denied, Webhook, bad_request, type_problem
from hedgerow.machinery.failures import Problem, joined
from hedgerow.machinery.objects import Resource, key_of

NAME: Final = "extension-validation"
MOST_ERRORS: Final = 100
"""In one denial; an object may hold as many errors as bytes."""


def validate_create(kind: str, manifest: Any) -> tuple[Problem, ...]:
    """What is wrong with an object that is to be created: metadata first, then the spec.

    An object may be of any JSON type. If fields have a wrong type, only these are returned.
    """
    rules = KINDS[kind]
    return rules.misfits(manifest) or tuple(rules.errors(manifest))


def validate_update(kind: str, new: Any, old: Any) -> tuple[Problem, ...]:
    """What is wrong with an update: the change of metadata, that of the spec, then the new object as if created."""
    rules = KINDS[kind]
    return rules.misfits(new) or rules.misfits(old) or tuple(rules.errors(new, old))


def review(kind: str, request: AdmissionRequest) -> Decision:
    """Let only valid objects of a kind, one of KINDS, be stored; deletions and connections are allowed."""
    if request.operation == CONNECT:
        return Allowed()
    decoded = {CREATE: (request.object,), UPDATE: (request.object, request.old_object), DELETE: (request.old_object,)}
    manifests = decoded.get(request.operation)
    if manifests is None:
        return bad_request(f'unknown operation "{request.operation}"')
    rules = KINDS[kind]
    if denied := next(filter(None, (_undecodable(rules, manifest) for manifest in manifests)), None):
        return denied
    errors = () if request.operation == DELETE else tuple(islice(rules.errors(*manifests), MOST_ERRORS + 1))
    return _invalid(rules.resource, key_of(request.object).name, errors) if errors else Allowed()


def _undecodable(rules: Kind, manifest: Any) -> Denied | None:
    if problem := type_problem(manifest, rules.resource):
        return bad_request(problem)
    misfits = rules.misfits(manifest)
    return bad_request(_listed(misfits)) if misfits else None


def _invalid(resource: Resource, name: str, errors: Sequence[Problem]) -> Denied:
    causes = [{"reason": error.reason, "message": error.body, "field": error.path} for error in errors[:MOST_ERRORS]]
    return Denied(
        INVALID,
        f'{resource.kind}.{resource.group} "{name}" is invalid: {_listed(errors)}',
        "Invalid",
        {"group": resource.group, "kind": resource.kind, "name": name, "causes": causes},
    )


def _listed(errors: Sequence[Problem]) -> str:
    """The text of the first errors, and whether there are more."""
    return joined([*errors[:MOST_ERRORS], *(["and more"] if len(errors) > MOST_ERRORS else [])])


def webhooks() -> tuple[Webhook, ...]:
    """One webhook for each kind; they look nothing up."""
    return tuple(_webhook(kind.resource) for kind in KINDS.values())


def _webhook(resource: Resource) -> Webhook:
    return Webhook(NAME, path_of(resource), lambda request, _snapshot: review(resource.kind, request))


def path_of(resource: Resource) -> str:
    """Where the webhook for a resource is reached."""
    return f"/validate-{resource.group.replace('.', '-')}-{resource.version}-{resource.kind.lower()}"
