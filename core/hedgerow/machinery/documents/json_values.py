"""The value of a JSON text, or of one of several that follow each other.

Refuses what Python's reader takes and no API server does: NaN, numbers without end, nesting without end, halves of
characters. A number means what it means in YAML, so a whole one is an integer however it is written.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from hedgerow.machinery.documents.budget import SEARCHED_AT_ONCE, ReadingBudget
from hedgerow.machinery.documents.document import CHECKING, MAX_NESTING, TOO_DEEP, Document, Manner, repeated_key
from hedgerow.machinery.documents.yaml_scalars import NotInJson, plain_value
from hedgerow.machinery.slices import SLICE, Slices

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_ESCAPED_SURROGATE: Final = re.compile(r"\\[uU](?:0000)?[dD][89a-fA-F]")
_LONGEST_ESCAPE: Final = len(r"\U0000d800")
_HALF_A_CHARACTER: Final = "an escape such as \\ud800 stands for half a character"


class JsonReader:
    """Reads values out of texts, each with everything that is wrong with it."""

    def __init__(self, manner: Manner = CHECKING) -> None:
        """A reader that reads in this manner."""
        self._manner = manner
        self._problems: list[str] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._mapping if manner.is_strict else None,
            parse_int=self.integer,
            parse_float=self.number,
            parse_constant=self.constant,
        )

    def read(self, text: str, position: int) -> tuple[Document, int]:
        """The value that begins at a position, and where it ends.

        Raises:
            JSONDecodeError: there is none; `problems` tells what was found before.
        """
        self.begin()
        try:
            value, end = self._decoder.raw_decode(text, position)
        except RecursionError:
            return Document(None, (*self._problems, TOO_DEEP)), len(text)
        if _is_too_deep(value, text, position, end):
            self._problems.append(TOO_DEEP)
        return Document(value, self.problems), end

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the last value, as far as it was read."""
        return tuple(self._problems)

    def begin(self) -> None:
        """Forget the problems of the last value."""
        self._problems.clear()

    def _mapping(self, entries: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(entries)
        if len(value) != len(entries):
            keys = [key for key, _ in entries]
            self._problems.extend(repeated_key(key) for key in value if keys.count(key) > 1)
        return value

    def integer(self, digits: str) -> int | float | None:
        """The value of a number without fraction and exponent; null for a problem."""
        value = plain_value(digits)
        if isinstance(value, NotInJson):
            if isinstance(value.instead, int | float) and not self._manner.is_strict:
                return value.instead
            self._problems.append(f"a number {value.why}")
        return value if isinstance(value, int) else None

    def number(self, digits: str) -> int | float | None:
        """The value of a number with a fraction or an exponent; null for a problem."""
        value = plain_value(digits)
        if isinstance(value, int | float):
            return value
        self._problems.append("one is too large a number")
        return None

    def constant(self, name: str) -> None:
        """Note a number that JSON does not know."""
        self._problems.append(f"{name} is not a number that JSON knows")


def after_blanks(text: str, position: int) -> int:
    """Where the next value begins, or the end of the text."""
    found = _BLANKS.match(text, position)
    return found.end() if found else position


def checked_for_halves(documents: Iterable[Document], text: str, budget: ReadingBudget) -> Slices[tuple[Document, ...]]:
    """The documents, with a problem where an escape left half of a surrogate pair: no file and no server takes that.

    Args:
        documents: without this check.
        text: what they were read from.
        budget: whose slices the work is done in.
    """
    if not (yield from _has_escaped_surrogate(text, budget)):
        return tuple(documents)
    checked: list[Document] = []
    for document in documents:
        is_whole = document.problems or _is_unicode(document.value)
        checked.append(document if is_whole else Document(None, (_HALF_A_CHARACTER,)))
        if budget.ends_slice(SLICE):
            yield
    return tuple(checked)


def _has_escaped_surrogate(text: str, budget: ReadingBudget) -> Slices[bool]:
    for start in range(0, len(text), SEARCHED_AT_ONCE):
        if _ESCAPED_SURROGATE.search(text, start, start + SEARCHED_AT_ONCE + _LONGEST_ESCAPE):
            return True
        if budget.search_ends_slice(len(text) - start):
            yield
    return False


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_too_deep(value: Any, text: str, start: int, end: int) -> bool:
    """Whether a value has more levels of lists and mappings than any reader is asked to bear."""
    if text.count("{", start, end) + text.count("[", start, end) <= MAX_NESTING:
        return False
    level = _collections((value,))
    for _ in range(MAX_NESTING):
        level = [child for one in level for child in _collections(one.values() if isinstance(one, dict) else one)]
        if not level:
            return False
    return bool(level)


def _collections(values: Iterable[Any]) -> list[dict[str, Any] | list[Any]]:
    return [value for value in values if isinstance(value, dict | list)]
