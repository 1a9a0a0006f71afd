"""Label and field selectors of queries: which objects of a resource both select.

An API server supports only a few fields of each resource. This module does not know which.

Source: Kubernetes documentation, "Labels and Selectors" and "Field Selectors".
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow.machinery.selectors import parse_selector_query

_ESCAPED: Final = re.compile(r"[\\,=]")
_TERMS: Final = re.compile(r"(?:\\.?|[^\\,])+", re.DOTALL)
_TERM: Final = re.compile(r"((?:\\.|[^\\=!]|!(?!=))*)(!=|==|=)((?:\\[\\,=]|[^\\,=])*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """The requirement of one field."""

    field: str
    """Path of members, with dots between them."""
    value: str
    is_wanted: bool = True
    """True if the field must have the value; false if it must not."""

    def matches(self, manifest: Manifest) -> bool:
        """True if an object meets the requirement; an absent field counts as the empty text."""
        value: Any = manifest
        for member in self.field.split("."):
            value = value.get(member) if isinstance(value, (dict, Mapping)) else None
        return (("" if value is None else value) == self.value) is self.is_wanted


def field_query(fields: Mapping[str, str]) -> str:
    """The query for objects whose fields have these values, before URL encoding."""
    return ",".join(f"{field}={_ESCAPED.sub(_with_backslash, value)}" for field, value in fields.items())


def _with_backslash(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def parse_field_query(text: str) -> Result[tuple[FieldTerm, ...], str]:
    """The requirements of a query, all of which must hold; or why it cannot be parsed, in the words of API servers."""
    terms: list[FieldTerm] = []
    for part in _TERMS.findall(text):
        found = _TERM.fullmatch(part)
        if found is None:
            return Failure(f"invalid selector: '{text}'; can't understand '{part}'")
        field, sign, value = found.groups()
        terms.append(FieldTerm(field, _ESCAPE.sub(r"\1", value), is_wanted=sign != "!="))
    return Success(tuple(terms))


@lru_cache
def selected_by(label_selector: str, field_selector: str) -> Callable[[Manifest], bool]:
    """A predicate for objects that both queries select. The queries are parsed once."""
    labels, fields = parse_selector_query(label_selector).unwrap(), parse_field_query(field_selector).unwrap()

    def is_selected(manifest: Manifest) -> bool:
        return labels.matches(labels_of(manifest)) and all(term.matches(manifest) for term in fields)

    return is_selected
