"""Marks in place of confidential values, in what commands print. A mark says whether the value changes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.tokens import INVALIDATED
from hedgerow.machinery.documents.streams import stream_documents
from hedgerow.machinery.objects import Kind
from hedgerow.resource_manager.secret_redaction.redactor import Redactor

REDACTED: Final = "(redacted)"
CHANGED: Final = "(redacted, changed)"
_CLAIMS_A_KIND: Final = re.compile(r"kind\W{0,8}:", re.IGNORECASE)
_CLAIMS_A_SECRET: Final = re.compile(r"""\bkind["'\\]*\s*:\s*["'\\]*secret""", re.IGNORECASE)


def redacted(value: Any, before: Any = None, kind: Kind | None = None) -> Any:
    """The object, or another JSON value, with marks; the same object if nothing in it is confidential.

    Args:
        value: what is to be printed.
        before: the value before a change, which marks compare; none: nothing is compared.
        kind: the kind of the value, if the value may lack it.
    """
    concealed = _concealed(value, kind)
    return concealed if concealed is value else _marked(concealed, _concealed(before, kind))


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A value that is not printed. Two are equal if their values are."""

    value: Any


class _MarkRedactor(Redactor):
    """Hides each value of a Secret by itself, so that the names of data keys are printed."""

    def data(self, values: Any, *, holds_manifests: bool = False) -> Any:  # noqa: ARG002 -- prints no manifests either
        """Each value hidden; a token that the webhook has invalidated is printed."""
        if not isinstance(values, Mapping):
            return self.hide(values)
        return {name: value if value == INVALIDATED else self.hide(value) for name, value in values.items()}

    string_data = data

    def hide(self, value: Any) -> Any:
        """The value as a whole: names of fields in it may be confidential as well. Null tells nothing."""
        return None if value is None else _Hidden(value)

    def text(self, text: str) -> Any:
        """A text, unless it holds the manifest of a Secret in YAML or JSON, or is broken and seems to hold one."""
        if "secret" not in text.casefold() or _CLAIMS_A_KIND.search(text) is None:
            return text
        for document in stream_documents(text):
            if document.problems and _CLAIMS_A_SECRET.search(text):
                return _Hidden(text)
            if not isinstance(document.value, str) and self.redacted(document.value) != document.value:
                return _Hidden(text)
        return text


_REDACTOR: Final = _MarkRedactor()


def _concealed(value: Any, kind: Kind | None) -> Any:
    if kind == SECRETS.object_kind and isinstance(value, Mapping):
        return _REDACTOR.secret(value)
    return _REDACTOR.redacted(value)


def _marked(value: Any, before: Any) -> Any:
    if isinstance(value, _Hidden):
        return REDACTED if before is None or before == value else CHANGED
    if isinstance(value, Mapping):
        known = before if isinstance(before, Mapping) else {}
        return {name: _marked(each, known.get(name)) for name, each in value.items()}
    if isinstance(value, list):
        items = before if isinstance(before, list) else []
        return [_marked(each, items[index] if index < len(items) else None) for index, each in enumerate(value)]
    return value
