"""Answers HTTP requests: what is no review is refused by its status, and a review gets the answer of `exchange`.

Source: webhooks-and-tokens §3.1, §3.2.
"""

import asyncio
import time
from http import HTTPStatus
from typing import Final, cast

from aiohttp import web

from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.limits import Limits
from hedgerow_adapters.admission.observer import AdmissionObserver
from hedgerow_adapters.admission.parsing import CrowdedError, TooLargeError
from hedgerow_adapters.listening import Connection, RefusedError, refusal
from hedgerow_adapters.listening.connection import SERVER

RETRY_AFTER: Final = 1
"""Seconds."""
_HEADERS: Final = {"Content-Type": "application/json", "Server": SERVER}


class Desk:
    """Where the requests of all connections come to."""

    def __init__(self, exchange: Exchange, limits: Limits, observer: AdmissionObserver) -> None:
        self.is_leaving = False
        """Whether the server is about to stop: then each answer is the last one of its connection."""
        self._exchange = exchange
        self._limits = limits
        self._observer = observer
        self._under_way = 0
        self._ended = asyncio.Event()

    async def settled(self) -> None:
        """Return when no request is being reviewed."""
        while self._under_way:
            self._ended.clear()
            await self._ended.wait()

    async def respond(self, request: web.BaseRequest) -> web.Response:
        """The answer to a request at any path."""
        path = request.path
        if path not in self._exchange.paths:
            return _refusal(request, HTTPStatus.NOT_FOUND)
        began = time.perf_counter()  # event loops may count whole milliseconds only
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)
        self._observer.began(path)
        try:
            response = await self._answer(path, request)
            status = response.status
            return response
        finally:
            self._observer.answered(path, status, time.perf_counter() - began)

    async def _answer(self, path: str, request: web.BaseRequest) -> web.Response:
        if request.method != "POST":
            return _refusal(request, HTTPStatus.METHOD_NOT_ALLOWED, Allow="POST")
        try:
            return await self._reviewed(path, request)
        except (web.RequestPayloadError, ConnectionError) as error:
            self._observer.malformed(type(error).__name__)
            return _refusal(request, HTTPStatus.BAD_REQUEST)
        except TooLargeError:
            return _refusal(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except RefusedError:
            return self._crowded(path, request, "requests hold as many bytes as they may")
        except CrowdedError as error:
            return self._crowded(path, request, str(error))

    async def _reviewed(self, path: str, request: web.BaseRequest) -> web.Response:
        connection = cast("Connection", request.protocol)
        async with connection.receiving():
            body = await _body(request, self._limits.body)
        connection.begin()
        self._under_way += 1
        try:
            content_type = request.headers.get("Content-Type", "")
            answer = await self._exchange.answer(path, request.rel_url.raw_query_string, content_type, body)
        finally:
            connection.rest()
            self._under_way -= 1
            self._ended.set()
        response = web.Response(body=answer, headers=_HEADERS)
        if self.is_leaving or "Upgrade" in request.headers:
            response.force_close()
        return response

    def _crowded(self, path: str, request: web.BaseRequest, problem: str) -> web.Response:
        """The answer to a review for which there is no room now.

        API servers take every status but 200 for a failed call, which the registration's `failurePolicy` decides, and
        client-go, by which they call, tries again after `Retry-After` for as long as the registration's timeout lasts.

        Source: Kubernetes documentation, "Dynamic Admission Control", "Failure policy" and "Timeouts".
        """
        self._observer.crowded_out(path, problem)
        return _refusal(request, HTTPStatus.TOO_MANY_REQUESTS, **{"Retry-After": str(RETRY_AFTER)})


async def _body(request: web.BaseRequest, limit: int) -> bytes | bytearray:
    """What a request holds.

    Raises:
        TooLargeError: that is more than the limit.
    """
    if (request.content_length or 0) > limit:
        raise TooLargeError
    if request.content.is_eof():
        return request.content.read_nowait()
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    body = bytearray()
    while piece := await request.content.readany():
        body += piece
        if len(body) > limit:
            raise TooLargeError
    return body


def _refusal(request: web.BaseRequest, status: HTTPStatus, **headers: str) -> web.Response:
    """An answer without a review; what the client still sends is not waited for."""
    return refusal(status, closes=not request.content.is_eof(), **headers)
