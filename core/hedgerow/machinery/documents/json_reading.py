"""The values of a JSON text; large ones are read in slices.

Refuses what Python's reader accepts and no API server does: NaN, endless numbers, endless nesting, halves of
characters. A number means what it means in YAML, so a whole one is an integer in any spelling. Python's reader cannot
be interrupted and counts no nodes; the one that reads in slices has the same results and errors.
"""

import json
import re
from collections.abc import Iterable, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing in the stubs
from typing import Any, Final

from hedgerow.machinery.documents.budget import CHARACTERS_OF_A_NODE, SEARCHED_AT_ONCE, SLICE, ReadingBudget, Slices
from hedgerow.machinery.documents.document import (
    MAX_NESTING,
    TOO_DEEP,
    Document,
    NotInJson,
    plain_value,
    repeated_key,
)

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_ESCAPED_SURROGATE: Final = re.compile(r"\\[uU](?:0000)?[dD][89a-fA-F]")
_LONGEST_ESCAPE: Final = len(r"\U0000d800")
_HALF_A_CHARACTER: Final = "an escape such as \\ud800 stands for half a character"
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: Final = {"n": ("null", None), "t": ("true", True), "f": ("false", False)}
_CONSTANTS: Final = ("NaN", "Infinity", "-Infinity")


class JsonReader:
    """Reads values from texts, each with all its problems."""

    def __init__(self, *, is_strict: bool = True) -> None:
        """A strict or a lenient reader."""
        self._is_strict = is_strict
        self._problems: list[str] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._mapping if is_strict else None,
            parse_int=self.integer,
            parse_float=self.number,
            parse_constant=self.constant,
        )

    def read(self, text: str, position: int) -> tuple[Document, int]:
        """The value that begins at a position, and where it ends.

        Raises:
            JSONDecodeError: there is none; `problems` has those found before.
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
        """The problems of the last value, as far as it was read."""
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
            if isinstance(value.instead, int | float) and not self._is_strict:
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
        """Add the problem of a number that JSON does not know."""
        self._problems.append(f"{name} is not a number that JSON knows")


def after_blanks(text: str, position: int) -> int:
    """Where the next value begins, or the end of the text."""
    found = _BLANKS.match(text, position)
    return found.end() if found else position


def checked_for_halves(documents: Iterable[Document], text: str, budget: ReadingBudget) -> Slices[tuple[Document, ...]]:
    """The documents, with a problem where an escape left half of a surrogate pair, which no server accepts."""
    if not (yield from _has_escaped_surrogate(text, budget)):
        return tuple(documents)
    checked: list[Document] = []
    for document in documents:
        is_whole = document.problems or _is_unicode(document.value)
        checked.append(document if is_whole else Document(None, (_HALF_A_CHARACTER,)))
        budget.ends_slice(SLICE)
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
    """True if a value has more than the most levels of lists and mappings."""
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


def read_in_slices(reader: JsonReader, text: str, position: int, budget: ReadingBudget) -> Slices[tuple[Document, int]]:
    """The value at a position, and where it ends; the end of the text if the value is too deep or too large.

    Raises:
        JSONDecodeError: there is none.
        OverBudgetError: the budget ends before the value does.
    """
    reader.begin()
    tree, end, most = _Tree(reader, text), position, budget.nodes_of_next_document
    before = budget.nodes
    while True:
        begin, known = end, tree.keys
        end = tree.read(end)
        if tree.is_too_deep:
            return Document(None, (*reader.problems, TOO_DEEP)), len(text)
        cost = 1 + tree.keys - known + (end - begin) // CHARACTERS_OF_A_NODE
        budget.spend(nodes=cost)
        if budget.nodes - before > most:
            return Document(None, (f"more than {most} values in one document",)), len(text)
        if tree.is_complete:
            return Document(tree.value, reader.problems), end
        if budget.ends_slice(cost):
            yield


class _Tree:
    """A value as far as it was read."""

    def __init__(self, reader: JsonReader, text: str) -> None:
        self.value: Any = None
        """The value that was read last."""
        self.keys = 0
        """How many keys were read."""
        self.is_complete = False
        self.is_too_deep = False
        self._reader = reader
        self._text = text
        self._open: list[dict[str, Any] | list[Any]] = []
        self._next_keys: list[str] = []
        """For each of those the key whose value comes next."""
        self._known_keys: dict[str, str] = {}

    def read(self, position: int) -> int:
        """Read a scalar, or the beginning of a list or mapping with its first key, and the ends behind it."""
        opening = self._text[position : position + 1]
        if opening not in {"{", "["}:
            self.value, end = self._scalar(position, opening)
            return self._place(end)
        self.value = {} if opening == "{" else []
        self.is_too_deep = len(self._open) >= MAX_NESTING
        end = after_blanks(self._text, position + 1)
        if self._text[end : end + 1] == _closing(self.value):
            return self._place(end + 1)
        self._open.append(self.value)
        self._next_keys.append("")
        return self._next(end)

    def _place(self, end: int) -> int:
        """Add the value to its list or mapping, and complete those that end behind it."""
        while self._open:
            holder = self._open[-1]
            if isinstance(holder, dict):
                holder[self._next_keys[-1]] = self.value
            else:
                holder.append(self.value)
            end = after_blanks(self._text, end)
            follows = self._text[end : end + 1]
            if follows == ",":
                return self._next(after_blanks(self._text, end + 1))
            if follows != _closing(holder):
                raise self._error("Expecting ',' delimiter", end)
            self.value, end = self._open.pop(), end + 1
            self._next_keys.pop()
        self.is_complete = True
        return end

    def _next(self, position: int) -> int:
        """Read the key of the next value, if it has one."""
        if isinstance(self._open[-1], list):
            return position
        if self._text[position : position + 1] != '"':
            raise self._error("Expecting property name enclosed in double quotes", position)
        key, end = scanstring(self._text, position + 1, True)  # noqa: FBT003 -- takes no keyword
        self.keys += 1
        self._next_keys[-1] = self._known_keys.setdefault(key, key)
        end = after_blanks(self._text, end)
        if self._text[end : end + 1] != ":":
            raise self._error("Expecting ':' delimiter", end)
        return after_blanks(self._text, end + 1)

    def _scalar(self, position: int, opening: str) -> tuple[Any, int]:
        text = self._text
        if opening == '"':
            value: tuple[Any, int] = scanstring(text, position + 1, True)  # noqa: FBT003 -- as above
            return value
        word, meaning = _WORDS.get(opening, ("", None))
        if word and text.startswith(word, position):
            return meaning, position + len(word)
        if number := _NUMBER.match(text, position):
            digits, fraction, exponent = number.groups()
            is_whole = fraction is None and exponent is None
            return self._reader.integer(digits) if is_whole else self._reader.number(number[0]), number.end()
        for constant in _CONSTANTS:
            if text.startswith(constant, position):
                self._reader.constant(constant)
                return None, position + len(constant)
        raise self._error("Expecting value", position)

    def _error(self, problem: str, position: int) -> json.JSONDecodeError:
        return json.JSONDecodeError(problem, self._text, position)


def _closing(holder: Any) -> str:
    return "}" if isinstance(holder, dict) else "]"
