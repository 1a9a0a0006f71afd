"""Receives the answers to lists, which may be large and slow.

Guarantees: an answer that brings `SLOWEST` bytes a second is received however long it takes. A silence ends it, and so
does a trickle: an informer that waits for a list for ever shows an ever older cache. One that is packed stands for
`MOST_UNPACKED` bytes at most, so that a few bytes cannot fill the memory.
"""

import asyncio
import contextlib
from typing import Final

import aiohttp
from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.bounds import Bounded, Patience
from hedgerow_adapters.kubernetes.http_problems import asked
from hedgerow_adapters.protocol import long_documents
from hedgerow_adapters.protocol.transport import Request, TransportError

MOST_UNPACKED: Final = 256 * 1024 * 1024
"""Bytes that a packed answer may stand for: many times as much as a page holds, and less than ends a process."""

SLOWEST: Final = 4 * 1024
"""Bytes a second below which an answer is given up, once it has taken `GRACE` seconds."""
GRACE: Final = 120.0

_SILENT: Final = "{server} was silent for {seconds:g} s in the middle of its answer to {asked}"


async def content_of(server: str, request: Request, answer: aiohttp.ClientResponse, longest_silence: float) -> bytes:
    """The whole content of an answer that has begun.

    Args:
        server: who answers.
        request: what was asked.
        answer: its beginning.
        longest_silence: seconds without a byte after which it is given up.

    Raises:
        TransportError: silence, a trickle, the connection broke, or it stands for too much.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    is_packed = answer.headers.get("Content-Encoding", "identity") != "identity"
    pieces: list[bytes] = []
    size = 0
    with contextlib.closing(answer):
        while True:
            async with Bounded(server, request, Patience.of(longest_silence), _SILENT):
                piece = await answer.content.readany()
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
            size += len(piece)
            if is_packed and size > MOST_UNPACKED:
                limit = f"{MOST_UNPACKED // 2**20} MiB"
                raise TransportError(f"the answer of {server} to {asked(request)} unpacks to more than {limit}")
            if (seconds := clock() - began) > GRACE + size / SLOWEST:
                brought = f"brought {size} bytes in {seconds:.0f} s"
                raise TransportError(f"the answer of {server} to {asked(request)} is too slow: it {brought}")


async def decoded_in_slices(content: bytes) -> Result[object, str]:
    """The value of a long JSON text, or that it is none; others get their turns meanwhile."""
    decoding = long_documents.decoding(content)
    try:
        while True:
            next(decoding)
            await asyncio.sleep(0)
    except StopIteration as end:
        return Success(end.value)
    except ValueError:
        return Failure("is not JSON")
