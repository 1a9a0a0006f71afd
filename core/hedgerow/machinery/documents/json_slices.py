"""The value of a large JSON text, read in slices: Python's own reader is not interruptible, and counts no nodes.

Reads what `JsonReader` reads in the manner of kubectl, and refuses the same with the same errors.
"""

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing in the stubs
from typing import Any, Final

from hedgerow.machinery.documents.budget import CHARACTERS_OF_A_NODE, ReadingBudget
from hedgerow.machinery.documents.document import MAX_NESTING, TOO_DEEP, Document
from hedgerow.machinery.documents.json_values import JsonReader, after_blanks
from hedgerow.machinery.slices import Slices

_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: Final = {"n": ("null", None), "t": ("true", True), "f": ("false", False)}
_CONSTANTS: Final = ("NaN", "Infinity", "-Infinity")


def read_in_slices(reader: JsonReader, text: str, position: int, budget: ReadingBudget) -> Slices[tuple[Document, int]]:
    """The value that begins at a position, and where it ends; nothing is read behind one that is too deep or too large.

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
        budget.spend_nodes(cost)
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
        """Read a scalar, or the beginning of a list or mapping with its first key, and what ends behind it."""
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
        """Put the value where it belongs, with all lists and mappings that end behind it."""
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
