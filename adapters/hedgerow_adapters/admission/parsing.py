"""How many reviews are parsed at a time: a budget for the memory of parsed documents, and for the time that it takes.

A parsed document takes up to 40 times the memory of its text, so the number of reviews says nothing. The size is
estimated from the text before it is parsed. Small reviews always find room beside large ones. A huge one keeps the
event loop busy for 50 ms and more, so there is one at a time, and others are served between two of them.
"""

import asyncio
import contextlib
import functools
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from hedgerow_adapters.protocol import json_codec

MOST: Final = 112 * 2**20
"""Bytes of all parsed reviews together. An object that can be stored has at most 1.5 MiB, and a review holds two."""
SMALL: Final = 2**20
"""Bytes of a parsed review that may use the share of `MOST` that large ones leave."""
SHARE_OF_SMALL: Final = 16 * 2**20
HUGE: Final = 16 * 2**20
"""Bytes of a parsed review that is alone among large ones."""
REST: Final = 0.05
"""Seconds from the end of a huge review to the beginning of another large one."""
LARGE_BODY: Final = 64 * 2**10
"""Bytes of a body that is worth a closer estimate."""
COUNTED_AT_ONCE: Final = 2**20
"""Bytes of a body for an estimate, in some milliseconds."""

_MOST_PER_BYTE: Final = 40
_BYTES_PER: Final = ((b"{", 96), (b"[", 88), (b":", 136), (b",", 60), (b'"', 35))
"""Of an object, a list, a member, an element and half a string, the parser's own memory included."""


class CrowdedError(Exception):
    """There is no room for a request now, for the reason in the text; its client may try again soon."""


class TooLargeError(Exception):
    """There is never room for a request."""


async def parsed_size(body: bytes | bytearray) -> int:
    """The bytes that a document takes at most while it is parsed and afterwards, estimated from its text.

    Measured with orjson and CPython 3.11: `[[]],` takes 38 bytes for each of its text, Pods about 15, and their
    estimate is 27.
    """
    if len(body) <= LARGE_BODY:
        return _MOST_PER_BYTE * len(body)
    estimate = len(body)
    for start in range(0, len(body), COUNTED_AT_ONCE):
        if start:
            await asyncio.sleep(0)
        end = start + COUNTED_AT_ONCE
        estimate += sum(size * body.count(character, start, end) for character, size in _BYTES_PER)
    return estimate


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
        self._used_by_large = 0
        self._freed = asyncio.Event()

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
        is_large, is_huge = size > SMALL, size > HUGE
        room = self._most_of_large if is_huge else size
        if not self._has(room, is_large=is_large):
            await self._wait_for(room, deadline, is_large=is_large)
        self._take(room, is_large=is_large)
        try:
            with _no_search_for_cycles() if is_huge else contextlib.nullcontext():
                yield
        finally:
            let_go = functools.partial(self._take, -room, is_large=is_large)
            if is_huge:
                asyncio.get_running_loop().call_later(REST, let_go)
            else:
                let_go()

    def _has(self, room: int, *, is_large: bool) -> bool:
        fits_among_large = not is_large or self._used_by_large + room <= self._most_of_large
        return fits_among_large and self._used + room <= self._most

    async def _wait_for(self, room: int, deadline: float, *, is_large: bool) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                while not self._has(room, is_large=is_large):
                    self._freed.clear()
                    await self._freed.wait()
        except TimeoutError:
            raise CrowdedError("parsed reviews take as many bytes as they may") from None

    def _take(self, room: int, *, is_large: bool) -> None:
        """Use so much more room, or so much less."""
        self._used += room
        self._used_by_large += room if is_large else 0
        self._freed.set()


def parsed(body: bytes | bytearray) -> Any:
    """The document of a body.

    Raises:
        ValueError: it is no JSON.
    """
    with _no_search_for_cycles() if len(body) > LARGE_BODY else contextlib.nullcontext():
        return json_codec.decode(body)


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """A parser makes none, and to search for them among millions of values takes as long as to parse them."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
