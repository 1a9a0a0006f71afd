"""The ManagedResources that other controllers make: new ones, what becomes of existing ones, and whether to wait on.

Nothing is written here. Where the order of writes matters, it is said beside the function. How long to wait, and how
often to look, is not known here.

Source: managed-resources §17.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
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
from hedgerow.api.references import secret_names, secret_refs
from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, key_of, labels_of
from hedgerow.machinery.reading import with_value, without
from hedgerow.resource_manager.builder.secret import OPAQUE, secret_name

ORIGIN: Final = "origin"
"""Label that says who made a ManagedResource for a shoot."""
SEED_CLASS: Final = "seed"
_SHOOT_NAMESPACE: Final = "shoot-"

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_MARK: Final = ("metadata", "labels", GARBAGE_COLLECTABLE)
CONFIGURATION_PROBLEM: Final = "ERR_CONFIGURATION_PROBLEM"
"""Error code of what users have to correct."""
_INVALID_OBJECT: Final = re.compile("error during apply of object .* is invalid:", re.IGNORECASE)


def new_managed_resource(
    namespace: str, name: str, *, secret_names: Sequence[str], labels: Mapping[str, str] = _NONE, **spec: Any
) -> Manifest:
    """A ManagedResource of the objects in some Secrets.

    Args:
        namespace: of the Secrets too.
        name: its own.
        secret_names: the Secrets in their order.
        labels: its own; those of its objects are a part of the spec.
        spec: further fields, by the names that manifests know them by.
    """
    metadata = {"namespace": namespace, "name": name} | ({"labels": dict(labels)} if labels else {})
    return {
        "apiVersion": MANAGED_RESOURCES.api_version,
        "kind": MANAGED_RESOURCES.kind,
        "metadata": metadata,
        "spec": {"secretRefs": secret_refs(secret_names), **spec},
    }


def new_for_shoot(
    namespace: str, name: str, *, secret_names: Sequence[str], origin: str, keep_objects: bool
) -> Manifest:
    """A ManagedResource whose objects belong into a shoot, and are not cleaned up when that is deleted.

    It has no class: the resource manager of the shoot looks after it.

    Args:
        namespace: of the shoot's control plane.
        name: its own.
        secret_names: the Secrets in their order.
        origin: who makes it; `gardener` for the core.
        keep_objects: whether the objects outlive it.
    """
    return new_managed_resource(
        namespace,
        name,
        secret_names=secret_names,
        labels={ORIGIN: origin},
        injectLabels=dict([NO_CLEANUP]),
        keepObjects=keep_objects,
    )


def new_for_seed(namespace: str, name: str, *, secret_names: Sequence[str], keep_objects: bool) -> Manifest:
    """A ManagedResource whose objects belong into the seed itself.

    It counts as a component of the seed's system, unless it stands in the namespace of a shoot.

    Args:
        namespace: its own.
        name: its own.
        secret_names: the Secrets in their order.
        keep_objects: whether the objects outlive it.
    """
    labels = _NONE if namespace.startswith(_SHOOT_NAMESPACE) else dict([SEED_SYSTEM_COMPONENT])
    return new_managed_resource(
        namespace,
        name,
        secret_names=secret_names,
        labels=labels,
        **{"class": SEED_CLASS, "keepObjects": keep_objects},
    )


def desired_managed_resource(existing: Manifest | None, wanted: Manifest) -> Result[Manifest, str]:
    """The ManagedResource as it is to be stored, or why its references cannot be told.

    Labels and annotations that it has stay, wanted ones are added; the spec is the wanted one as a whole.

    Args:
        existing: as it is stored; none if it does not exist.
        wanted: as its producer made it.
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
    """The Secret as it is to be stored: labels, annotations, data and immutability are the wanted ones alone.

    Args:
        existing: as it is stored; none if it does not exist.
        wanted: with its content under `data`, as `new_secret` makes it.
    """
    desired: Manifest = {**(wanted if existing is None else existing), "type": OPAQUE}
    for path in (("metadata", "labels"), ("metadata", "annotations"), ("data",), ("immutable",)):
        desired = _taken_over(desired, wanted, path)
    return desired


def _taken_over(target: Manifest, source: Manifest, path: tuple[str, ...]) -> Manifest:
    """The target with what the source has at a path, nothing included."""
    value = _at(source, path)
    if value is not None:
        return with_value(target, path, value)
    return target if _at(target, path) is None else without(target, path)


def _at(manifest: Manifest, path: tuple[str, ...]) -> Any:
    value: Any = manifest
    for name in path:
        value = (value or {}).get(name)
    return value


@dataclass(frozen=True, slots=True)
class Marking:
    """The Secrets that garbage collection is to look after, by name, in the order of the references.

    The ManagedResource still refers to the former while they are marked, so that they cannot be collected too soon;
    and the latter are marked before it refers to them, so that none of them is forgotten.
    """

    former: tuple[str, ...]
    """Those that it refers to so far. They are marked first; one that does not exist is skipped."""
    new: tuple[str, ...]
    """Those that it is going to refer to besides. They are marked before it is written; they have to exist."""


def secrets_to_mark(existing: Manifest | None, wanted: Manifest) -> Marking:
    """The Secrets to be marked before a ManagedResource is written.

    Args:
        existing: as it is stored; none if it does not exist.
        wanted: as its producer made it.
    """
    former = () if existing is None else _distinct(secret_names(existing))
    return Marking(former, tuple(name for name in _distinct(secret_names(wanted)) if name not in former))


def marked_garbage_collectable(secret: Manifest) -> Manifest:
    """The Secret with the label by which garbage collection finds it; the very same one if it has it."""
    return secret if labels_of(secret).get(GARBAGE_COLLECTABLE) == "true" else with_value(secret, _MARK, "true")


def secrets_to_delete(existing: Manifest | None, name: str, *, with_prefix: bool) -> tuple[str, ...]:
    """The names of the Secrets to be deleted, before their ManagedResource is.

    Of one that does not exist any more only the name that is not unique is known.

    Args:
        existing: the ManagedResource as it is stored; none if it does not exist.
        name: of the ManagedResource.
        with_prefix: whether the names of its Secrets are prefixed.
    """
    referenced = () if existing is None else secret_names(existing)
    return _distinct((secret_name(name, with_prefix=with_prefix), *referenced))


def keep_objects_patch(*, keep: bool) -> Mapping[str, Any]:
    """The merge patch that makes the objects of a ManagedResource outlive it, or not."""
    return {"spec": {"keepObjects": keep}}


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def health_problem(managed_resource: Manifest) -> str | None:
    """Why to wait on for a ManagedResource to be applied and healthy; none when it is."""
    return f"managed resource {key_of(managed_resource)} is not healthy" if check(managed_resource) else None


def progress_problem(managed_resource: Manifest) -> str | None:
    """Why to wait on for a ManagedResource to be healthy and rolled out; none when it is."""
    if problem := health_problem(managed_resource):
        return problem
    if check_progressing(managed_resource):
        return f"managed resource {key_of(managed_resource)} is still progressing"
    return None


def still_exists(key: ObjectKey) -> str:
    """Why to wait on for a ManagedResource to be gone."""
    return f"resource {key} still exists"


def deletion_problem(managed_resource: Manifest, timeout: str) -> str:
    """What to tell when a ManagedResource is not gone in time: what holds it up, if that is known.

    Args:
        managed_resource: as it was seen last.
        timeout: the text of the error that the waiting ended with.
    """
    applied = find(conditions_of(managed_resource), RESOURCES_APPLIED)
    if (
        applied is None
        or applied.status == ConditionStatus.TRUE
        or applied.reason not in {DELETION_PENDING, DELETION_FAILED}
    ):
        return timeout
    return f"error while waiting for all resources to be deleted: {timeout}:\n{applied.message}"


def any_of_class(managed_resources: Iterable[Manifest], resource_class: str | None) -> bool:
    """Whether one of the ManagedResources is of exactly that class; none: of one that names no class."""
    return any((each.get("spec") or {}).get("class") == resource_class for each in managed_resources)


def error_codes(text: str) -> tuple[str, ...]:
    """The codes of an error: an object that the API server takes for invalid is for users to correct."""
    return (CONFIGURATION_PROBLEM,) if _INVALID_OBJECT.search(text) else ()
