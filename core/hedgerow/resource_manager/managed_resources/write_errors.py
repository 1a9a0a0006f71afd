"""Decides by the API error of a write: read the object again, replace it, or fail.

Source: managed-resources §7.9.
"""

from collections.abc import Sequence
from typing import Final

from hedgerow.api.managed_resources import DELETE_ON_INVALID_UPDATE
from hedgerow.machinery.objects import Kind, Manifest, annotations_of, uid_of
from hedgerow.machinery.plan import ApiError, Create, Delete, Update, WriteResult
from hedgerow.machinery.scalars import parse_bool

_NO_ANSWER: Final = 0
CONFLICT: Final = 409
_INVALID: Final = 422
_MOST_ATTEMPTS: Final = 4
"""Attempts to write one object in one reconciliation."""
_IMMUTABLE: Final = frozenset({Kind("v1", "ConfigMap"), Kind("v1", "Secret")})
_IMMUTABILITY: Final = "field is immutable when `immutable` is set"
_REASON_OF_DELETION: Final = (
    "because of 'invalid' update error, and 'delete-on-invalid-update' annotation on object or the resource is an "
    "immutable ConfigMap/Secret"
)


def is_to_be_read_again(writes: Sequence[WriteResult]) -> bool:
    """True if the last write may have failed because the object differs from the one that was read.

    That holds for every creation: an API server checks last whether the object exists.
    """
    last = writes[-1]
    if last.error is None or last.error.code == _NO_ANSWER or len(writes) >= _MOST_ATTEMPTS:
        return False
    return isinstance(last.action, Create) or (isinstance(last.action, Update) and has_come_too_late(last))


def has_come_too_late(write: WriteResult) -> bool:
    """True if a write failed because another client changed or deleted the object first."""
    return write.error is not None and (write.error.is_not_found or write.error.code == CONFLICT)


def replacement(failed: WriteResult) -> Delete | None:
    """The deletion of an object that cannot be updated, so that it is created anew; none if that is not allowed."""
    action, error = failed.action, failed.error
    if not isinstance(action, Update) or error is None or error.code != _INVALID:
        return None
    value = annotations_of(action.manifest).get(DELETE_ON_INVALID_UPDATE)
    is_asked_for = isinstance(value, str) and parse_bool(value).value_or(default_value=False)
    if not is_asked_for and not _is_immutable(action.manifest, error):
        return None
    return Delete(action.resource, action.key, "invalid-update", uid_of(action.manifest))


def _is_immutable(merged: Manifest, error: ApiError) -> bool:
    """The first cause of that kind decides."""
    forbidden = [cause for cause in error.causes if cause.reason == "FieldValueForbidden"]
    return Kind.of(merged) in _IMMUTABLE and bool(forbidden) and _IMMUTABILITY in forbidden[0].message


def error_text(writes: Sequence[WriteResult], wanted: object) -> str:
    """The error of an object, by all its writes of a reconciliation; the last one failed, or deleted the object."""
    last = writes[-1]
    message = last.error.message if last.error is not None else ""
    if isinstance(last.action, Delete):
        if last.error is not None:
            return f"error deleting object \"{wanted}\" after 'invalid' update error: {message}"
        invalid = writes[-2].error if len(writes) > 1 else None
        return f'deleted object "{wanted}" {_REASON_OF_DELETION}: {invalid.message if invalid else ""}'
    is_conflict = last.error is not None and last.error.code == CONFLICT
    return message if isinstance(last.action, Update) and is_conflict else apply_error(wanted, message)


def apply_error(wanted: object, cause: object) -> str:
    """The error of an object that could not be applied."""
    return f'error during apply of object "{wanted}": {cause}'
