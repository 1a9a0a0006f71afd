"""Errors in single fields of what users write, in the words that Kubernetes uses for them.

Renders errors and joins them; knows no field, no rule and no document. Values may be of any size and are shown as far
as it takes to recognise them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final

from hedgerow.machinery.durations import format_duration

LONGEST_SHOWN: Final = 100
"""Characters of one value in a text."""

_SHAPES: Final = (
    (type(None), "null"),
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "a string"),
    (list, "a list"),
    (Mapping, "an object"),
)


class FieldErrorType(Enum):
    """What kind of mistake a field holds; the value is how the error's text names it."""

    INVALID = "Invalid value"
    REQUIRED = "Required value"
    UNSUPPORTED = "Unsupported value"
    DUPLICATE = "Duplicate value"
    FORBIDDEN = "Forbidden"
    TOO_LONG = "Too long"

    @property
    def reason(self) -> str:
        """How the causes of a Status name it."""
        return _REASONS[self]


_REASONS: Final = {
    FieldErrorType.INVALID: "FieldValueInvalid",
    FieldErrorType.REQUIRED: "FieldValueRequired",
    FieldErrorType.UNSUPPORTED: "FieldValueNotSupported",
    FieldErrorType.DUPLICATE: "FieldValueDuplicate",
    FieldErrorType.FORBIDDEN: "FieldValueForbidden",
    FieldErrorType.TOO_LONG: "FieldValueTooLong",
}


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field whose value breaks a rule.

    Source: managed-resources §3.2; webhooks-and-tokens §9.1.
    """

    path: str
    """The field as users write it, from the top of the document: `controllers.networkPolicy.concurrentSyncs`."""
    type: FieldErrorType
    problem: str
    """What follows after the type, which opens with the value where that is to be shown; empty: nothing."""

    @property
    def body(self) -> str:
        """The text without the path, as the causes of a Status carry it."""
        return f"{self.type.value}: {self.problem}" if self.problem else self.type.value

    def __str__(self) -> str:
        """Path, type and problem: `logLevel: Unsupported value: "foo": supported values: "debug", "info", "error"`."""
        return f"{self.path}: {self.body}"


def perhaps(name: str, known: Iterable[str]) -> str:
    """What to add to a clause about a name that is not known: which of the known ones may have been meant, if any."""
    # Slow to import, and most names are known.
    from difflib import get_close_matches  # noqa: PLC0415

    close = get_close_matches(name, [*known], n=1)
    return f"; did you mean {close[0]}?" if close else ""


def invalid(path: str, value: object, detail: str) -> FieldError:
    """The error of a field whose value breaks a rule, which `detail` states.

    Args:
        path: the field, from the top of the document.
        value: what stands there; a duration or any JSON value.
        detail: the rule, in lower case and without a full stop.
    """
    return FieldError(path, FieldErrorType.INVALID, f"{rendered(value)}: {detail}")


def invalid_unshown(path: str, detail: str) -> FieldError:
    """The error of a field whose value breaks a rule and must not be repeated, because it may be confidential."""
    return FieldError(path, FieldErrorType.INVALID, detail)


def required(path: str, detail: str = "") -> FieldError:
    """The error of a field that is missing or empty; `detail` says what it must hold, if that is not plain."""
    return FieldError(path, FieldErrorType.REQUIRED, detail)


def unsupported(path: str, value: str, supported: Sequence[str]) -> FieldError:
    """The error of a field that takes none but the supported values, which are listed in the order given."""
    listed = ", ".join(map(rendered, supported))
    return FieldError(path, FieldErrorType.UNSUPPORTED, f"{rendered(value)}: supported values: {listed}")


def duplicate(path: str, value: object) -> FieldError:
    """The error of an item that stands in its list before already."""
    return FieldError(path, FieldErrorType.DUPLICATE, rendered(value))


def too_long(path: str, most_bytes: int) -> FieldError:
    """The error of a field that holds more bytes than it may; the value is left out, because it is long."""
    return FieldError(path, FieldErrorType.TOO_LONG, f"must have at most {most_bytes} bytes")


def forbidden(path: str, detail: str) -> FieldError:
    """The error of a field that must not be set as it is; `detail` says why."""
    return FieldError(path, FieldErrorType.FORBIDDEN, detail)


def rendered(value: object) -> str:
    """A value as error texts show it: strings quoted, numbers and durations bare, null as `"null"`; long ones cut."""
    if value is None:
        return '"null"'
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, str):
        return json.dumps(shortened(value), ensure_ascii=False)
    try:
        return shortened(json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":")))
    except RecursionError:
        # What can be parsed just so may be nested too deep to be written, and an error's text must not be one itself.
        return '"..."'


def shape_of(value: object) -> str:
    """What users call the type of a parsed value."""
    return next((name for types, name in _SHAPES if isinstance(value, types)), f"a {type(value).__name__}")


def shortened(text: str, longest: int = LONGEST_SHOWN) -> str:
    """A text as far as error texts repeat it."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def joined(errors: Iterable[object]) -> str:
    """The text of several errors: one stands alone, more become `[first, second]`; what repeats is left out."""
    texts = tuple(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
