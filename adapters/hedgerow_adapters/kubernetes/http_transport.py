"""Carries requests to one API server over HTTP, and says when that cannot be reached.

Everything that the server says is an answer, whatever its status; everything else is a TransportError. What an answer
means is not decided here.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, Self
from urllib.parse import urlsplit

import aiohttp

from hedgerow_adapters.kubernetes import answers
from hedgerow_adapters.kubernetes.credentials import Connection, Credentials
from hedgerow_adapters.kubernetes.http_session import body_of, headers_of, may_send_now, new_session, url_of
from hedgerow_adapters.kubernetes.pacing import Outage, TimeLimit, asked, bounded, throttle, wait_before_retry
from hedgerow_adapters.protocol.transport import NotSentError, Request, Response, Stream, TransportError

OPENING_TIMEOUT: Final = 30.0
"""Seconds for the answer to a watch to begin, which a server sends before it has any event."""
RENEWAL_CHECKED_EVERY: Final = 30.0
"""Seconds within which a silent watch ends after its credentials or trust were replaced."""
READ_AT_ONCE: Final = 64 * 1024
"""Bytes of a watch after whose events others get a turn, however many have arrived."""
DECODED_AT_ONCE: Final = 1024 * 1024
"""Bytes of a JSON text that are decoded without a pause, some ten milliseconds."""
NO_ANSWER: Final = "<error>"
"""The status code of an exchange without an answer, for metrics."""


class HttpTransport:
    """The transport to one API server; an async context manager, outside of which nothing can be sent.

    Guarantees: `send` and `stream` raise nothing but TransportError, whose sentence is for people and holds no
    credential. A request is sent again only after `Retry-After`, with a token that was renewed, or, if it is safe to
    repeat, when a kept connection turns out to be closed.

    Caveat: a request waits for an in-flight place within its own timeout. What must not wait behind others, such as
    the renewal of a lease, gets a transport of its own. A list needs its place until its answer begins.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        max_in_flight: int = 32,
        qps: float | None = None,
        burst: int | None = None,
        on_request: Callable[[str, str, str], None] = lambda _code, _method, _host: None,
        on_outage: Callable[[str], None] = lambda _problem: None,
        on_recovery: Callable[[], None] = lambda: None,
    ) -> None:
        """Nothing is connected before the first request.

        At most `max_in_flight` requests are under way at once, watches and answers to lists not counted. `qps` is
        requests a second in the long run (none, zero or negative: no limit), `burst` those at once where it limits.
        `on_request` hears the status code or `<error>` of every exchange, the method, the server's host and port. Once
        an outage, `on_outage` hears as a sentence why the server cannot be reached, and `on_recovery` that it answers
        again.
        """
        self._connection = connection
        self._server = connection.server
        self._host = urlsplit(connection.server).netloc
        self._places = asyncio.Semaphore(max_in_flight)
        self._throttle = throttle(qps, burst)
        self._on_request = on_request
        self._on_outage = on_outage
        self._on_recovery = on_recovery
        self._outage = Outage()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = new_session()
        return self

    async def __aexit__(self, *_error: object) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        """As `Transport.send` says; `Retry-After` is obeyed as long as the timeout allows."""
        limit = TimeLimit.of(timeout)
        retries = 0
        while True:
            response = await self._exchange(request, limit, may_send)
            wait = wait_before_retry(response.status, response.headers, retries=retries)
            if wait is None or wait >= limit.left():
                return response
            await asyncio.sleep(wait)
            retries += 1

    @contextlib.asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:
        """Open a watch, for at most `timeout` seconds; leaving the context closes the connection.

        The events end in order, between two of them, within half a minute after the connection has other credentials or
        another trust to use: an API server does not check those of an open watch again. Raises TransportError if the
        answer did not begin within the timeout, or within 30 seconds.
        """
        limit, opening = TimeLimit.of(timeout), TimeLimit.of(min(timeout, OPENING_TIMEOUT))
        mark = self._outage.began()
        try:
            async with bounded(self._server, request, opening):
                answer, credentials = await self._answer(request)
        except TransportError as error:
            self._unanswered(mark, error)
            raise
        with contextlib.closing(answer):
            if answer.status == HTTPStatus.OK:
                async with contextlib.aclosing(self._events(request, answer, limit, credentials)) as events:
                    yield Stream(HTTPStatus.OK, None, events, answers.lower_case_names(answer.headers))
            else:
                async with bounded(self._server, request, opening):
                    content = await answer.read()
                refusal = await self._response(request, answer, content)
                yield Stream(refusal.status, refusal.body, _no_events(), refusal.headers)

    async def _take_place(self, request: Request, limit: TimeLimit) -> None:
        """Get one of the in-flight places, once the throttle lets the request through; who got it gives it back."""
        if self._throttle is None and not self._places.locked():
            await self._places.acquire()
            return
        try:
            async with asyncio.timeout_at(limit.end):
                if self._throttle is not None and not await self._throttle.has_turn(limit.left()):
                    longer = f"for more than {limit.seconds:g} s"
                    raise TransportError(
                        f"{asked(request)} would wait behind other requests to {self._server} {longer}"
                    )
                try:
                    await self._places.acquire()
                except asyncio.CancelledError:
                    if self._throttle is not None:
                        self._throttle.give_back()
                    raise
        except TimeoutError:
            problem = f"{asked(request)} waited behind other requests to {self._server} for {limit.seconds:g} s"
            raise TransportError(problem) from None

    async def _exchange(self, request: Request, limit: TimeLimit, may_send: Callable[[], bool]) -> Response:
        """One answer, complete and decoded. While that to a list travels, its place is free for others."""
        await self._take_place(request, limit)
        mark = self._outage.began()
        try:
            try:
                async with bounded(self._server, request, limit):
                    answer, _ = await self._answer(request, may_send)
                    content = b"" if request.is_list else await answer.read()
            finally:
                self._places.release()
            if request.is_list:
                content = await answers.content_of(self._server, request, answer, limit.seconds)
        except TransportError as error:
            self._unanswered(mark, error)
            raise
        return await self._response(request, answer, content)

    async def _answer(
        self, request: Request, may_send: Callable[[], bool] = lambda: True
    ) -> tuple[aiohttp.ClientResponse, Credentials]:
        """The beginning of an answer, and what was shown for it; after a 401 something else is shown if possible."""
        credentials = self._connection.credentials()
        answer = await self._ask(request, credentials, may_send)
        if answer.status != HTTPStatus.UNAUTHORIZED or (renewed := self._connection.renewed()) == credentials:
            return answer, credentials
        answer.close()
        return await self._ask(request, renewed, may_send), renewed

    async def _ask(
        self, request: Request, credentials: Credentials, may_send: Callable[[], bool]
    ) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("the transport is not entered")
        may_send_now.set(may_send)
        try:
            answer = await self._session.request(
                request.method,
                url_of(self._server, request),
                data=body_of(request),
                headers=headers_of(request, credentials.authorization),
                allow_redirects=False,
                # Kept connections are told apart by it, so that none serves on with what is no longer shown.
                ssl=credentials.tls or True,
                server_hostname=self._connection.server_name,
            )
        except NotSentError:
            raise
        except BaseException:
            self._on_request(NO_ANSWER, request.method, self._host)
            raise
        self._on_request(str(answer.status), request.method, self._host)
        if self._outage.succeeded():
            self._on_recovery()
        return answer

    async def _events(
        self, request: Request, answer: aiohttp.ClientResponse, limit: TimeLimit, credentials: Credentials
    ) -> AsyncGenerator[Mapping[str, Any], None]:
        lines, authorization = answers.LineSplitter(), _authorization_of(answer)
        while lines.is_inside_a_line or self._connection.credentials() == credentials:
            try:
                async with asyncio.timeout(RENEWAL_CHECKED_EVERY), bounded(self._server, request, limit):
                    chunk = await answer.content.read(READ_AT_ONCE)
            except TimeoutError:
                continue
            if not chunk:
                break
            for line in lines.feed(chunk):
                try:
                    event = answers.decoded_json(line)
                except answers.UnreadableError as error:
                    raise self._spoiled(request, error) from None
                yield answers.event_without_credentials(event, authorization)
            await asyncio.sleep(0)
        if lines.is_inside_a_line:
            raise self._spoiled(request, "was cut off")

    async def _response(self, request: Request, answer: aiohttp.ClientResponse, content: bytes) -> Response:
        headers = answers.lower_case_names(answer.headers)
        try:
            if len(content) > DECODED_AT_ONCE and answers.is_json(headers):
                body = await answers.decoded_in_slices(content)
            else:
                body = answers.decoded_body(content, headers=headers, accept=request.accept, is_success=answer.ok)
        except answers.UnreadableError as error:
            raise self._spoiled(request, error) from None
        if not answer.ok:
            body = answers.without_credentials(body, _authorization_of(answer))
        return Response(answer.status, body, headers)

    def _spoiled(self, request: Request, problem: object) -> TransportError:
        return TransportError(f"the answer of {self._server} to {asked(request)} {problem}")

    def _unanswered(self, mark: int, error: TransportError) -> None:
        """Tell of an outage where one begins with a request that began at a mark; one that never left is none."""
        if not isinstance(error, NotSentError) and self._outage.failed(mark):
            self._on_outage(str(error))


def _authorization_of(answer: aiohttp.ClientResponse) -> str:
    return answer.request_info.headers.get("Authorization", "")


async def _no_events() -> AsyncIterator[Mapping[str, Any]]:
    events: tuple[Mapping[str, Any], ...] = ()
    for event in events:
        yield event
