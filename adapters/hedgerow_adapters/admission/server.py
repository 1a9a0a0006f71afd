"""Serves admission reviews over HTTPS. Requests that hold no review are refused by their HTTP status.

Expected flow: a server is made, its `check` says that it is not ready; within `serving` it listens. Guarantees: every
new connection is shown the newest certificate; clients are kept within limits as `listening` says; after `leave` it
answers for as long as the limits say; reviews under way are answered before it stops. HTTP/1.1 is the only protocol, as
API servers use it to call webhooks.

Source: webhooks-and-tokens §3.1, §3.2.
"""

import asyncio
import contextlib
import math
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol, cast

from aiohttp import web

from hedgerow_adapters.admission.exchange import Exchange, TooLargeError
from hedgerow_adapters.admission.reviewer import AdmissionObserver
from hedgerow_adapters.listening import connections
from hedgerow_adapters.listening.accepting import Listener
from hedgerow_adapters.listening.connection import SERVER, Connection, refusal
from hedgerow_adapters.listening.connections import CrowdedError, FileBudget
from hedgerow_adapters.listening.server import HttpServer

CHECK_PATIENCE: Final = 10.0
"""Seconds that the server has to answer itself."""
RETRY_AFTER: Final = 1
_HEADERS: Final = {"Content-Type": "application/json", "Server": SERVER}


@dataclass(frozen=True, slots=True)
class Limits(connections.Limits):
    """Times are in seconds, sizes in bytes. Source: webhooks-and-tokens §3.1."""

    connections: int = 1024
    """Three API servers with the usual 200 changes in flight each need 600 at most."""
    request: float = 32.0
    """No API server waits for more than 30."""
    held: int = 48 * 2**20
    body: int = 7 * 2**20
    """Of one request."""
    farewell: float = 10.0
    """For how long the server takes new requests after `leave`: API servers learn of it later."""
    drain: float = 11.0
    """After that, for how long reviews under way may take: none takes longer than 10 s."""


class ServingCertificate(Protocol):
    """The certificate that the server shows."""

    @property
    def context(self) -> ssl.SSLContext:
        """The settings for a connection that is made now."""
        ...

    @property
    def problem(self) -> str | None:
        """Why API servers cannot be answered; none: they can."""
        ...

    async def watch(self) -> None:
        """Keep it the newest until cancelled."""
        ...


class AdmissionServer:
    """The server of one process."""

    def __init__(
        self,
        where: Listener,
        certificates: ServingCertificate,
        exchange: Exchange,
        *,
        limits: Limits = Limits(),
        files: FileBudget | None = None,
        observer: AdmissionObserver,
    ) -> None:
        self._where = where
        self._certificates = certificates
        self._limits = limits
        self._exchange = exchange
        self._observer = observer
        self._http = HttpServer(
            "webhooks",
            where,
            self.respond,
            limits=limits,
            files=files,
            observer=observer,
            tls=lambda: certificates.context,
        )
        self._port: int | None = None
        self._is_leaving = False
        """Whether the server is about to stop: each answer is then the last one of its connection."""
        self._under_way = 0
        self._ended = asyncio.Event()
        self._stays_until = -math.inf

    def leave(self) -> None:
        """Close connections with their next answers, and stay for the time of `Limits.farewell` from now on."""
        self._is_leaving = True
        self._stays_until = asyncio.get_running_loop().time() + self._limits.farewell

    async def check(self) -> str | None:
        """Why API servers cannot ask the server; none: they can. Tries to make a connection."""
        if self._port is None:
            return "webhook server has not been started yet"
        if (problem := self._certificates.problem) is not None:
            return problem
        address = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._where.address, self._where.address)  # noqa: S104 -- compared, not listened on
        anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
        try:
            async with asyncio.timeout(CHECK_PATIENCE):
                _, writer = await asyncio.open_connection(address, self._port, ssl=anybody)
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError) as error:
            return f"webhook server is not reachable: {str(error) or 'no answer'}"
        return None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[int]:
        """Serve until the context is left, and after `leave` at least for its time; yields the port, or ListenError."""
        self._port = port = self._http.open()
        watching = asyncio.create_task(self._certificates.watch())
        try:
            yield port
        finally:
            await asyncio.sleep(self._stays_until - asyncio.get_running_loop().time())
            self._port = None
            self._is_leaving = True
            self._http.close_door()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.drain):
                    while self._under_way:
                        self._ended.clear()
                        await self._ended.wait()
            await self._http.close()
            self._exchange.close()
            watching.cancel()
            await asyncio.wait({watching})

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
        if self._is_leaving or "Upgrade" in request.headers:
            response.force_close()
        return response

    def _crowded(self, path: str, request: web.BaseRequest, problem: str) -> web.Response:
        """The answer to a review for which there is no room now.

        API servers take every status but 200 for a failed call, which the registration's `failurePolicy` decides.
        Their client, client-go, tries again after `Retry-After` for as long as the registration's timeout lasts.

        Source: Kubernetes documentation, "Dynamic Admission Control", "Failure policy" and "Timeouts".
        """
        self._observer.crowded_out(path, problem)
        return _refusal(request, HTTPStatus.TOO_MANY_REQUESTS, **{"Retry-After": str(RETRY_AFTER)})


async def _body(request: web.BaseRequest, limit: int) -> bytes | bytearray:
    """What a request holds; raises TooLargeError if that is more than the limit."""
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
    return refusal(status, closes=not request.content.is_eof(), **headers)
