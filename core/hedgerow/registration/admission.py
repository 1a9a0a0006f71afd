"""The webhooks of a garden: defaults and validation of registrations, and of what uses the types that they register.

None of them has to run: schemas hold most of the rules, and controllers set the defaults when they read.

Source: controller-registration §2.1.2, §2.5, §2.6.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from hedgerow.admission.extension_validation.kinds import invalid_object
from hedgerow.admission.registration import RegisteredWebhook, WebhookServer, configurations, written
from hedgerow.admission.request import DELETE, UPDATE, AdmissionRequest
from hedgerow.admission.webhook import (
    Allowed,
    Deciding,
    Decision,
    Webhook,
    apply_rules,
    bad_request,
    forbidden,
    mutating,
    type_problem,
    unanswered,
)
from hedgerow.api.gardener import SHOOTS
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, keeping, object_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.registration.registrations import Registration, with_defaults
from hedgerow.registration.used_types import RegisteredTypes, extension_problems, unregistered
from hedgerow.registration.validation import other_primary, problems_of

DEFAULTS: Final = "controller-registration-defaults"
VALIDATION: Final = "controller-registration-validation"
USED_TYPES: Final = "registered-types"
_DOMAIN: Final = "core.gardener.cloud"
_VALIDATED: Final = (CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS, CONTROLLER_INSTALLATIONS)
_USERS: Final = (BACKUP_BUCKETS, BACKUP_ENTRIES, SEEDS, SHOOTS)
REVIEWED: Final = (*_VALIDATED, *_USERS)
"""Whatever some webhook is called for."""
_REGISTRATIONS: Final = Read(
    CONTROLLER_REGISTRATIONS, keeping("metadata.name", "spec.resources"), cluster=Cluster.SOURCE
)
_BUCKETS: Final = Read(
    BACKUP_BUCKETS, keeping("metadata.name", "spec.provider.type"), cluster=Cluster.SOURCE, may_be_absent=True
)


def webhooks() -> tuple[Webhook, ...]:
    """Those that a garden may have, the one that changes objects first."""
    return (
        Webhook(DEFAULTS, f"/webhooks/{DEFAULTS}", mutating(CONTROLLER_REGISTRATIONS, _with_defaults)),
        Webhook(
            VALIDATION,
            f"/webhooks/{VALIDATION}",
            _validated,
            reads=(_REGISTRATIONS,),
            permissions=(Permission.of(CONTROLLER_DEPLOYMENTS, "get", cluster=Cluster.SOURCE),),
        ),
        Webhook(USED_TYPES, f"/webhooks/{USED_TYPES}", _checked, reads=(_REGISTRATIONS, _BUCKETS)),
    )


def registered_webhooks(enabled: Iterable[Webhook]) -> tuple[RegisteredWebhook, ...]:
    """The registrations of enabled webhooks."""
    resources = {DEFAULTS: (CONTROLLER_REGISTRATIONS,), VALIDATION: _VALIDATED, USED_TYPES: _USERS}
    return tuple(
        RegisteredWebhook(
            webhook.path,
            f"{webhook.name}.{_DOMAIN}",
            written(_DOMAIN, "v1beta1", *(resource.plural for resource in resources[webhook.name])),
            is_mutating=webhook.name == DEFAULTS,
        )
        for webhook in enabled
    )


def webhook_configurations(enabled: Iterable[Webhook], server: WebhookServer) -> tuple[Manifest, ...]:
    """The objects that register enabled webhooks at a garden's API server."""
    return configurations("hedgerow-controller-manager", {}, registered_webhooks(enabled), server)


def _with_defaults(request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
    """Set the defaults that depend on other fields."""
    return apply_rules(request.object, (("defaults", with_defaults),))


async def _validated(request: AdmissionRequest, snapshot: Snapshot) -> Decision:
    """Let only valid objects be stored that contradict no other registration, and refer to what exists."""
    resource = next((each for each in _VALIDATED if each.kind == request.kind.kind), None)
    if resource is None or request.operation == DELETE:
        return Allowed()
    if problem := type_problem(request.object, resource):
        return bad_request(problem)
    try:
        problems = problems_of(resource.kind, request.object, request.old_object)
        if problems:
            return invalid_object(resource, key_of(request.object).name, problems)
        if resource != CONTROLLER_REGISTRATIONS or is_terminating(request.object):
            return Allowed()
        return await _fits(Registration.of(request.object), snapshot)
    except UnreadableError as error:
        return bad_request(str(error))


async def _fits(registration: Registration, snapshot: Snapshot) -> Decision:
    taken = other_primary(registration, _readable(snapshot))
    if taken is not None:
        return forbidden(
            f"another ControllerRegistration resource already exists that controls resource {taken} primarily"
        )
    for name in registration.deployment_refs:
        # A deployment that was made a moment ago is in no cache yet.
        answer = await ObjectQuestion(CONTROLLER_DEPLOYMENTS, ObjectKey("", name), Cluster.SOURCE)
        if isinstance(answer, NotAnswered):
            text = f'ControllerDeployment "{name}" does not exist'
            return forbidden(text) if answer.is_not_found else unanswered(answer)
    return Allowed()


def _checked(request: AdmissionRequest, snapshot: Snapshot) -> Decision | Deciding:
    """Let objects use registered types only, as far as they change what they use."""
    resource = next((each for each in _USERS if each.kind == request.kind.kind), None)
    if resource is None or request.operation == DELETE:
        return Allowed()
    if problem := type_problem(request.object, resource):
        return bad_request(problem)
    try:
        return _uses_registered_types(resource, request, snapshot)
    except UnreadableError as error:
        return bad_request(str(error))


def _uses_registered_types(resource: Resource, request: AdmissionRequest, snapshot: Snapshot) -> Decision:
    manifest = request.object
    if request.operation == UPDATE and object_at(manifest, "spec") == object_at(request.old_object, "spec"):
        return Allowed()
    problems = tuple(extension_problems(manifest)) if resource == SHOOTS else ()
    if problems:
        return invalid_object(resource, key_of(manifest).name, problems)
    bucket = None
    if resource == BACKUP_ENTRIES:
        name = text_at(manifest, "spec", "bucketName") or ""
        bucket = snapshot.get(BACKUP_BUCKETS, ObjectKey("", name), Cluster.SOURCE)
        if bucket is None:
            return forbidden(f'spec.bucketName: BackupBucket "{name}" does not exist')
    missing = unregistered(resource.kind, manifest, RegisteredTypes.of(_readable(snapshot)), bucket)
    return forbidden(", ".join(missing)) if missing else Allowed()


def _readable(snapshot: Snapshot) -> Iterator[Registration]:
    """The registrations; one that cannot be read registers nothing."""
    for manifest in snapshot.list(CONTROLLER_REGISTRATIONS, cluster=Cluster.SOURCE):
        try:
            yield Registration.of(manifest)
        except UnreadableError:
            continue
