"""ManagedResources for other controllers: new ones, changes of existing ones, and what to wait for.

Source: managed-resources §17.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Result

from hedgerow.api.gardener import NO_CLEANUP, SEED_SYSTEM_COMPONENT
from hedgerow.api.managed_resource_status import check, check_progressing
from hedgerow.api.managed_resources import (
    DELETION_FAILED,
    DELETION_PENDING,
    GARBAGE_COLLECTABLE,
    MANAGED_RESOURCES,
    RESOURCES_APPLIED,
)
from hedgerow.api.reference_annotations import inject_annotations
from hedgerow.api.references import secret_names
from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, key_of, labels_of
from hedgerow.machinery.reading import with_value, without
from hedgerow.resource_manager.builder.secret import OPAQUE, secret_name

CONFIGURATION_PROBLEM: Final = "ERR_CONFIGURATION_PROBLEM"
"""The code of an error that users have to correct, not operators."""
_INVALID_OBJECT: Final = re.compile("error during apply of object .* is invalid:", re.IGNORECASE)


def new_managed_resource(
    namespace: str, name: str, *, secret_names: Sequence[str], labels: Mapping[str, str] | None = None, **spec: Any
) -> Manifest:
    """A ManagedResource, with labels of its own, of the objects in some Secrets; `spec` are further fields."""
    return {
        "apiVersion": MANAGED_RESOURCES.api_version,
        "kind": MANAGED_RESOURCES.kind,
        "metadata": {"namespace": namespace, "name": name, **({"labels": dict(labels)} if labels else {})},
        "spec": {"secretRefs": [{"name": secret} for secret in secret_names], **spec},
    }


def new_for_shoot(
    namespace: str, name: str, *, secret_names: Sequence[str], origin: str, keep_objects: bool
) -> Manifest:
    """A ManagedResource, without class, whose objects belong into a shoot and are not cleaned up when that is deleted.

    `origin` says who makes it; it is `gardener` for the core.
    """
    spec = {"injectLabels": dict([NO_CLEANUP]), "keepObjects": keep_objects}
    return new_managed_resource(namespace, name, secret_names=secret_names, labels={"origin": origin}, **spec)


def new_for_seed(namespace: str, name: str, *, secret_names: Sequence[str], keep_objects: bool) -> Manifest:
    """A ManagedResource whose objects belong into the seed itself.

    It is a system component of the seed, unless it is in the namespace of a shoot.
    """
    labels = None if namespace.startswith("shoot-") else dict([SEED_SYSTEM_COMPONENT])
    spec = {"class": "seed", "keepObjects": keep_objects}
    return new_managed_resource(namespace, name, secret_names=secret_names, labels=labels, **spec)


def desired_managed_resource(existing: Manifest | None, wanted: Manifest) -> Result[Manifest, str]:
    """The ManagedResource to store, with the annotations for its references; an error if these cannot be computed.

    Existing labels and annotations stay, wanted ones are added; the spec is the wanted one.
    """
    desired = wanted if existing is None else {**existing, "spec": wanted.get("spec")}
    for field, present, added in (
        ("labels", labels_of(desired), labels_of(wanted)),
        ("annotations", annotations_of(desired), annotations_of(wanted)),
    ):
        if added:
            desired = with_value(desired, ("metadata", field), {**present, **added})
    return inject_annotations(desired)


def desired_secret(existing: Manifest | None, wanted: Manifest) -> Manifest:
    """The Secret to store: labels, annotations, data and immutability are those of a wanted one of `new_secret`."""
    desired: Manifest = {**(wanted if existing is None else existing), "type": OPAQUE}
    for path in (("metadata", "labels"), ("metadata", "annotations"), ("data",), ("immutable",)):
        value = _at(wanted, path)
        if value is not None:
            desired = with_value(desired, path, value)
        elif _at(desired, path) is not None:
            desired = without(desired, path)
    return desired


def _at(manifest: Manifest, path: tuple[str, ...]) -> Any:
    value: Any = manifest
    for name in path:
        value = (value or {}).get(name)
    return value


@dataclass(frozen=True, slots=True)
class Marking:
    """Names of the Secrets to mark for garbage collection before a ManagedResource is written, in order.

    Old Secrets are marked while it still refers to them, so that they are not collected too soon, and new ones before
    it refers to them, so that none is forgotten.
    """

    former: tuple[str, ...]
    """Those that the stored ManagedResource refers to; one that does not exist is skipped."""
    new: tuple[str, ...]
    """Those that only the wanted one refers to; they have to exist."""


def secrets_to_mark(existing: Manifest | None, wanted: Manifest) -> Marking:
    """The Secrets to mark before a ManagedResource is written in place of the stored one."""
    former = () if existing is None else _distinct(secret_names(existing))
    return Marking(former, tuple(name for name in _distinct(secret_names(wanted)) if name not in former))


def marked_garbage_collectable(secret: Manifest) -> Manifest:
    """The Secret with the label for garbage collection; the same object if it has it."""
    is_marked = labels_of(secret).get(GARBAGE_COLLECTABLE) == "true"
    return secret if is_marked else with_value(secret, ("metadata", "labels", GARBAGE_COLLECTABLE), "true")


def secrets_to_delete(existing: Manifest | None, name: str, *, with_prefix: bool) -> tuple[str, ...]:
    """The names of the Secrets to delete before their ManagedResource.

    Of a ManagedResource that does not exist any more only the name that is not unique is known.
    """
    referenced = () if existing is None else secret_names(existing)
    return _distinct((secret_name(name, with_prefix=with_prefix), *referenced))


def keep_objects_patch(*, keep: bool) -> Mapping[str, Any]:
    """The merge patch that decides whether the objects of a ManagedResource outlive it."""
    return {"spec": {"keepObjects": keep}}


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def health_problem(managed_resource: Manifest) -> str | None:
    """Why a ManagedResource is not applied and healthy; none if it is."""
    return f"managed resource {key_of(managed_resource)} is not healthy" if check(managed_resource) else None


def progress_problem(managed_resource: Manifest) -> str | None:
    """Why a ManagedResource is not healthy and rolled out; none if it is."""
    if problem := health_problem(managed_resource):
        return problem
    is_progressing = check_progressing(managed_resource)
    return f"managed resource {key_of(managed_resource)} is still progressing" if is_progressing else None


def still_exists(key: ObjectKey) -> str:
    """The problem of a ManagedResource that is not gone yet."""
    return f"resource {key} still exists"


def deletion_problem(managed_resource: Manifest, timeout: str) -> str:
    """The error of a ManagedResource that was not gone before a timeout, with what holds it up, if that is known."""
    applied = find(conditions_of(managed_resource), RESOURCES_APPLIED)
    if (
        applied is None
        or applied.status == ConditionStatus.TRUE
        or applied.reason not in {DELETION_PENDING, DELETION_FAILED}
    ):
        return timeout
    return f"error while waiting for all resources to be deleted: {timeout}:\n{applied.message}"


def any_of_class(managed_resources: Iterable[Manifest], resource_class: str | None) -> bool:
    """True if one of the ManagedResources is of exactly that class; none: without class."""
    return any((each.get("spec") or {}).get("class") == resource_class for each in managed_resources)


def error_codes(text: str) -> tuple[str, ...]:
    """The codes of an error: users have to correct an object that the API server finds invalid."""
    return (CONFIGURATION_PROBLEM,) if _INVALID_OBJECT.search(text) else ()
