"""The values of a JSON text; large ones are read in slices, with the same results and errors.

Refuses what Python's reader accepts and no API server does: NaN, endless numbers, endless nesting, halves of
characters. A number means what it means in YAML, so a whole one is an integer in any spelling.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from hedgerow.machinery.documents.budget import CHARACTERS_OF_A_NODE, SLICE, ReadingBudget, Slices, occurs
from hedgerow.machinery.documents.document import MAX_NESTING, TOO_DEEP, Document, NotInJson, plain_value, repeated_key

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_ESCAPED_SURROGATE: Final = re.compile(r"\\[uU](?:0000)?[dD][89a-fA-F]")
_LONGEST_ESCAPE: Final = len(r"\U0000d800")
_OPENINGS: Final = frozenset("{[")
_DELIMITER: Final = re.compile(r"[ \t\n\r]*([,:}\]])[ \t\n\r]*")
_HALF_A_CHARACTER: Final = "an escape such as \\ud800 stands for half a character"


class JsonReader:
    """Reads values from texts, each with all its problems."""

    def __init__(self, *, is_strict: bool = True) -> None:
        self._is_strict = is_strict
        self.problems: list[str] = []
        """Those of the last value, as far as it was read."""
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._mapping if is_strict else None,
            parse_int=self._integer,
            parse_float=self._number,
            parse_constant=self._constant,
        )

    def read(self, text: str, position: int) -> tuple[Document, int]:
        """The value at a position, and where it ends; or JSONDecodeError, and `problems` has those found before."""
        self.problems.clear()
        try:
            value, end = self.decoder.raw_decode(text, position)
        except RecursionError:
            return Document(None, (*self.problems, TOO_DEEP)), len(text)
        collections = text.count("{", position, end) + text.count("[", position, end)
        if collections > MAX_NESTING and is_deeper(value, MAX_NESTING):
            self.problems.append(TOO_DEEP)
        return Document(value, tuple(self.problems)), end

    def _mapping(self, entries: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(entries)
        if len(value) != len(entries):
            keys = [key for key, _ in entries]
            self.problems.extend(repeated_key(key) for key in value if keys.count(key) > 1)
        return value

    def _integer(self, digits: str) -> int | float | None:
        value = plain_value(digits)
        if isinstance(value, NotInJson):
            if isinstance(value.instead, int | float) and not self._is_strict:
                return value.instead
            self.problems.append(f"a number {value.why}")
        return value if isinstance(value, int) else None

    def _number(self, digits: str) -> int | float | None:
        value = plain_value(digits)
        if isinstance(value, int | float):
            return value
        self.problems.append("one is too large a number")
        return None

    def _constant(self, name: str) -> None:
        self.problems.append(f"{name} is not a number that JSON knows")


def after_blanks(text: str, position: int) -> int:
    """Where the next value begins, or the end of the text."""
    found = _BLANKS.match(text, position)
    return found.end() if found else position


def checked_for_halves(documents: Iterable[Document], text: str, budget: ReadingBudget) -> Slices[tuple[Document, ...]]:
    """The documents, with a problem where an escape left half of a surrogate pair, which no server accepts."""
    if not (yield from occurs(_ESCAPED_SURROGATE, text, budget, _LONGEST_ESCAPE)):
        return tuple(documents)
    checked: list[Document] = []
    for document in documents:
        is_broken = not document.problems and not _is_unicode(document.value)
        checked.append(Document(None, (_HALF_A_CHARACTER,)) if is_broken else document)
        budget.ends_slice(SLICE)
        yield
    return tuple(checked)


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def is_deeper(value: Any, levels: int) -> bool:
    """True if a value has more than so many levels of lists and mappings."""
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return not levels or any(is_deeper(member, levels - 1) for member in members)


def read_in_slices(reader: JsonReader, text: str, position: int, budget: ReadingBudget) -> Slices[tuple[Document, int]]:
    """As `reader.read`; a value that is too large is broken, and ends with the text. May raise OverBudgetError."""
    reader.problems.clear()
    try:
        value, end = yield from _SlicedReader(reader, text, position, budget).value(position)
    except _UnfitError as error:
        return Document(None, (*reader.problems, str(error))), len(text)
    return Document(value, tuple(reader.problems)), end


class _UnfitError(Exception):
    """A value is too deep or too large; the text is the problem."""


class _SlicedReader:
    """Reads one value; scalars and keys by Python's reader."""

    def __init__(self, reader: JsonReader, text: str, position: int, budget: ReadingBudget) -> None:
        self._scalar = reader.decoder.raw_decode
        self._text = text
        self._budget = budget
        self._most = budget.nodes_of_next_document
        self._last = budget.nodes + self._most
        self._counted = position
        self._keys: dict[str, str] = {}

    def value(self, position: int, nodes: int = 1, level: int = 0) -> Slices[tuple[Any, int]]:
        """The value at a position, which counts as so many nodes, and where it ends; `level` collections are open."""
        if self._text[position : position + 1] in _OPENINGS:
            value, end = yield from self._collection(position, level + 1)
        else:
            value, end = self._scalar(self._text, position)
        if self._costs(nodes, end):
            yield
        return value, end

    def _costs(self, nodes: int, end: int) -> bool:
        """Spend nodes, and the characters up to `end`; true if that completes a slice."""
        nodes += (end - self._counted) // CHARACTERS_OF_A_NODE
        self._counted = end
        self._budget.spend(nodes=nodes)
        if self._budget.nodes > self._last:
            raise _UnfitError(f"more than {self._most} values in one document")
        return self._budget.ends_slice(nodes)

    def _collection(self, position: int, level: int) -> Slices[tuple[Any, int]]:
        if level > MAX_NESTING:
            raise _UnfitError(TOO_DEEP)
        text, items, members = self._text, list[Any](), dict[str, Any]()
        is_list = text[position] == "["
        closing = "]" if is_list else "}"
        end, key, delimiter = after_blanks(text, position + 1), None, ","
        if text[end : end + 1] == closing:
            delimiter, end = closing, end + 1
        while delimiter == ",":
            if not is_list:
                key, end = self._key(end)
            if text[end : end + 1] in _OPENINGS:
                item, end = yield from self._collection(end, level + 1)
            else:
                item, end = self._scalar(text, end)
            if self._costs(1 if key is None else 2, end):
                yield
            if key is None:
                items.append(item)
            else:
                members[key] = item
            delimiter, end = self._after(end, ",", closing)
        return items if is_list else members, end

    def _key(self, position: int) -> tuple[str, int]:
        if self._text[position : position + 1] != '"':
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self._text, position)
        key, end = self._scalar(self._text, position)
        return self._keys.setdefault(key, key), self._after(end, ":")[1]

    def _after(self, position: int, *delimiters: str) -> tuple[str, int]:
        """The delimiter that comes next, and where the blanks behind it end."""
        found = _DELIMITER.match(self._text, position)
        if found is None or found[1] not in delimiters:
            at = after_blanks(self._text, position)
            raise json.JSONDecodeError(f"Expecting '{delimiters[0]}' delimiter", self._text, at)
        return found[1], found.end()
