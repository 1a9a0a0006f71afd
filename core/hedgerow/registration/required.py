"""Tells which installations the extension objects of a seed still need, so that the objects can be deleted in order.

Source: controller-registration §10.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS, EXTENSION_KINDS, REQUIRED
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, ConditionStatus, get_or_init, updated
from hedgerow.machinery.controller import Context, Controller, Watch, creation_deletion_or
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan, failed
from hedgerow.machinery.reading import UnreadableError, keeping
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.registration.conditions import CheckConfig, is_creation, write_conditions, writes_conditions_of
from hedgerow.registration.garden import (
    INSTALLATIONS_BY_REGISTRATION,
    REGISTRATIONS_BY_KIND,
    garden_watch,
    readable_text,
)
from hedgerow.registration.installations import Installation, is_for, own_keys
from hedgerow.registration.registrations import Registration, ServedType

LOOK_AGAIN: Final = 10.0
"""Seconds until kinds are looked for again that have not been listed yet: an empty list brings no event."""
_BY_TYPE: Final[Mapping[str, Index[str]]] = {
    kind: Index(f"{kind} by type", resource, lambda each: filter(None, [readable_text(each, "spec", "type")]))
    for kind, resource in EXTENSION_KINDS.items()
}


def required_controller(config: CheckConfig, concurrency: int = 1) -> Controller[CheckConfig]:
    """The controller for a configuration."""
    own = own_keys(config.seed)

    def of_registration(registration: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        found = snapshot.by_index(INSTALLATIONS_BY_REGISTRATION, key_of(registration))
        return [key for installation in found for key in own(installation, snapshot)]

    def of_kind(kind: str, _object: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        registrations = snapshot.by_index(REGISTRATIONS_BY_KIND, kind)
        return [key for registration in registrations for key in of_registration(registration, snapshot)]

    kept = keeping("metadata.namespace", "metadata.name", "metadata.uid", "spec.type")
    generation_changed = creation_deletion_or(lambda old, new: _generation(old) != _generation(new))
    type_changed = creation_deletion_or(lambda old, new: old.get("spec") != new.get("spec"))
    return Controller(
        name="controllerinstallation-required",
        primary=CONTROLLER_INSTALLATIONS,
        primary_cluster=Cluster.SOURCE,
        watches=(
            garden_watch(CONTROLLER_INSTALLATIONS, own, is_creation),
            garden_watch(CONTROLLER_REGISTRATIONS, of_registration, generation_changed),
            *(
                Watch(resource, kept, partial(of_kind, kind), type_changed, may_be_absent=True, required_for_sync=False)
                for kind, resource in EXTENSION_KINDS.items()
            ),
        ),
        indexes=(INSTALLATIONS_BY_REGISTRATION, REGISTRATIONS_BY_KIND, *_BY_TYPE.values()),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        yields_to=("controllerinstallation",),
        permissions=writes_conditions_of(CONTROLLER_INSTALLATIONS),
    )


def _generation(registration: Manifest) -> Any:
    return registration["metadata"].get("generation")


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[CheckConfig]) -> Plan:
    """Write into the status of one installation whether objects that it serves exist."""
    manifest = snapshot.get(CONTROLLER_INSTALLATIONS, key, Cluster.SOURCE)
    if manifest is None or not is_for(context.config.seed, manifest):
        return Plan()
    read: tuple[Resource, ObjectKey] = CONTROLLER_INSTALLATIONS, key
    try:
        read = CONTROLLER_REGISTRATIONS, ObjectKey("", Installation.of(manifest).registration)
        registration = snapshot.get(*read, Cluster.SOURCE)
        if registration is None:
            missing = f'ControllerRegistration "{read[1]}" not found'
            return failed(retryable_failure(CONTROLLER_INSTALLATIONS, key, missing))
        served = Registration.of(registration).served
    except UnreadableError as error:
        return failed(Failure(*read, error.problem))

    def exists(type_: ServedType) -> bool | None:
        index = _BY_TYPE.get(type_.kind)
        if index is None:
            return False
        return bool(snapshot.by_index(index, type_.type)) if snapshot.has_synced(index.resource) else None

    content = required(served, exists)
    if content is None:
        return Plan(requeue_after=LOOK_AGAIN)

    def checked(existing: Iterable[Condition]) -> list[Condition]:
        return [updated(get_or_init(existing, REQUIRED, context.now), *content, now=context.now)]

    problem = await write_conditions(CONTROLLER_INSTALLATIONS, manifest, checked, "required")
    return Plan() if problem is None else failed(retryable_failure(CONTROLLER_INSTALLATIONS, key, problem))


def required(
    served: Iterable[ServedType], exists: Callable[[ServedType], bool | None]
) -> tuple[ConditionStatus, str, str] | None:
    """Status, reason and message of the condition; none: that is not known yet.

    `exists` says whether the seed has an object of a kind and type, or none if objects of the kind are not listed yet.
    """
    found = {each.id: exists(each) for each in served}
    if existing := sorted(id_ for id_, does in found.items() if does):
        message = f"extension objects still exist in the seed: [{' '.join(existing)}]"
        return ConditionStatus.TRUE, "ExtensionObjectsExist", message
    if None in found.values():
        return None
    message = (
        "no extension objects exist in the seed having the kind/type combinations the controller is responsible for"
    )
    return ConditionStatus.FALSE, "NoExtensionObjects", message
