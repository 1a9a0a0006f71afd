"""A decoded document, the limits that both formats share, and what a plain YAML scalar means to Kubernetes.

The rules for scalars are those of the YAML 1.1 reader that kubectl and the API server share (sigs.k8s.io/yaml v1.6,
observed). They differ from PyYAML's: `y` and `n` are booleans, `1e3` and `0o17` are numbers, timestamps are texts.

A strict reader, for files that a person checks, reports repeated keys and integers of more than 64 bits. A lenient one,
for texts that were written for kubectl, takes the last value of the key, and turns the number into what kubectl makes
of it, mostly a float. Problems never show values, which may be those of a Secret.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

MAX_NESTING: Final = 100
"""Levels of lists and mappings. Real objects have less than half of it; recursion over a document must end."""

TOO_DEEP: Final = f"lists and mappings are nested more than {MAX_NESTING} levels deep"
_TOO_LARGE: Final = "does not fit a 64-bit integer (quote it if it is a text)"
_NUMBERS_BEGIN_WITH: Final = frozenset("+-.0123456789")
_INTEGERS: Final = (
    (10, re.compile(r"[-+]?[1-9][0-9]*")),
    (8, re.compile(r"[-+]?0([0-7]*|[oO][0-7]+)")),
    (16, re.compile(r"[-+]?0[xX][0-9a-fA-F]+")),
    (2, re.compile(r"[-+]?0[bB][01]+")),
)
_DECIMAL: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_FRACTION: Final = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_INT64: Final = range(-(2**63), 2**63)
_UINT64: Final = range(2**64)


class Document(NamedTuple):
    """One document of a file, in the order of the file."""

    value: Any
    """A JSON value; null for an empty document. Undefined if there are problems."""
    problems: tuple[str, ...] = ()


def repeated_key(key: str) -> str:
    """The problem of a repeated key: readers differ in which value they take."""
    return f'the key "{key}" appears twice in one mapping'


@dataclass(frozen=True, slots=True)
class NotInJson:
    """A scalar of YAML that JSON cannot hold, and what kubectl makes of it; none: kubectl refuses it, too."""

    why: str
    instead: str | int | float | None = None


PlainValue: TypeAlias = str | int | float | bool | NotInJson | None

_NOT_A_NUMBER: Final = NotInJson("is not a number that JSON knows")

_WORDS: Final[Mapping[str, PlainValue]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")), _NOT_A_NUMBER),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), _NOT_A_NUMBER),
}
_NO_TEXT_BEGINS_WITH: Final = _NUMBERS_BEGIN_WITH | frozenset(word[:1] for word in _WORDS)


def plain_value(text: str) -> PlainValue:
    """The value of a scalar without quotes and tag."""
    if text[:1] not in _NO_TEXT_BEGINS_WITH:
        return text
    if text in _WORDS:
        return _WORDS[text]
    return _number(text) if text[0] in _NUMBERS_BEGIN_WITH else text


def _number(text: str) -> PlainValue:
    if text[0] == ".":
        return _float(text) if _FRACTION.fullmatch(text) else text
    digits = text.replace("_", "")
    for base, pattern in _INTEGERS:
        if pattern.fullmatch(digits):
            return _integer(text, digits, base)
    return _decimal(text, digits)


def _integer(text: str, digits: str, base: int) -> int | NotInJson:
    try:
        value = int(digits, base)
    except ValueError:  # the interpreter converts no decimal of thousands of digits
        return NotInJson(_TOO_LARGE, text)
    if value in _INT64:
        return value
    return NotInJson(_TOO_LARGE, float(value) if value in _UINT64 else _decimal(text, digits))


def _decimal(text: str, digits: str) -> str | int | float:
    """The float that a text is, or the text; a number of another base that is too large is a text, too."""
    value = _float(digits) if _DECIMAL.fullmatch(digits) else text
    return text if value == float("inf") or value == float("-inf") else value


def _float(digits: str) -> int | float:
    value = float(digits)
    return int(value) if value.is_integer() and int(value) in _INT64 else value
