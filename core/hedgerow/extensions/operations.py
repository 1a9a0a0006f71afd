"""The operations that an Extension asks for: which one, when, and what its status says of it.

Source: rsyslog-relp §4.1, §4.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, NamedTuple, Self

from returns.result import Success

from hedgerow.api.gardener import FORCE_DELETION
from hedgerow.api.managed_resources import OPERATION
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    annotations_of,
    is_terminating,
    key_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.reading import UnreadableError, boolean_at, integer_at, list_at, object_at, text_at
from hedgerow.machinery.reported_states import ReportedStates, States
from hedgerow.machinery.scalars import format_timestamp, parse_bool, parse_timestamp

SUCCEEDED: Final = "Succeeded"
RECONCILE: Final = "reconcile"
MIGRATE: Final = "migrate"
RESTORE: Final = "restore"
WAIT_FOR_STATE: Final = "wait-for-state"
REQUESTED: Final = frozenset({RECONCILE, MIGRATE, RESTORE})
"""Values of the operation annotation that ask for something to be done."""
PERIOD: Final = timedelta(hours=1)
"""How long after its success an operation is followed by a reconciliation."""


class Descriptions(NamedTuple):
    """What the status says at the start of an operation, after its success, and before the text of an error."""

    start: str
    success: str
    error: str


_RECONCILING: Final = Descriptions(
    "Reconciling the Extension", "Successfully reconciled Extension", "Error reconciling Extension"
)


class OperationType(Enum):
    """What is done with an Extension."""

    CREATE = "Create"
    RECONCILE = "Reconcile"
    DELETE = "Delete"
    MIGRATE = "Migrate"
    RESTORE = "Restore"

    @property
    def descriptions(self) -> Descriptions:
        """The texts of its status."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS: Final = {
    OperationType.CREATE: _RECONCILING,
    OperationType.RECONCILE: _RECONCILING,
    OperationType.DELETE: Descriptions(
        "Deleting the Extension", "Successfully deleted the Extension", "Error deleting the Extension"
    ),
    OperationType.MIGRATE: Descriptions(
        "Migrate Extension resource.", "Successfully migrated Extension resource", "Error migrating Extension resource"
    ),
    OperationType.RESTORE: Descriptions(
        "Restoring Extension resource",
        "Successfully restored Extension resource",
        "Unable to restore Extension resource",
    ),
}
_RESUMED: Final = {each.value: each for each in (OperationType.CREATE, OperationType.MIGRATE, OperationType.RESTORE)}
"""The operations that go on until they succeed."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What the controller reads of an Extension.

    Raises:
        UnreadableError: where it is made, a field has another type than the API allows.
    """

    key: ObjectKey
    resource_version: str | None
    generation: int
    observed_generation: int
    finalizers: tuple[str, ...]
    requested: str | None
    """The value of the operation annotation."""
    is_terminating: bool
    last_type: str | None
    """Of the last operation, as is the state; none: there was none."""
    last_state: str | None
    last_update: datetime | None
    provider_config: Any
    """As its author wrote it."""

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        """The Extension that a manifest describes."""
        last = object_at(manifest, "status", "lastOperation")
        return cls(
            key=key_of(manifest),
            resource_version=resource_version_of(manifest),
            generation=_generation(manifest),
            observed_generation=integer_at(manifest, "status", "observedGeneration") or 0,
            finalizers=tuple(list_at(manifest, "metadata", "finalizers")),
            requested=annotations_of(manifest).get(OPERATION),
            is_terminating=is_terminating(manifest),
            last_type=text_at(last, "type"),
            last_state=text_at(last, "state"),
            last_update=parse_timestamp(last.get("lastUpdateTime")),
            provider_config=object_at(manifest, "spec").get("providerConfig"),
        )

    @property
    def operation(self) -> OperationType | None:
        """The operation that is due; none after a migration, until the Extension is restored."""
        operation = self._asked_for
        has_left = (self.last_type, self.last_state) == (OperationType.MIGRATE.value, SUCCEEDED)
        return None if has_left and operation not in {OperationType.MIGRATE, OperationType.RESTORE} else operation

    @property
    def _asked_for(self) -> OperationType:
        if self.requested == MIGRATE:
            return OperationType.MIGRATE
        if self.is_terminating:
            return OperationType.DELETE
        if self.requested == RESTORE:
            return OperationType.RESTORE
        if self.last_type is None:
            return OperationType.CREATE
        resumed = _RESUMED.get(self.last_type)
        return resumed if resumed and self.last_state != SUCCEEDED else OperationType.RECONCILE

    def rest(self, now: datetime, follows_specification: bool) -> timedelta:  # noqa: FBT001 -- of one caller
        """How long nothing is due; zero or less: an operation is.

        A process that has just started decides about every Extension, also about those that are as they should be.
        With `follows_specification` a change of it asks for an operation.
        """
        is_changed = follows_specification and self.generation != self.observed_generation
        if self.requested in REQUESTED or self.is_terminating or self.last_state != SUCCEEDED or is_changed:
            return timedelta()
        return PERIOD - (now - self.last_update) if self.last_update else timedelta()


def is_of_type(extension: Manifest, extension_type: str) -> bool:
    """Whether an Extension is of a type."""
    return text_at(extension, "spec", "type") == extension_type


def is_forced(shoot: Manifest) -> bool:
    """Whether the Shoot's deletion waits for nothing."""
    return parse_bool(annotations_of(shoot).get(FORCE_DELETION, "")) == Success(inner_value=True)


def is_hibernated(shoot: Manifest) -> bool:
    """Whether the Shoot has no nodes; one that falls asleep or wakes up may have some."""
    asked_for = boolean_at(shoot, "spec", "hibernation", "enabled")
    return bool(asked_for and boolean_at(shoot, "status", "hibernated"))


def transform_extension(extension_type: str) -> Callable[[Manifest], Manifest]:
    """The transform that keeps Extensions of a type, and of others the key."""

    def transform(extension: Manifest) -> Manifest:
        if not is_of_type(extension, extension_type):
            namespace, name = key_of(extension)
            return {"metadata": {"namespace": namespace, "name": name}, "spec": {}}
        return {name: extension[name] for name in ("metadata", "spec", "status") if name in extension}

    return transform


def asks_for_operation(change: Change) -> bool:
    """Whether a change of an Extension asks for an operation, by its annotation, deletion or status.

    An update of the specification asks for nothing: Gardener annotates the Extension when it makes one.
    """
    old, new = change.old, change.new
    if new is None:
        return False
    if annotations_of(new).get(OPERATION) in REQUESTED:
        return True
    if old is None or uid_of(old) != uid_of(new):
        return is_terminating(new) or text_at(new, "status", "lastOperation", "state") != SUCCEEDED
    # A list after an outage may show in one change that the deletion has begun and what we have written since.
    has_begun = not is_terminating(old) or old.get("status") == new.get("status")
    return is_terminating(new) and has_begun


def changes_generation(change: Change) -> bool:
    """Whether an Extension was created, its specification changed, or its deletion began."""
    old, new = change.old, change.new
    return new is not None and (old is None or _generation(old) != _generation(new))


def _generation(extension: Manifest) -> int:
    return integer_at(extension, "metadata", "generation") or 0


def _last(extension: Manifest) -> States:
    try:
        last = object_at(extension, "status", "lastOperation")
        operation, state = text_at(last, "type"), text_at(last, "state")
    except UnreadableError:
        return ()
    return ((operation, state),) if operation and state else ()


REPORTED: Final = ReportedStates(
    "hedgerow_extension_operation",
    "The last operation of each Extension, with its state; always 1.",
    _last,
    aspect="operation",
    value="state",
)
"""What metrics say of Extensions."""


def started(operation: OperationType, now: datetime) -> Mapping[str, Any]:
    """The status of an Extension at the start of an operation, as a merge patch; the last error stays."""
    return {"lastOperation": _last_operation(operation, "Processing", 1, operation.descriptions.start, now)}


def succeeded(operation: OperationType, generation: int, now: datetime) -> Mapping[str, Any]:
    """The status after an operation has succeeded, as a merge patch."""
    return {
        "lastOperation": _last_operation(operation, SUCCEEDED, 100, operation.descriptions.success, now),
        "observedGeneration": generation,
        "lastError": None,
    }


def failed(
    operation: OperationType, generation: int, error: str, codes: Sequence[str], now: datetime
) -> Mapping[str, Any]:
    """The status after an operation has failed, as a merge patch; `codes` tell who has to correct the error."""
    description = f"{operation.descriptions.error}: {error}"
    return {
        "lastOperation": _last_operation(operation, "Error", 50, description, now),
        "observedGeneration": generation,
        "lastError": {"description": description, "codes": [*codes] or None, "lastUpdateTime": format_timestamp(now)},
    }


def _last_operation(
    operation: OperationType, state: str, progress: int, description: str, now: datetime
) -> Mapping[str, Any]:
    return {
        "type": operation.value,
        "state": state,
        "progress": progress,
        "description": description,
        "lastUpdateTime": format_timestamp(now),
    }
