"""The Extension objects of a Shoot: which ones there are, in which order they are worked on, and when one is ready.

Source: controller-registration §12.1 to §12.3, §12.5.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from hedgerow.api.gardener import DELETION_TIMESTAMP, EXTENSIONS
from hedgerow.api.managed_resources import OPERATION
from hedgerow.api.registrations import AFTER, BEFORE
from hedgerow.extensions.operations import SUCCEEDED
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.reading import integer_at, list_at, object_at, objects_at, text_at, with_value
from hedgerow.machinery.scalars import format_nanoseconds, format_timestamp, parse_timestamp
from hedgerow.registration.registrations import EXTENSION, LIFECYCLE, Registration
from hedgerow.registration.wanted import ListedExtension, globally_enabled

TIMESTAMP: Final = DELETION_TIMESTAMP
"""Annotation of an Extension: when something was last asked of it."""
LABEL_PREFIX: Final = "extensions.gardener.cloud/"
"""Of the labels of a Shoot's namespace by which webhooks of extensions select it."""
DEFAULT_TIMEOUT: Final = timedelta(minutes=3)
PATIENCE_WITH_ERRORS: Final = timedelta(seconds=30)
"""An error that the extension controller still tells after this time ends the wait."""

Operation: TypeAlias = Literal["reconcile", "delete", "migrate"]


class ExtensionSpec(NamedTuple):
    """An Extension that a Shoot has."""

    name: str
    namespace: str
    type: str
    provider_config: Any
    """None: it has none."""
    timeout: timedelta
    """For how long it may take until it is ready."""
    lifecycle: Mapping[str, str]


def extensions_for_shoot(
    registrations: Iterable[Registration],
    listed: Iterable[ListedExtension],
    namespace: str,
    *,
    workerless: bool,
) -> dict[str, ExtensionSpec]:
    """The Extensions of a Shoot, by type.

    Args:
        registrations: all of the garden.
        listed: by the Shoot. Unregistered types are left out.
        namespace: of the Shoot in the seed.
        workerless: whether the Shoot has no workers.
    """
    known = tuple(sorted(registrations, key=lambda each: each.name))
    registered = registered_extensions(known, namespace)
    enabled = {each.type for each in globally_enabled(known) if each.workerless_supported or not workerless}
    wanted = {type_: None for type_ in registered if type_ in enabled}
    for entry in listed:
        if entry.is_disabled:
            wanted.pop(entry.type, None)
        elif entry.type in registered:
            wanted[entry.type] = entry.provider_config
    return {type_: registered[type_]._replace(provider_config=config) for type_, config in wanted.items()}


def registered_extensions(registrations: Iterable[Registration], namespace: str) -> dict[str, ExtensionSpec]:
    """An Extension of each type that is registered. Of several registrations of a type the primary one counts."""
    found = [each for one in registrations for each in one.served if each.kind == EXTENSION]
    return {
        each.type: ExtensionSpec(
            each.type,
            namespace,
            each.type,
            None,
            each.reconcile_timeout or DEFAULT_TIMEOUT,
            each.lifecycle or LIFECYCLE,
        )
        for each in sorted(found, key=lambda each: each.primary)
    }


def namespace_labels(registrations: Iterable[Registration], listed: Iterable[ListedExtension]) -> dict[str, str]:
    """The labels of a Shoot's namespace that say which types it has; others with their prefix have to go."""
    enabled = {each.type: True for each in globally_enabled(registrations)}
    enabled |= {entry.type: not entry.is_disabled for entry in listed}
    return {f"{LABEL_PREFIX}{type_}": "true" for type_, is_enabled in enabled.items() if is_enabled}


def is_before(lifecycle: Mapping[str, str], operation: Operation) -> bool:
    """True if an Extension is worked on before the kube-apiserver is deployed or, with `delete`, deleted (§12.2)."""
    when = lifecycle.get(operation)
    return when == BEFORE if LIFECYCLE[operation] == AFTER else when != AFTER


def requested_extension(
    extension: ExtensionSpec, stored: Manifest | None, operation: str, now: datetime, annotations: Mapping[str, str]
) -> dict[str, Any]:
    """The Extension with what is asked of it, and all that it has already where it is stored.

    Args:
        extension: as it is wanted.
        stored: as it is; none: it does not exist.
        operation: `reconcile` or `restore`.
        now: when that is asked.
        annotations: others that it gets.
    """
    metadata = {"name": extension.name, "namespace": extension.namespace}
    plain = {"apiVersion": EXTENSIONS.api_version, "kind": EXTENSIONS.kind, "metadata": metadata}
    own = {OPERATION: operation, TIMESTAMP: format_nanoseconds(now), **annotations}
    patch = {"metadata": {"annotations": own}, "spec": {"type": extension.type, "providerConfig": None}}
    desired = apply_merge_patch(stored or plain, patch)
    config = _without_nulls(extension.provider_config)
    return desired if config is None else with_value(desired, ("spec", "providerConfig"), config)


def _without_nulls(value: Any) -> Any:
    """The value without null members: a merge patch cannot store them, so that they would be asked for for ever."""
    if isinstance(value, (dict, Mapping)):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list | tuple) else value


class NotReady(NamedTuple):
    """Why an Extension is not ready."""

    reason: str
    from_controller: bool = False
    """True if the extension controller tells it, so that waiting on may be in vain."""
    codes: tuple[str, ...] = ()
    """Of errors, as the extension controller tells them."""


def extension_unready(extension: Manifest, expected_timestamp: str | None = None) -> NotReady | None:
    """Why an Extension is not ready; none: it is. UnreadableError if it cannot be read (§12.3).

    Args:
        extension: as it is stored.
        expected_timestamp: when something was asked of it; none: as it says itself.
    """
    return next(_problems(extension, expected_timestamp), None)


def _problems(extension: Manifest, expected: str | None) -> Iterator[NotReady]:
    """In the order in which they count."""
    timestamp, operation = (annotations_of(extension).get(name) for name in (TIMESTAMP, OPERATION))
    if expected is not None and timestamp is None:
        yield NotReady(f'object does not have "{TIMESTAMP}" annotation')
    if expected not in {None, timestamp}:
        yield NotReady(f'object\'s "{TIMESTAMP}" annotation is not "{expected}" but "{timestamp}"')
    if error := object_at(extension, "status", "lastError"):
        reason = f"error during reconciliation: {text_at(error, 'description') or ''}"
        yield NotReady(reason, from_controller=True, codes=tuple(list_at(error, "codes")))
    generation = integer_at(extension, "metadata", "generation") or 0
    observed = integer_at(extension, "status", "observedGeneration") or 0
    if observed != generation:
        yield NotReady(f"observed generation outdated ({observed}/{generation})")
    if operation is not None:
        yield NotReady(f'gardener operation "{operation}" is not yet picked up by controller')
    last = object_at(extension, "status", "lastOperation")
    if not last:
        yield NotReady("extension did not record a last operation yet")
    state = text_at(last, "state") or ""
    if state != SUCCEEDED:
        yield NotReady(f"extension state is not succeeded but {state}")
    if timestamp is not None:
        yield from _request_since(timestamp, text_at(last, "lastUpdateTime"))


def _request_since(timestamp: str, last_update: str | None) -> Iterator[NotReady]:
    """The annotation is precise to the nanosecond, the status to the second."""
    requested, updated = parse_timestamp(timestamp), parse_timestamp(last_update)
    if requested is None:
        yield NotReady(f'cannot parse {TIMESTAMP} annotation: "{timestamp}" is no time')
    elif updated is None or updated < requested.replace(microsecond=0):
        yield NotReady(
            f"extension is not reconciled yet - reconciliation requested at {format_timestamp(requested)}, "
            f"last update time is: {last_update}"
        )


Role: TypeAlias = Literal["primary", "secondary"]


def check_status_write(
    role: Role, old_status: Manifest, new_status: Manifest, own_conditions: Collection[str] | None = None
) -> list[str]:
    """The fields of a status that an extension controller must not have changed, in order (§12.5).

    Args:
        role: of the controller for the type of the object.
        old_status: as it was.
        new_status: as the controller wrote it.
        own_conditions: types of the conditions that are a secondary controller's; none: any may be.
    """
    if role == "primary":
        return []
    fields = [name for name in {**old_status, **new_status} if old_status.get(name) != new_status.get(name)]
    forbidden = [name for name in fields if name != "conditions"]
    if own_conditions is not None:
        old, new = (_by_type(status) for status in (old_status, new_status))
        changed = [type_ for type_ in {**old, **new} if old.get(type_) != new.get(type_)]
        forbidden += [f"conditions[{type_}]" for type_ in changed if type_ not in own_conditions]
    return sorted(forbidden)


def _by_type(status: Manifest) -> dict[str, Manifest]:
    return {text_at(condition, "type") or "": condition for condition in objects_at(status, "conditions")}
