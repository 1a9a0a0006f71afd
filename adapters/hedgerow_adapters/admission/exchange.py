"""From the body of an HTTP request to the body of its answer: an AdmissionReview each.

Every body gets an answer, unless there is no room to parse it. A review waits for caches before it is parsed, as its
text takes less memory.

Source: webhooks-and-tokens §3.2.
"""

import asyncio
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qs

from returns.pipeline import is_successful

from hedgerow.admission.decision import Decision, bad_request, internal_error
from hedgerow.admission.review import BadReview, Review, answer, parse_review
from hedgerow.machinery.scalars import parse_duration
from hedgerow_adapters.admission.computing import AT_ONCE, BesideLoop
from hedgerow_adapters.admission.parsing import HUGE, LONG, CrowdedError, Parsing, parsed, parsed_size
from hedgerow_adapters.admission.reviewer import AdmissionObserver, Reviewer
from hedgerow_adapters.protocol import json_codec

CONTENT_TYPE: Final = "application/json"
LONGEST_PATIENCE: Final = 10.0
"""Seconds that a review may take; less where an API server says that it waits for less."""
_SHARE: Final = 0.9
"""Of the time that an API server waits, so that the answer arrives before it hangs up."""
_LAST_CALL: Final = 1.05
"""Of the time that a review may take: one that waited for caches in vain is still parsed, to be denied by its uid."""


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
        """The answer to a review.

        Args:
            path: one of `paths`.
            query: of the URL.
            content_type: as it was sent; with another one than JSON the review is denied.
            body: the review.

        Raises:
            CrowdedError: for as long as its client waits, other reviews took all the room to parse it, or it is huge
                and caches were not complete.
            TooLargeError: there is never room to parse it.
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


@lru_cache(maxsize=64)
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
