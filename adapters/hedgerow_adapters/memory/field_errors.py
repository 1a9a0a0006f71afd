"""What the API server says about a field that it refuses.

Wording and punctuation are the server's, because users and controllers read them. Which fields there are is not known
here.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple


class FieldError(NamedTuple):
    """One cause of a 422: the kind of problem, the path of the field, and the text without the path."""

    reason: str
    field: str
    message: str

    def __str__(self) -> str:
        """As it stands in the message of a Status."""
        return f"{self.field}: {self.message}"


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """The error of a value that breaks the rule that `detail` states."""
    return FieldError("FieldValueInvalid", field, f"Invalid value: {_shown(value)}: {detail}")


def required(field: str, detail: str = "") -> FieldError:
    """The error of a field that is missing."""
    return FieldError("FieldValueRequired", field, f"Required value: {detail}" if detail else "Required value")


def forbidden(field: str, detail: str) -> FieldError:
    """The error of a field that may not be set here."""
    return FieldError("FieldValueForbidden", field, f"Forbidden: {detail}")


def duplicate(field: str, value: Any) -> FieldError:
    """The error of a value that another entry has already."""
    return FieldError("FieldValueDuplicate", field, f"Duplicate value: {_shown(value)}")


def not_supported(field: str, value: Any, supported: Sequence[str]) -> FieldError:
    """The error of a value that is none of those that exist."""
    known = ", ".join(_shown(item) for item in supported)
    return FieldError("FieldValueNotSupported", field, f"Unsupported value: {_shown(value)}: supported values: {known}")


def too_long(field: str, limit: int) -> FieldError:
    """The error of a value of more than `limit` bytes."""
    return FieldError("FieldValueTooLong", field, f"Too long: may not be more than {limit} bytes")


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
