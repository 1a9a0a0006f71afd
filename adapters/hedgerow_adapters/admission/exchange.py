"""From the body of an HTTP request to the body of its answer: an AdmissionReview each.

Every body gets an answer, unless there is no room to parse it: a parsed document takes up to 40 times the memory of its
text, so the number of reviews says nothing. The size is estimated from the text before it is parsed. Small reviews
always find room beside large ones. To parse a huge one blocks the event loop for up to 50 ms, so there is one at a
time, and others are served between two of them. A review waits for caches before it is parsed, as its text takes less
memory.

Source: webhooks-and-tokens §3.2.
"""

import asyncio
import contextlib
import functools
import gc
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qs

from returns.pipeline import is_successful

from hedgerow.admission.review import BadReview, Review, answer, parse_review
from hedgerow.admission.webhook import Decision, bad_request, internal_error
from hedgerow.machinery.scalars import parse_duration
from hedgerow_adapters.admission.reviewer import AT_ONCE, AdmissionObserver, BesideLoop, Reviewer
from hedgerow_adapters.listening.connections import CrowdedError
from hedgerow_adapters.protocol import json_codec

CONTENT_TYPE: Final = "application/json"
LONGEST_PATIENCE: Final = 10.0
"""Seconds that a review may take; less where an API server says that it waits for less."""
_SHARE: Final = 0.9
"""Of the time that an API server waits, so that the answer arrives before it hangs up."""
_LAST_CALL: Final = 1.05
"""Of the time that a review may take: one that waited for caches in vain is still parsed, to be denied by its uid."""
MOST: Final = 112 * 2**20
"""Bytes of all parsed reviews together. An object that can be stored has at most 1.5 MiB, and a review holds two."""
SMALL: Final = 2**20
"""Bytes of a parsed review that may use the share of `MOST` that large ones leave."""
SHARE_OF_SMALL: Final = 16 * 2**20
HUGE: Final = 16 * 2**20
"""Bytes of a parsed review that is alone among large ones."""
LONG: Final = 4 * 2**20
"""Bytes of a parsed review that is computed beside the event loop, which it would block for some 30 ms."""
REST: Final = 0.05
"""Seconds from the end of a huge review to the beginning of another large one."""
LARGE_BODY: Final = 64 * 2**10
"""Bytes of a body that is worth a closer estimate."""
COUNTED_AT_ONCE: Final = 2**20
"""Bytes of a body for an estimate, in some milliseconds."""
_MOST_PER_BYTE: Final = 40
_BYTES_PER: Final = ((b"{", 96), (b"[", 88), (b":", 136), (b",", 60), (b'"', 35))
"""Of an object, a list, a member, an element and half a string, the parser's own memory included."""


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
    """The parsed reviews of one server; large ones get room in their order, and so do small ones."""

    def __init__(self, most: int = MOST, share_of_small: int = SHARE_OF_SMALL) -> None:
        """No review yet; all may take `most` bytes, of which only small ones may use their share."""
        self._most = most
        self._most_of_large = most - share_of_small
        self._large = _Used()
        self._small = _Used()

    def check(self, size: int) -> None:
        """Raise TooLargeError for a review that is larger than the room for all large ones."""
        if size > self._most_of_large:
            raise TooLargeError

    @contextlib.asynccontextmanager
    async def room_for(self, size: int, deadline: float) -> AsyncIterator[None]:
        """Wait for room for a parsed review, and keep it; raises CrowdedError at a deadline of the loop's clock."""
        used, is_huge = (self._large if size > SMALL else self._small), size > HUGE
        room = self._most_of_large if is_huge else size
        waiter = asyncio.get_running_loop().create_future()
        used.waiting[waiter] = room
        self._give_room()
        if not waiter.done():
            await self._wait(used, waiter, deadline)
        give_back = functools.partial(self._give_back, used, room)
        try:
            with _no_search_for_cycles() if is_huge else contextlib.nullcontext():
                yield
        finally:
            if is_huge:
                asyncio.get_running_loop().call_later(REST, give_back)
            else:
                give_back()

    async def _wait(self, used: "_Used", waiter: asyncio.Future[None], deadline: float) -> None:
        room = used.waiting[waiter]
        try:
            async with asyncio.timeout_at(deadline):
                await waiter
        except BaseException as error:
            is_given = used.waiting.pop(waiter, None) is None and not waiter.cancelled()
            self._give_back(used, room if is_given else 0)
            if isinstance(error, TimeoutError):
                raise CrowdedError("parsed reviews take as many bytes as they may") from None
            raise

    def _give_room(self) -> None:
        """Let reviews begin in their order; while a large one waits, small ones use no more than their share."""
        large, small = self._large, self._small
        large.give(min(self._most_of_large, self._most - small.taken))
        small.give(self._most - (self._most_of_large if large.waiting else large.taken))

    def _give_back(self, used: "_Used", room: int) -> None:
        used.taken -= room
        self._give_room()


class _Used:
    def __init__(self) -> None:
        self.taken = 0
        self.waiting: dict[asyncio.Future[None], int] = {}

    def give(self, most: int) -> None:
        """Give room to those that wait, as long as no more than so many bytes are taken."""
        for waiter, room in [*self.waiting.items()]:
            if waiter.cancelled():
                continue
            if self.taken + room > most:
                return
            del self.waiting[waiter]
            self.taken += room
            waiter.set_result(None)


def parsed(body: bytes | bytearray) -> Any:
    """The document of a body; raises ValueError if it is no JSON."""
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


class Exchange:
    """Answers reviews at the paths of a reviewer."""

    def __init__(self, reviewer: Reviewer, observer: AdmissionObserver) -> None:
        self.paths: Final = reviewer.paths
        self._reviewer = reviewer
        self._observer = observer
        self._parsing = Parsing()
        self._beside_loop = BesideLoop()

    def close(self) -> None:
        """Give up long reviews that have not begun, and end their thread."""
        self._beside_loop.close()

    async def answer(self, path: str, query: str, content_type: str, body: bytes | bytearray) -> bytes:
        """The answer to a review at one of `paths`; with another content type than JSON it is denied.

        Raises TooLargeError if there is never room to parse it. Raises CrowdedError if, for as long as its client
        waits, other reviews took all the room, or if it is huge and caches were not complete.
        """
        limit, began = patience(query), asyncio.get_running_loop().time()
        size = await parsed_size(body)
        self._parsing.check(size)
        if not await self._reviewer.wait_for_caches(path, limit) and size > HUGE:
            raise CrowdedError("the caches are not complete, and a huge review is not parsed in vain")
        async with self._parsing.room_for(size, deadline=began + limit * _LAST_CALL):
            review = _review_in(body)
            if isinstance(review, BadReview):
                self._observer.unreadable(path, review.message)
                return _written(review, review.decision)
            if content_type.partition(";")[0].strip().lower() != CONTENT_TYPE:
                problem = f"contentType={content_type}, expected {CONTENT_TYPE}"
                self._observer.unreadable(path, problem)
                return _written(review, bad_request(problem))
            computing = self._beside_loop if size > LONG else AT_ONCE
            spent = asyncio.get_running_loop().time() - began
            decision = await self._reviewer.review(path, review.request, limit, spent, computing)
            try:
                return await computing.run(lambda: _written(review, decision))
            except Exception as error:  # noqa: BLE001 -- a decision that cannot be written denies the one operation
                self._observer.raised(path, review.request, error)
                return _written(review, internal_error(f"panic: {error} [recovered]"))


@functools.lru_cache(maxsize=64)
def patience(query: str) -> float:
    """For how many seconds the client waits, as API servers say with `timeout=10s`, less a tenth."""
    stated = parse_qs(query).get("timeout", [""])[0]
    seconds: float = parse_duration(stated).map(timedelta.total_seconds).value_or(0.0)
    return min(seconds * _SHARE, LONGEST_PATIENCE) if seconds > 0 else LONGEST_PATIENCE


def _review_in(body: bytes | bytearray) -> Review | BadReview:
    try:
        document: Any = parsed(body)
    except ValueError as error:
        return BadReview(str(error))
    review = parse_review(document)
    return review.unwrap() if is_successful(review) else review.failure()


def _written(review: Review | BadReview, decision: Decision) -> bytes:
    return json_codec.encode(answer(review.api_version, review.uid, decision, json_codec.encode))
