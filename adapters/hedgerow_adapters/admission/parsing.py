"""How many reviews are parsed at a time: a budget for the memory of parsed documents.

A parsed document takes up to 40 times the memory of its text, so the number of reviews says nothing. The size is
estimated from the text before it is parsed. Small reviews always find room beside large ones.
"""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from hedgerow_adapters.protocol import json_codec

MOST: Final = 112 * 2**20
"""Bytes of all parsed reviews together. An object that can be stored has at most 1.5 MiB, and a review holds two."""
SMALL: Final = 2**20
"""Bytes of a parsed review that may use the share of `MOST` that large ones leave."""
SHARE_OF_SMALL: Final = 16 * 2**20
LARGE_BODY: Final = 64 * 2**10
"""Bytes of a body that is worth a closer estimate."""

_MOST_PER_BYTE: Final = 40
_BYTES_PER: Final = ((b"{", 96), (b"[", 88), (b":", 136), (b",", 60), (b'"', 35))
"""Of an object, a list, a member, an element and half a string, the parser's own memory included."""


class CrowdedError(Exception):
    """There is no room for a request now; its client may try again soon."""


class TooLargeError(Exception):
    """There is never room for a request."""


def parsed_size(body: bytes | bytearray) -> int:
    """The bytes that a document takes at most while it is parsed and afterwards, estimated from its text.

    Measured with orjson and CPython 3.11: `[[]],` takes 38 bytes for each of its text, Pods about 15, and their
    estimate is 27.
    """
    if len(body) <= LARGE_BODY:
        return _MOST_PER_BYTE * len(body)
    return len(body) + sum(size * body.count(character) for character, size in _BYTES_PER)


class Parsing:
    """The reviews of one server that are parsed, from before until their answers are written."""

    def __init__(self, most: int = MOST, share_of_small: int = SHARE_OF_SMALL) -> None:
        """No review yet.

        Args:
            most: bytes of all.
            share_of_small: bytes that only small ones may use.
        """
        self._most = most
        self._most_of_large = most - share_of_small
        self._used = 0
        self._freed = asyncio.Condition()

    def check(self, size: int) -> None:
        """Refuse a review that is larger than the room for all large ones.

        Raises:
            TooLargeError: it is.
        """
        if size > self._most_of_large:
            raise TooLargeError

    @contextlib.asynccontextmanager
    async def room_for(self, size: int, deadline: float) -> AsyncIterator[None]:
        """Wait until there is room for a parsed review, and keep it until the context is left.

        Args:
            size: of the parsed review.
            deadline: of the wait, by the loop's clock.

        Raises:
            CrowdedError: the deadline passed.
        """
        most = self._most if size <= SMALL else self._most_of_large
        if self._used + size > most:
            await self._wait_until(most - size, deadline)
        self._used += size
        try:
            yield
        finally:
            self._used -= size
            async with self._freed:
                self._freed.notify_all()

    async def _wait_until(self, used: int, deadline: float) -> None:
        try:
            async with asyncio.timeout_at(deadline), self._freed:
                await self._freed.wait_for(lambda: self._used <= used)
        except TimeoutError:
            raise CrowdedError from None


def parsed(body: bytes | bytearray) -> Any:
    """The document of a body.

    Raises:
        ValueError: it is no JSON.
    """
    with _no_search_for_cycles() if len(body) > LARGE_BODY else contextlib.nullcontext():
        return json_codec.decode(body)


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """A parser makes none, and to search for them while millions of values appear takes several times as long."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
