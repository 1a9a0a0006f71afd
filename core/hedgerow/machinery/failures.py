"""Problems in fields, in the words of Kubernetes, and failures: a problem of an object, as a value.

Knows no particular field, rule or document. Error texts show only the beginning of a long value.
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from types import NoneType
from typing import Any, Final, Self

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.scalars import WrittenDuration, format_duration

LONGEST_SHOWN: Final = 100

_JSON_TYPES: Final = (
    (NoneType, "null"),
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a decimal number"),
    (str, "a string"),
    (list, "a list"),
    (Mapping, "an object"),
)
"""The first that fits counts: Python takes a boolean for an integer."""


class FieldErrorType(Enum):
    """The kind of a mistake, as texts of API servers name it."""

    INVALID = "Invalid value"
    REQUIRED = "Required value"
    UNSUPPORTED = "Unsupported value"
    DUPLICATE = "Duplicate value"
    FORBIDDEN = "Forbidden"
    TOO_LONG = "Too long"


_REASONS: Final = {
    FieldErrorType.INVALID: "FieldValueInvalid",
    FieldErrorType.REQUIRED: "FieldValueRequired",
    FieldErrorType.UNSUPPORTED: "FieldValueNotSupported",
    FieldErrorType.DUPLICATE: "FieldValueDuplicate",
    FieldErrorType.FORBIDDEN: "FieldValueForbidden",
    FieldErrorType.TOO_LONG: "FieldValueTooLong",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one field of an object or a document (managed-resources §3.2, webhooks-and-tokens §9.1)."""

    path: str
    """The field, from the top: `controllers.networkPolicy.concurrentSyncs`; empty: the object as a whole."""
    text: str
    """One clause without a full stop. With a `type` it may be empty, and begins with the value if that may be shown."""
    type: FieldErrorType | None = None
    """None: the value cannot be read at all."""

    @property
    def body(self) -> str:
        """The text without the path, as the causes of a Status carry it."""
        if self.type is None:
            return self.text
        return f"{self.type.value}: {self.text}" if self.text else self.type.value

    @property
    def reason(self) -> str:
        """The type as the causes of a Status name it."""
        return _REASONS[self.type or FieldErrorType.INVALID]

    def __str__(self) -> str:
        """Path, type and text: `logLevel: Unsupported value: "foo": supported values: "debug", "info", "error"`."""
        return f"{self.path}: {self.body}" if self.path else self.body

    def below(self, parent: str) -> Self:
        """The same problem with a path that begins further up."""
        return replace(self, path=f"{parent}.{self.path}" if self.path else parent)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like an unknown one; none if none is like it."""
    # Slow to import, and most names are known.
    from difflib import get_close_matches  # noqa: PLC0415

    spelled = {known_name.casefold(): known_name for known_name in known}
    close = get_close_matches(name.casefold(), spelled, n=1)
    return spelled[close[0]] if close else None


def perhaps(name: str, known: Iterable[str]) -> str:
    """The end of a clause about an unknown name: the known name that is most like it, if any."""
    meant = nearest(name, known)
    return "" if meant is None else f"; did you mean {meant}?"


def unknown_fields(value: Mapping[Any, Any], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """The name of each unknown field, and its problem."""
    for name in value:
        if name not in known:
            shown = shortened(str(name))
            yield shown, f"is an unknown field{perhaps(shown, known)}"


def invalid(path: str, value: object, detail: str) -> Problem:
    """The error of a field whose value breaks the rule that `detail` states."""
    return Problem(path, f"{rendered(value)}: {detail}", FieldErrorType.INVALID)


def invalid_unshown(path: str, detail: str) -> Problem:
    """The error of a field whose value breaks a rule and may be confidential."""
    return Problem(path, detail, FieldErrorType.INVALID)


def required(path: str, detail: str = "") -> Problem:
    """The error of a field that is missing or empty."""
    return Problem(path, detail, FieldErrorType.REQUIRED)


def unsupported(path: str, value: str, supported: Sequence[str]) -> Problem:
    """The error of a field that takes none but the supported values."""
    text = f"{rendered(value)}: supported values: {', '.join(map(rendered, supported))}"
    return Problem(path, text, FieldErrorType.UNSUPPORTED)


def duplicate(path: str, value: object) -> Problem:
    """The error of an item that stands in its list before already."""
    return Problem(path, rendered(value), FieldErrorType.DUPLICATE)


def forbidden(path: str, detail: str) -> Problem:
    """The error of a field that must not be set as it is."""
    return Problem(path, detail, FieldErrorType.FORBIDDEN)


def rendered(value: object) -> str:
    """A value as error texts show it: strings quoted, numbers and durations bare, null as `"null"`; long ones cut."""
    if value is None:
        return '"null"'
    if isinstance(value, WrittenDuration):
        return shortened(value.text)
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, str):
        return json.dumps(shortened(value), ensure_ascii=False)
    try:
        return shortened(json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":")))
    except (RecursionError, ValueError):  # what can just be parsed may be nested too deep, or too long, to be written
        return '"..."'


def child(path: str, name: str) -> str:
    """The path of a field below a path: behind a dot, or in brackets where the name might hold dots itself."""
    if not name.isalnum():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def annotation_path(name: str) -> str:
    """The path of an annotation."""
    return f"metadata.annotations[{name}]"


def json_type(value: object) -> str:
    """The JSON type of a parsed value, as error texts name it; of NaN and infinity the value, which JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return rendered(value)
    return next((name for types, name in _JSON_TYPES if isinstance(value, types)), f"a {type(value).__name__}")


def wrong_type(path: str, expected: str, value: object, advice: str = "") -> Problem:
    """The problem of a value of another type than expected. It shows no value, which may be confidential."""
    return Problem(path, f"expected {expected}, got {json_type(value)}{advice}")


def shortened(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The beginning of a long text, as error texts show it."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def joined(errors: Iterable[object]) -> str:
    """The text of several errors: one as it is, more as `[first, second]`, each once."""
    texts = tuple(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a decision could not be made, or only in part."""

    resource: Resource
    key: ObjectKey
    """Without a name, and no path in the problem: all objects, of the namespace if it has one."""
    problem: Problem
    retryable: bool = False
    """True if the same inputs may succeed later; bad input is not retried."""

    def __str__(self) -> str:
        """One sentence: object, field, problem."""
        kind, problem = self.resource.kind, self.problem
        if self.key.name:
            return f"{kind} {self.key}: {problem}"
        within = f" in namespace {self.key.namespace}" if self.key.namespace else ""
        return f"{kind} without a name: {problem}" if problem.path else f"{kind} objects{within}: {problem}"


def retryable_failure(resource: Resource, key: ObjectKey, text: str) -> Failure:
    """A failure of an object as a whole that may succeed later."""
    return Failure(resource, key, Problem("", text), retryable=True)
