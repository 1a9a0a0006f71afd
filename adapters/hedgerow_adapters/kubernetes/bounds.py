"""Ends what takes too long, and says so as a TransportError.

The timeout of a request bounds all of it: the wait for a place, the connection, the answer from its first to its last
byte. A request for a lease gets its answer within the timeout, or an error. For a list the timeout bounds the time
until the answer begins, and from there on each silence: a large list on a slow network goes on while bytes arrive.
"""

import asyncio
import contextlib
import os
import ssl
from collections.abc import AsyncIterator
from typing import Final, NamedTuple, Self

import aiohttp

from hedgerow_adapters.protocol.transport import Request, TransportError

# The first that fits counts.
_SENTENCES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (aiohttp.ClientConnectorCertificateError, "cannot trust {server}: {reason}"),
    (aiohttp.ClientSSLError, "cannot agree on TLS with {server}: {reason}"),
    (aiohttp.ClientConnectorError, "cannot connect to {server}: {reason}"),
    (aiohttp.ServerDisconnectedError, "{server} closed the connection instead of answering {asked}"),
    (aiohttp.ClientPayloadError, "the answer of {server} to {asked} was cut off"),
    (aiohttp.ClientResponseError, "the answer of {server} to {asked} is not HTTP"),
    (OSError, "the connection to {server} broke during {asked}: {reason}"),
    (aiohttp.ClientError, "the connection to {server} broke during {asked}"),
    (UnicodeError, "cannot connect to {server}: its host is not a host name"),
    (Exception, "the HTTP client is not able to carry {asked} to {server}"),
)


def asked(request: Request) -> str:
    """A request as sentences name it; its query may be long and adds little."""
    return f"{request.method} {request.path}"


def _reason(error: Exception) -> str:
    """The words of the system or of OpenSSL for an error, or for the one inside it."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        error = error.certificate_error
    elif isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    match error:
        case ssl.SSLCertVerificationError():
            return error.verify_message
        case ssl.SSLError():
            return (error.reason or "unknown").replace("_", " ").lower()
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
        case OSError(strerror=str(words)):
            return words
        case _:
            return str(error)


class TimeLimit(NamedTuple):
    """How many seconds something may take, and when they end on the loop's clock."""

    seconds: float
    end: float

    @classmethod
    def of(cls, seconds: float) -> Self:
        """The limit that begins now."""
        return cls(seconds, asyncio.get_running_loop().time() + seconds)

    def left(self) -> float:
        """The seconds that are left of it."""
        return self.end - asyncio.get_running_loop().time()


@contextlib.asynccontextmanager
async def bounded(
    server: str,
    request: Request,
    limit: TimeLimit,
    problem: str = "{server} did not answer {asked} completely within {seconds:g} s",
) -> AsyncIterator[None]:
    """End in time, with a TransportError that says `problem`; turn what the HTTP client raises into one, too."""
    timeout = asyncio.timeout_at(limit.end)
    try:
        async with timeout:
            yield
    except TransportError:
        raise
    except Exception as error:
        if timeout.expired():
            late = problem.format(server=server, asked=asked(request), seconds=limit.seconds)
            raise TransportError(late) from None
        # The HTTP client raises more than its own errors, such as UnicodeError for a host that is no name.
        sentence = next(sentence for kind, sentence in _SENTENCES if isinstance(error, kind))
        failed = sentence.format(server=server, asked=asked(request), reason=_reason(error))
        raise TransportError(failed) from error
