"""How requests travel: the settings of the HTTP client, its connections, and the written form of a request."""

import asyncio
import contextlib
import errno
import io
import os
import socket
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import quote, urlencode

import aiohttp
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from hedgerow.machinery.objects import FIELD_MANAGER
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

# An address that swallows packets must not use up the time of a request while the server has another one.
_OTHER_ADDRESS_AFTER: Final = 5.0

may_send_now: Final[ContextVar[Callable[[], bool]]] = ContextVar("may_send_now")
"""What the request that the current task sends has to ask before it leaves."""


class GatedRequest(aiohttp.ClientRequest):
    """A request that asks once more, at every attempt, when it has its connection, whether it may leave."""

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        """Write the request, or raise NotSentError if it may not leave any more."""
        if not may_send_now.get()():
            raise NotSentError
        return await super().send(conn)


class LoopConnector(aiohttp.TCPConnector):
    """A connector whose sockets belong to the event loop alone, from the first to the last moment.

    The HTTP client makes its sockets itself and hands them over. If such a connection breaks in that moment, uvloop
    closes the file descriptor and the socket object closes it again; by then the number may belong to the lease's
    connection, or to what the loop itself waits with, and the process goes silent or aborts
    (https://github.com/MagicStack/uvloop/pull/646; 0.23 still does). The public options `socket_factory` and `resolver`
    do not help: whichever are set, it hands over a socket.
    """

    async def _wrap_create_connection(
        self, *arguments: Any, addr_infos: list[aiohttp.AddrInfoType], **options: Any
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        """Connect to the first of some addresses that answers. None is left in the list for the caller to try."""
        *others, last = addr_infos
        addr_infos.clear()
        for address in others:
            with contextlib.suppress(aiohttp.ClientConnectorError, TimeoutError):
                async with asyncio.timeout(_OTHER_ADDRESS_AFTER):
                    return await self._connected(address, *arguments, **options)
        return await self._connected(last, *arguments, **options)

    async def _connected(
        self, address: aiohttp.AddrInfoType, *arguments: Any, req: aiohttp.ClientRequest, **options: Any
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        options["family"], _, _, _, (host, port, *_) = address
        options["flags"] = socket.AI_NUMERICHOST
        transport, protocol = await self._wrap_existing_connection(*arguments, host, port, req=req, **options)
        try:
            _notice_silence(transport)
        except OSError as error:
            transport.abort()
            raise aiohttp.ClientConnectorError(req.connection_key, error) from error
        return transport, protocol


def new_session() -> aiohttp.ClientSession:
    """A client session for one API server: no cookies, no proxies, no timeouts or limits of its own."""
    return aiohttp.ClientSession(
        connector=LoopConnector(limit=0, keepalive_timeout=_KEEP_ALIVE),
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


def _notice_silence(transport: asyncio.Transport) -> None:
    """Have the kernel give up a silent peer after a minute, as watches only read; raises OSError if it is closed."""
    connected: socket.socket | None = transport.get_extra_info("socket")
    if connected is None:
        raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
