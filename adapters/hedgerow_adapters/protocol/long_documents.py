"""Decodes a long JSON text in slices: a parser in C keeps every other thread and the event loop waiting to its end.

The members of the outermost object are decoded one by one, and so are the elements of a list among them, such as the
objects of a page. A slice ends with the value that makes it long enough.
"""

import re
from collections.abc import Generator, Iterator
from typing import Any, Final

from hedgerow_adapters.protocol.json_codec import decode_at

SLICE_LENGTH: Final = 256 * 1024
"""Characters that are decoded without a pause, a few milliseconds."""
_SPACE: Final = re.compile(r"[ \t\n\r]*")


def decoding(content: bytes) -> Generator[None, None, Any]:
    """The value of a UTF-8 text, or a ValueError, at the end of a generator that pauses after each slice."""
    cursor = _Cursor(content.decode())
    value = yield from _object(cursor) if cursor.shows("{") else _element(cursor)
    if not cursor.is_at_end:
        raise ValueError("something follows the value")
    return value


class _Cursor:
    """A place in a text, always before something else than space."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = self._paused_at = 0
        self._move(0)

    @property
    def is_at_end(self) -> bool:
        return self._position == len(self._text)

    def ends_slice(self) -> bool:
        """Whether a slice is long enough, so that the next one begins here."""
        if self._position - self._paused_at < SLICE_LENGTH:
            return False
        self._paused_at = self._position
        return True

    def shows(self, character: str) -> bool:
        return self._text.startswith(character, self._position)

    def expect(self, character: str) -> None:
        if not self.shows(character):
            raise ValueError(f"{character} is missing")
        self._move(self._position + 1)

    def entries(self, start: str, end: str) -> Iterator[None]:
        """Stop before each of the entries between two brackets; ends behind them."""
        self.expect(start)
        if not self.shows(end):
            yield
        while not self.shows(end):
            self.expect(",")
            yield
        self.expect(end)

    def value(self) -> Any:
        """The value that comes next, whole."""
        value, position = decode_at(self._text, self._position)
        self._move(position)
        return value

    def _move(self, position: int) -> None:
        found = _SPACE.match(self._text, position)
        self._position = found.end() if found else position


def _object(cursor: _Cursor) -> Generator[None, None, dict[str, Any]]:
    members: dict[str, Any] = {}
    for _ in cursor.entries("{", "}"):
        if not cursor.shows('"'):
            raise ValueError("a name is missing")
        name = cursor.value()
        cursor.expect(":")
        members[name] = yield from _list(cursor) if cursor.shows("[") else _element(cursor)
    return members


def _list(cursor: _Cursor) -> Generator[None, None, list[Any]]:
    elements: list[Any] = []
    for _ in cursor.entries("[", "]"):
        elements.append((yield from _element(cursor)))  # noqa: PERF401 -- a comprehension cannot pause
    return elements


def _element(cursor: _Cursor) -> Generator[None, None, Any]:
    value = cursor.value()
    if cursor.ends_slice():
        yield
    return value
