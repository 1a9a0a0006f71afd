"""Problems in fields, in the words of Kubernetes, and failures: a problem of an object, as a value.

Knows no particular field, rule or document. Error texts show only the beginning of a long value.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from types import NoneType
from typing import Any, Final, Self

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.scalars import format_duration

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

_JSON_TYPES: Final = (
    (NoneType, "null"),
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a decimal number"),
    (str, "a string"),
    (Mapping, "an object"),
    (list, "a list"),
)
"""The first that fits counts: Python takes a boolean for an integer."""


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
class Problem:
    """What is wrong with one field of what a user wrote.

    Source: managed-resources §3.2; webhooks-and-tokens §9.1.
    """

    path: str
    """The field, from the top of what was written: `controllers.networkPolicy.concurrentSyncs`; empty: all of it."""
    text: str
    """One clause without a full stop. After a type it opens with the value if that is shown, and may be empty."""
    type: FieldErrorType | None = None
    """The kind of mistake as API servers name it; none where the value cannot be read at all."""

    @property
    def body(self) -> str:
        """The text without the path, as the causes of a Status carry it."""
        if self.type is None:
            return self.text
        return f"{self.type.value}: {self.text}" if self.text else self.type.value

    @property
    def reason(self) -> str:
        """How the causes of a Status name the kind of mistake."""
        return (self.type or FieldErrorType.INVALID).reason

    def __str__(self) -> str:
        """Path, type and text: `logLevel: Unsupported value: "foo": supported values: "debug", "info", "error"`."""
        return f"{self.path}: {self.body}" if self.path else self.body

    def below(self, parent: str) -> Self:
        """The same problem as seen from further out."""
        return replace(self, path=f"{parent}.{self.path}" if self.path else parent)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that an unknown one is a misspelling of; none if it is like none of them."""
    # Slow to import, and most names are known.
    from difflib import get_close_matches  # noqa: PLC0415

    spelled = {each.casefold(): each for each in known}
    close = get_close_matches(name.casefold(), spelled, n=1)
    return spelled[close[0]] if close else None


def perhaps(name: str, known: Iterable[str]) -> str:
    """What to add to a clause about a name that is not known: which of the known ones may have been meant, if any."""
    meant = nearest(name, known)
    return "" if meant is None else f"; did you mean {meant}?"


def unknown_fields(value: Mapping[Any, Any], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """The name of each field that is not among the known ones, and the problem with it; the nearest known is named.

    For values in which a misspelt field must not count as an absent one.
    """
    for name in value:
        if name not in known:
            shown = shortened(str(name))
            yield shown, f"is an unknown field{perhaps(shown, known)}"


def invalid(path: str, value: object, detail: str) -> Problem:
    """The error of a field whose value breaks a rule, which `detail` states.

    Args:
        path: the field, from the top of the document.
        value: what stands there; a duration or any JSON value.
        detail: the rule, in lower case and without a full stop.
    """
    return Problem(path, f"{rendered(value)}: {detail}", FieldErrorType.INVALID)


def invalid_unshown(path: str, detail: str) -> Problem:
    """The error of a field whose value breaks a rule and must not be repeated, because it may be confidential."""
    return Problem(path, detail, FieldErrorType.INVALID)


def required(path: str, detail: str = "") -> Problem:
    """The error of a field that is missing or empty; `detail` says what it must hold, if that is not plain."""
    return Problem(path, detail, FieldErrorType.REQUIRED)


def unsupported(path: str, value: str, supported: Sequence[str]) -> Problem:
    """The error of a field that takes none but the supported values, which are listed in the order given."""
    listed = ", ".join(map(rendered, supported))
    return Problem(path, f"{rendered(value)}: supported values: {listed}", FieldErrorType.UNSUPPORTED)


def duplicate(path: str, value: object) -> Problem:
    """The error of an item that stands in its list before already."""
    return Problem(path, rendered(value), FieldErrorType.DUPLICATE)


def too_long(path: str, most_bytes: int) -> Problem:
    """The error of a field that holds more bytes than it may; the value is left out, because it is long."""
    return Problem(path, f"must have at most {most_bytes} bytes", FieldErrorType.TOO_LONG)


def forbidden(path: str, detail: str) -> Problem:
    """The error of a field that must not be set as it is; `detail` says why."""
    return Problem(path, detail, FieldErrorType.FORBIDDEN)


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


def child(path: str, name: str) -> str:
    """The path of a field below a path: behind a dot, or in brackets where the name might hold dots itself."""
    if not name.isalnum():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def annotation_path(name: str) -> str:
    """The path of an annotation."""
    return f"metadata.annotations[{name}]"


def json_type(value: object) -> str:
    """What a value is, in words for people who write YAML or JSON."""
    named = (name for type_, name in _JSON_TYPES if isinstance(value, type_))
    return next(named, f"a {type(value).__name__}")


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


@dataclass(frozen=True, slots=True)
class Failure:
    """A decision that could not be made, or not in full, as a value."""

    resource: Resource
    key: ObjectKey
    """Without a name and a field: all objects of the resource, those of one namespace if that is given."""
    problem: Problem
    """What is wrong; without a path, with the object as a whole. Annotations are `metadata.annotations[...]`."""
    retryable: bool = False
    """Whether the same inputs may succeed later. Bad input is not retried: its correction is an event of its own."""

    def __str__(self) -> str:
        """One sentence: object, field, problem."""
        return f"{self._where()}: {self.problem}"

    def _where(self) -> str:
        if self.key.name:
            return f"{self.resource.kind} {self.key}"
        if self.problem.path:
            return f"{self.resource.kind} without a name"
        within = f" in namespace {self.key.namespace}" if self.key.namespace else ""
        return f"{self.resource.kind} objects{within}"
