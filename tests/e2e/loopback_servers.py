"""Servers on loopback that answer well, badly, or not at all."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web
from aiohttp.test_utils import TestServer

JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = JSON + b"Transfer-Encoding: chunked\r\n\r\n"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.asynccontextmanager
async def http_server(handler: Handler) -> AsyncIterator[str]:
    """The URL of a server that answers every request in one way."""
    application = web.Application(client_max_size=2**24)
    application.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(application) as server:
        yield str(server.make_url("")).rstrip("/")


@contextlib.asynccontextmanager
async def raw_server(*pieces: bytes, hangs: bool = False) -> AsyncIterator[str]:
    """The URL of a server that writes pieces of bytes as its answer, then closes, or waits until the client does."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            if not await reader.read(2**16):
                return
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            if hangs:
                await reader.read()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


def in_turn(*answers: web.Response) -> Handler:
    """Answers one after the other; the last one for ever."""
    waiting = list(answers)

    async def handler(_request: web.Request) -> web.Response:
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    return handler
