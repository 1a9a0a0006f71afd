"""Tells which installations the extension objects of a seed still need, so that the objects can be deleted in order.

Source: controller-registration §10.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.registrations import (
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    EXTENSION_KINDS,
    REQUIRED,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.conditions import Condition, ConditionStatus, get_or_init, updated
from hedgerow.machinery.controller import Change, Context, Controller, Watch, creation_deletion_or
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan, failed
from hedgerow.machinery.reading import UnreadableError, keeping
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.registration.conditions import write_conditions
from hedgerow.registration.indexes import (
    INSTALLATIONS_BY_REGISTRATION,
    REGISTRATIONS_BY_KIND,
    readable_text,
)
from hedgerow.registration.installations import Installation, is_for, transform_installation
from hedgerow.registration.registrations import Registration, ServedType, transform_registration

NAME: Final = "controllerinstallation-required"
DEFAULT_CONCURRENCY: Final = 1
LOOK_AGAIN: Final = 10.0
"""Seconds until kinds are looked for again that have not been listed yet: an empty list brings no event."""
_NONE_LEFT: Final = (
    "no extension objects exist in the seed having the kind/type combinations the controller is responsible for"
)


@dataclass(frozen=True, slots=True)
class RequiredConfig:
    """Which installations are judged."""

    seed: str = ""
    """Those of this Seed; empty: all."""


def _by_type(resource: Resource) -> Index[str]:
    return Index(
        f"{resource.plural} by type", resource, lambda each: filter(None, [readable_text(each, "spec", "type")])
    )


BY_TYPE: Final = {kind: _by_type(resource) for kind, resource in EXTENSION_KINDS.items()}
_transform: Final = keeping("metadata.namespace", "metadata.name", "metadata.uid", "spec.type")


def required_controller(
    config: RequiredConfig = RequiredConfig(), concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[RequiredConfig]:
    """The controller for a configuration."""

    def own(installation: Manifest) -> list[ObjectKey]:
        return [key_of(installation)] if is_for(config.seed, installation) else []

    def of_registration(registration: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        found = snapshot.by_index(INSTALLATIONS_BY_REGISTRATION, key_of(registration))
        return [key for installation in found for key in own(installation)]

    def of_kind(kind: str) -> Callable[[Manifest, Snapshot], list[ObjectKey]]:
        return lambda _object, snapshot: [
            key
            for registration in snapshot.by_index(REGISTRATIONS_BY_KIND, kind)
            for key in of_registration(registration, snapshot)
        ]

    generation_changed = creation_deletion_or(lambda old, new: _generation(old) != _generation(new))
    type_changed = creation_deletion_or(lambda old, new: old.get("spec") != new.get("spec"))
    return Controller(
        name=NAME,
        primary=CONTROLLER_INSTALLATIONS,
        primary_cluster=Cluster.SOURCE,
        watches=(
            Watch(
                CONTROLLER_INSTALLATIONS,
                transform_installation,
                lambda installation, _snapshot: own(installation),
                _is_creation,
                cluster=Cluster.SOURCE,
            ),
            Watch(
                CONTROLLER_REGISTRATIONS,
                transform_registration,
                of_registration,
                generation_changed,
                cluster=Cluster.SOURCE,
            ),
            *(
                Watch(resource, _transform, of_kind(kind), type_changed, may_be_absent=True, required_for_sync=False)
                for kind, resource in EXTENSION_KINDS.items()
            ),
        ),
        indexes=(INSTALLATIONS_BY_REGISTRATION, REGISTRATIONS_BY_KIND, *BY_TYPE.values()),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(
            Permission.of(CONTROLLER_INSTALLATIONS, "get", cluster=Cluster.SOURCE),
            Permission.of(CONTROLLER_INSTALLATIONS, "patch", cluster=Cluster.SOURCE, subresource="status"),
        ),
    )


def _is_creation(change: Change) -> bool:
    return change.old is None


def _generation(registration: Manifest) -> Any:
    return registration["metadata"].get("generation")


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[RequiredConfig]) -> Plan:
    """Write into the status of one installation whether objects that it serves exist."""
    installation = snapshot.get(CONTROLLER_INSTALLATIONS, key, Cluster.SOURCE)
    if installation is None or not is_for(context.config.seed, installation):
        return Plan()
    try:
        named = ObjectKey("", Installation.of(installation).registration)
    except UnreadableError as error:
        return failed(Failure(CONTROLLER_INSTALLATIONS, key, error.problem))
    registration = snapshot.get(CONTROLLER_REGISTRATIONS, named, Cluster.SOURCE)
    if registration is None:
        return failed(retryable_failure(CONTROLLER_INSTALLATIONS, key, f'ControllerRegistration "{named}" not found'))
    try:
        served = Registration.of(registration).served
    except UnreadableError as error:
        return failed(Failure(CONTROLLER_REGISTRATIONS, named, error.problem))

    def exists(type_: ServedType) -> bool | None:
        index = BY_TYPE.get(type_.kind)
        if index is None:
            return False
        return bool(snapshot.by_index(index, type_.type)) if snapshot.has_synced(index.resource) else None

    content = required(served, exists)
    if content is None:
        return Plan(requeue_after=LOOK_AGAIN)

    def checked(existing: Iterable[Condition]) -> list[Condition]:
        return [updated(get_or_init(existing, REQUIRED, context.now), *content, now=context.now)]

    problem = await write_conditions(CONTROLLER_INSTALLATIONS, installation, checked, "required")
    return Plan() if problem is None else failed(retryable_failure(CONTROLLER_INSTALLATIONS, key, problem))


def required(
    served: Iterable[ServedType], exists: Callable[[ServedType], bool | None]
) -> tuple[ConditionStatus, str, str] | None:
    """Status, reason and message of the condition; none: that is not known yet.

    Args:
        served: by the controller, primarily or not.
        exists: whether an object of a kind and type exists in the seed; none: objects of the kind are not listed yet.
    """
    found = {each.id: exists(each) for each in served}
    if existing := sorted(id_ for id_, does in found.items() if does):
        message = f"extension objects still exist in the seed: [{' '.join(existing)}]"
        return ConditionStatus.TRUE, "ExtensionObjectsExist", message
    if None in found.values():
        return None
    return ConditionStatus.FALSE, "NoExtensionObjects", _NONE_LEFT
