"""Carries requests to one API server over HTTP, and says when that cannot be reached.

Everything that comes back from the server is an answer, whatever its status; everything else is a TransportError. What
an answer means is not decided here.
"""

import asyncio
import contextlib
import io
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, urlencode, urlsplit

import aiohttp
from yarl import URL

from hedgerow.version import __version__
from hedgerow_adapters.kubernetes import json_codec
from hedgerow_adapters.kubernetes.credentials import Connection
from hedgerow_adapters.kubernetes.http_problems import asked, problem_with
from hedgerow_adapters.kubernetes.outage import Outage
from hedgerow_adapters.kubernetes.retries import wait_before_retry
from hedgerow_adapters.kubernetes.throttle import throttle
from hedgerow_adapters.kubernetes.watch_lines import LineSplitter
from hedgerow_adapters.protocol.transport import Request, Response, Stream, TransportError

OPENING_TIMEOUT: Final = 30.0
"""Seconds for the answer to a watch to begin, which a server sends before it has any event."""

NO_ANSWER: Final = "<error>"
"""The status code, for the metrics, of a request without an answer."""

# Connections are given up before an API server closes them at its end, which it does after 90 s without a request.
_KEEP_ALIVE: Final = 60.0
_READ_BUFFER: Final = 256 * 1024
# The HTTP client warns of larger bodies that are not a file.
_LARGE_BODY: Final = 1024 * 1024
_OK: Final = 200
_UNAUTHORIZED: Final = 401


class HttpTransport:
    """The transport to one API server, an async context manager.

    Guarantees: `send` and `stream` raise nothing but TransportError, whose sentence is fit for people and holds no
    credential; a request is repeated only after `Retry-After`, after a renewed token, or, if it changes nothing or can
    be repeated without harm, on a kept connection that turned out to be closed.

    Caveat: a request waits for one of the in-flight places within its own timeout. What must not wait behind others,
    such as the renewal of a lease, gets a transport of its own.
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

        Args:
            connection: where the server is, and who we are.
            max_in_flight: how many requests may be under way at once, watches not counted.
            qps: requests a second in the long run; none, zero or negative: as many as there are.
            burst: requests at once, where `qps` limits them.
            on_request: told of every HTTP exchange: the status code or `<error>`, the method, the server's host.
            on_outage: told, once an outage, that and why the server cannot be reached, as a sentence.
            on_recovery: told, once an outage, that the server answers again.
        """
        self._connection = connection
        self._host = urlsplit(connection.server).netloc
        self._max_in_flight = max_in_flight
        self._places = asyncio.Semaphore(max_in_flight)
        self._throttle = throttle(qps, burst)
        self._on_request = on_request
        self._on_outage = on_outage
        self._on_recovery = on_recovery
        self._outage = Outage()
        self._open_session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._open_session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=self._connection.tls or True,
                keepalive_timeout=_KEEP_ALIVE,
                socket_factory=_socket_that_notices_silence,
            ),
            # To decompress costs more time than a cluster's network takes for the rest.
            headers={"User-Agent": f"hedgerow/{__version__}", "Accept-Encoding": "identity"},
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            read_bufsize=_READ_BUFFER,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        session, self._open_session = self._session, None
        await session.close()

    async def send(self, request: Request, *, timeout: float = 30.0) -> Response:  # noqa: ASYNC109 -- the port's
        """The server's answer, whatever its status; `Retry-After` is obeyed as long as the timeout allows.

        Raises:
            TransportError: no complete answer came within the timeout, in seconds.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + timeout
        retries = 0
        while True:
            response = await self._exchange_in_turn(request, deadline, timeout)
            wait = wait_before_retry(response.status, response.headers, retries=retries)
            if wait is None or clock() + wait >= deadline:
                return response
            await asyncio.sleep(wait)
            retries += 1

    @contextlib.asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:  # noqa: ASYNC109 -- the port's
        """Open a watch, for at most `timeout` seconds; leaving the context closes the connection.

        Raises:
            TransportError: the server's answer did not begin within the timeout or 30 seconds.
        """
        now = asyncio.get_running_loop().time()
        patience = min(timeout, OPENING_TIMEOUT)
        async with self._translated(request, now + patience, patience):
            answer = await self._answer(request)
        with contextlib.closing(answer):
            headers = _lower_case(answer.headers)
            if answer.status == _OK:
                async with contextlib.aclosing(self._events(request, answer, now + timeout, timeout)) as events:
                    yield Stream(_OK, None, events, headers)
            else:
                async with self._translated(request, now + patience, patience):
                    body = self._body(request, answer, await answer.read())
                yield Stream(answer.status, body, _no_events(), headers)

    async def _exchange_in_turn(self, request: Request, deadline: float, timeout: float) -> Response:
        """One exchange, as soon as throttle and in-flight limit allow it."""
        await self._take_turn(request, deadline, timeout)
        try:
            async with self._translated(request, deadline, timeout):
                answer = await self._answer(request)
                ...
        finally:
            self._places.release()
