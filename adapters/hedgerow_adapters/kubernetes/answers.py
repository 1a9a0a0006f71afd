"""What the bytes of an answer say: the JSON value of a body, the lines of a watch, the content of a long list.

What servers say of a refused request is told in logs and events, and some of them repeat what they were sent: the
credentials that the request carried are taken out.

Guarantees of lists: an answer that brings `SLOWEST` bytes a second is received however long it takes. A silence ends
it, and so does a trickle: an informer that waits for a list for ever shows an ever older cache. One that is packed
stands for `MOST_UNPACKED` bytes at most, so that a few bytes cannot fill the memory.
"""

import asyncio
import base64
import binascii
import contextlib
import re
from collections.abc import Mapping
from typing import Any, Final

import aiohttp

from hedgerow_adapters.kubernetes.pacing import TimeLimit, asked, bounded
from hedgerow_adapters.protocol import json_codec, long_documents
from hedgerow_adapters.protocol.transport import Request, TransportError


class UnreadableError(ValueError):
    """An answer holds no value; says why, as the end of a sentence that began with "the answer"."""


def decoded_body(content: bytes, *, headers: Mapping[str, str], accept: str, is_success: bool) -> Any:
    """The value of a body; raises UnreadableError if it has none.

    A failure may come from a proxy or a filter that speaks plain text, which then is the value. A success that is not
    JSON although `accept` asked for it comes from something else than an API server. The names of headers are in lower
    case.
    """
    if is_json(headers):
        return decoded_json(content)
    if is_success and content and accept.startswith("application/json"):
        raise UnreadableError(f"is {_media_type(headers) or 'of no type'}, not JSON")
    return content.decode(errors="replace") if content else None


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a body with these headers is to be a JSON text."""
    return _media_type(headers).endswith("json")


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def decoded_json(content: bytes) -> Any:
    """The value of a JSON text; raises UnreadableError."""
    try:
        return json_codec.decode(content)
    except ValueError:
        raise UnreadableError("is not JSON") from None


def lower_case_names(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


class LineSplitter:
    """Splits chunks into lines. It reads each byte once, and copies it twice at most."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends; blank ones are left out."""
        first, *others = chunk.split(b"\n")
        if not others:
            self._parts.append(chunk)
            return []
        self._parts.append(first)
        lines = [b"".join(self._parts), *others[:-1]]
        self._parts = [others[-1]]
        return [line for line in lines if line and not line.isspace()]

    @property
    def is_inside_a_line(self) -> bool:
        """Whether the last chunk ended in the middle of a line."""
        return any(part and not part.isspace() for part in self._parts)


MOST_UNPACKED: Final = 256 * 1024 * 1024
"""Bytes that a packed answer may stand for: many times as much as a page holds, and less than ends a process."""
SLOWEST: Final = 4 * 1024
"""Bytes a second below which an answer is given up, once it has taken `GRACE` seconds."""
GRACE: Final = 120.0
_SILENT: Final = "{server} was silent for {seconds:g} s in the middle of its answer to {asked}"


async def content_of(server: str, request: Request, answer: aiohttp.ClientResponse, longest_silence: float) -> bytes:
    """All of an answer that has begun; TransportError: a silence, a trickle, a broken connection, or it is too much."""
    clock = asyncio.get_running_loop().time
    began = clock()
    is_packed = answer.headers.get("Content-Encoding", "identity") != "identity"
    pieces: list[bytes] = []
    size = 0
    with contextlib.closing(answer):
        while True:
            async with bounded(server, request, TimeLimit.of(longest_silence), _SILENT):
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


async def decoded_in_slices(content: bytes) -> object:
    """The value of a long JSON text; others get their turns meanwhile. Raises UnreadableError."""
    decoding = long_documents.decoding(content)
    try:
        while True:
            next(decoding)
            await asyncio.sleep(0)
    except StopIteration as end:
        return end.value
    except ValueError:
        raise UnreadableError("is not JSON") from None


REDACTED: Final = "[redacted]"


def without_credentials(said: Any, authorization: str) -> Any:
    """A refusal with everything secret in an Authorization header taken out of what people read of it.

    Of a JSON value that is its messages alone: a short password may be part of a reason, which decisions are made by.
    """
    secrets = _secrets_in(authorization)
    return _redacted(said, secrets) if secrets.pattern else said


def event_without_credentials(event: Any, authorization: str) -> Any:
    """A decoded event of a watch, the same if it is about an object: an ERROR is a refusal."""
    match event:
        case {"type": "ERROR"}:
            return without_credentials(event, authorization)
    return event


def _secrets_in(authorization: str) -> re.Pattern[str]:
    """The credentials to hide, the longest first: one may be part of another."""
    scheme, _, credential = authorization.partition(" ")
    secrets = {credential}
    if scheme.lower() == "basic":
        with contextlib.suppress(binascii.Error, UnicodeDecodeError):
            secrets.add(base64.b64decode(credential).decode().partition(":")[2])
    return re.compile("|".join(map(re.escape, sorted(secrets - {""}, key=len, reverse=True))))


def _redacted(value: Any, secrets: re.Pattern[str], field: str = "message") -> Any:
    """A value with the secrets taken out of its texts; those of an object only where they are messages."""
    match value:
        case dict():
            return {name: _redacted(member, secrets, name) for name, member in value.items()}
        case list():
            return [_redacted(element, secrets, "") for element in value]
        case str() if field == "message":
            return secrets.sub(REDACTED, value)
    return value
