"""How requests travel: the settings of the HTTP client, its connections, and the written form of a request."""

import io
import socket
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

from hedgerow.machinery.managed_fields import FIELD_MANAGER
from hedgerow.version import __version__
from hedgerow_adapters.protocol import json_codec
from hedgerow_adapters.protocol.requests import JSON_PATCH
from hedgerow_adapters.protocol.transport import NotSentError, Request

HEADERS: Final = {
    "User-Agent": f"{FIELD_MANAGER}/{__version__}",
    # To unpack costs more than to carry the few bytes of most answers.
    "Accept-Encoding": "identity",
}

# An API server closes a connection after 90 s without a request; one that is given up before fails no request.
_KEEP_ALIVE: Final = 60.0
_READ_BUFFER: Final = 256 * 1024
# The HTTP client wants larger bodies as files.
_LARGE_BODY: Final = 1024 * 1024


may_send_now: Final[ContextVar[Callable[[], bool]]] = ContextVar("may_send_now")
"""What the request that the current task sends has to ask before it leaves."""


class GatedRequest(aiohttp.ClientRequest):
    """A request that asks once more, when it has its connection, whether it may leave: to connect may take long.

    Every attempt asks, those that the HTTP client repeats included.
    """

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        """Write the request.

        Raises:
            NotSentError: it may not leave any more.
        """
        if not may_send_now.get()():
            raise NotSentError
        return await super().send(conn)


def new_session() -> aiohttp.ClientSession:
    """A client session for one API server: no cookies, no proxies, no timeouts or limits of its own."""
    connector = aiohttp.TCPConnector(
        limit=0,
        keepalive_timeout=_KEEP_ALIVE,
        socket_factory=_socket_that_notices_silence,
    )
    return aiohttp.ClientSession(
        connector=connector,
        request_class=GatedRequest,
        headers=HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        read_bufsize=_READ_BUFFER,
    )


def url_of(server: str, request: Request) -> URL:
    """The URL of a request, with path and query percent-encoded."""
    query = f"?{urlencode(request.query, quote_via=quote)}" if request.query else ""
    return URL(f"{server}{quote(request.path, safe='/:')}{query}", encoded=True)


def headers_of(request: Request, authorization: str) -> dict[str, str]:
    """The headers of a request beside those of the session; no Authorization header where its value is empty."""
    headers = {"Accept": request.accept}
    if request.is_list:
        headers["Accept-Encoding"] = "gzip"
    if request.body is not None:
        headers["Content-Type"] = request.content_type
    if authorization:
        headers["Authorization"] = authorization
    return headers


def body_of(request: Request) -> bytes | io.BytesIO | None:
    """The JSON text of a request's body; none where it has none."""
    if request.body is None:
        return None
    is_json_patch = request.content_type == JSON_PATCH
    body = (json_codec.encode_as_api_servers if is_json_patch else json_codec.encode)(request.body)
    return body if len(body) <= _LARGE_BODY else io.BytesIO(body)


def _socket_that_notices_silence(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket whose kernel asks a silent peer for a sign of life, and gives it up after a minute.

    A watch only reads, so without this it would not notice that its server's machine is gone.
    """
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    return made
