"""What becomes of ManagedResources and Secrets that exist when their producer wants them in a certain way.

Nothing is written here. Where the order of writes matters, it is said beside the function.

Source: managed-resources §17.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Result

from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE
from hedgerow.api.reference_annotations import inject_annotations
from hedgerow.api.references import secret_names
from hedgerow.machinery.objects import Manifest, annotations_of, labels_of
from hedgerow.machinery.reading import with_value, without
from hedgerow.resource_manager.managed_resources.builder.secret import OPAQUE, secret_name

_MARK: Final = ("metadata", "labels", GARBAGE_COLLECTABLE)


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
