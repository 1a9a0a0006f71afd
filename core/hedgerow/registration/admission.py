"""The webhooks of a garden: defaults and validation of registrations, and of what uses the types that they register.

None of them has to run: schemas hold most of the rules, and controllers set the defaults when they read.

Source: controller-registration §2.1.2, §2.5, §2.6, §3.3.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from hedgerow.admission.extension_validation.kinds import invalid_object
from hedgerow.admission.registration import RegisteredWebhook, WebhookServer, configurations, written
from hedgerow.admission.request import UPDATE, AdmissionRequest
from hedgerow.admission.webhook import (
    Allowed,
    Deciding,
    Decision,
    Reviewing,
    Webhook,
    apply_rules,
    forbidden,
    mutating,
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
from hedgerow.machinery.failures import Problem, duplicate, invalid, required
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, keeping, object_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.registration.registrations import EXTENSION, Registration, with_defaults
from hedgerow.registration.validation import other_primary, problems_of
from hedgerow.registration.wanted import (
    BACKUP_BUCKET,
    BACKUP_ENTRY,
    CONTROL_PLANE,
    DNS_RECORD,
    Use,
    has_workers,
    listed_extensions,
    uses_at,
    uses_of_shoot,
)

DEFAULTS: Final = "controller-registration-defaults"
VALIDATION: Final = "controller-registration-validation"
USED_TYPES: Final = "registered-types"
_DOMAIN: Final = "core.gardener.cloud"
_SERVICE: Final = "hedgerow-controller-manager"
_REVIEWED: Final = {
    DEFAULTS: (CONTROLLER_REGISTRATIONS,),
    VALIDATION: (CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS, CONTROLLER_INSTALLATIONS),
    USED_TYPES: (BACKUP_BUCKETS, BACKUP_ENTRIES, SEEDS, SHOOTS),
}
REVIEWED: Final = (*_REVIEWED[VALIDATION], *_REVIEWED[USED_TYPES])
"""Whatever some webhook is called for."""
_REGISTRATIONS: Final = Read(
    CONTROLLER_REGISTRATIONS, keeping("metadata.name", "spec.resources"), cluster=Cluster.SOURCE
)
_BUCKETS: Final = Read(
    BACKUP_BUCKETS, keeping("metadata.name", "spec.provider.type"), cluster=Cluster.SOURCE, may_be_absent=True
)

_Review: TypeAlias = Callable[[Resource, AdmissionRequest, Snapshot], Decision | Deciding]


def webhooks() -> tuple[Webhook, ...]:
    """Those that a garden may have, the one that changes objects first."""
    deployments = Permission.of(CONTROLLER_DEPLOYMENTS, "get", cluster=Cluster.SOURCE)
    declared: tuple[tuple[str, _Review, tuple[Read, ...], tuple[Permission, ...]], ...] = (
        (DEFAULTS, _defaulted, (), ()),
        (VALIDATION, _validated, (_REGISTRATIONS,), (deployments,)),
        (USED_TYPES, _uses_registered_types, (_REGISTRATIONS, _BUCKETS), ()),
    )
    return tuple(
        Webhook(name, f"/webhooks/{name}", _reviewing(name, review), reads, permissions=permissions)
        for name, review, reads, permissions in declared
    )


def _reviewing(webhook: str, review: _Review) -> Reviewing:
    reviews = {resource.kind: mutating(resource, partial(review, resource)) for resource in _REVIEWED[webhook]}

    def reviewed(request: AdmissionRequest, snapshot: Snapshot) -> Decision | Deciding:
        found = reviews.get(request.kind.kind)
        return found(request, snapshot) if found else Allowed()

    return reviewed


def registered_webhooks(enabled: Iterable[Webhook]) -> tuple[RegisteredWebhook, ...]:
    """The registrations of enabled webhooks."""
    return tuple(
        RegisteredWebhook(
            webhook.path,
            f"{webhook.name}.{_DOMAIN}",
            written(_DOMAIN, "v1beta1", *(resource.plural for resource in _REVIEWED[webhook.name])),
            is_mutating=webhook.name == DEFAULTS,
        )
        for webhook in enabled
    )


def webhook_configurations(enabled: Iterable[Webhook], server: WebhookServer) -> tuple[Manifest, ...]:
    """The objects that register enabled webhooks at a garden's API server; by default its Service has their name."""
    server = replace(server, service=server.service or _SERVICE)
    return configurations(_SERVICE, {}, registered_webhooks(enabled), server)


def _defaulted(_resource: Resource, request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
    return apply_rules(request.object, (("defaults", with_defaults),))


async def _validated(resource: Resource, request: AdmissionRequest, snapshot: Snapshot) -> Decision:
    """Let only valid objects be stored that contradict no other registration, and refer to what exists."""
    if problems := problems_of(resource.kind, request.object, request.old_object):
        return invalid_object(resource, key_of(request.object).name, problems)
    if resource != CONTROLLER_REGISTRATIONS or is_terminating(request.object):
        return Allowed()
    registration = Registration.of(request.object)
    if taken := other_primary(registration, _readable(snapshot)):
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


def _uses_registered_types(resource: Resource, request: AdmissionRequest, snapshot: Snapshot) -> Decision:
    """Let objects use registered types only, as far as they change what they use."""
    manifest = request.object
    if request.operation == UPDATE and object_at(manifest, "spec") == object_at(request.old_object, "spec"):
        return Allowed()
    if resource == SHOOTS and (problems := tuple(_extension_problems(manifest))):
        return invalid_object(resource, key_of(manifest).name, problems)
    if resource == BACKUP_ENTRIES:
        name = text_at(manifest, "spec", "bucketName") or ""
        bucket = snapshot.get(BACKUP_BUCKETS, ObjectKey("", name), Cluster.SOURCE)
        if bucket is None:
            return forbidden(f'spec.bucketName: BackupBucket "{name}" does not exist')
        of_bucket = uses_at(bucket, {"spec.provider.type": (BACKUP_ENTRY,)})
        uses = [use._replace(field="spec.bucketName") for use in of_bucket]
    else:
        uses = [*_uses(resource, manifest)]
    served = [each for registration in _readable(snapshot) for each in registration.served]
    primary = {each.id for each in served if each.primary}
    missing = [f"uses non-registered {use.kind} type: {_place(use)}" for use in uses if use.id not in primary]
    if resource == SHOOTS and not has_workers(manifest):
        supported = {each.id for each in served if each.workerless_supported}
        unsupported = (use for use in _uses_of_extensions(manifest) if use.id not in supported)
        missing += [f"is workerless and uses non-supported extension type: {_place(use)}" for use in unsupported]
    return forbidden(", ".join(f"given {resource.kind} {each}" for each in missing)) if missing else Allowed()


def _place(use: Use) -> str:
    return f'{use.field} ("{use.type}")'


def _uses(resource: Resource, manifest: Manifest) -> Iterator[Use]:
    if resource == SHOOTS:
        yield from uses_of_shoot(manifest)
        yield from _uses_of_extensions(manifest)
    elif resource == BACKUP_BUCKETS:
        yield from uses_at(manifest, {"spec.provider.type": (BACKUP_BUCKET,)})
    else:
        fields = {"spec.provider.type": (CONTROL_PLANE,), "spec.backup.provider": (BACKUP_BUCKET, BACKUP_ENTRY)}
        yield from uses_at(manifest, fields)
        if object_at(manifest, "spec").get("ingress") is not None:
            yield from uses_at(manifest, {"spec.dns.provider.type": (DNS_RECORD,)})


def _uses_of_extensions(shoot: Manifest) -> Iterator[Use]:
    for index, listed in enumerate(listed_extensions(shoot)):
        yield Use(EXTENSION, listed.type, f"spec.extensions[{index}].type")


def _extension_problems(shoot: Manifest) -> Iterator[Problem]:
    seen = set()
    for index, listed in enumerate(listed_extensions(shoot)):
        path = f"spec.extensions[{index}]"
        if not listed.type:
            yield required(f"{path}.type", "field must not be empty")
        elif listed.type in seen:
            yield duplicate(f"{path}.type", listed.type)
        seen.add(listed.type)
        if listed.enabled is not None and listed.enabled is listed.disabled:
            yield invalid(f"{path}.enabled", listed.enabled, "must not contradict disabled")


def _readable(snapshot: Snapshot) -> Iterator[Registration]:
    """The registrations; one that cannot be read registers nothing."""
    for manifest in snapshot.list(CONTROLLER_REGISTRATIONS, cluster=Cluster.SOURCE):
        try:
            yield Registration.of(manifest)
        except UnreadableError:
            continue
