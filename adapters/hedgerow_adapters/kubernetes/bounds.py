"""Ends what takes too long, and says so as a TransportError.

The timeout of a request bounds all of it: the wait for a place, the connection, the answer from its first to its last
byte. A request for a lease gets its answer within the timeout, or an error. For a list the timeout bounds the time
until the answer begins, and from there on each silence: a large list on a slow network goes on while bytes arrive.
"""

import asyncio
import contextlib
import os
import ssl
from types import TracebackType
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


def problem_with(server: str, request: Request, error: Exception) -> str:
    """What a failed exchange with a server means to somebody who runs the cluster."""
    sentence = next(sentence for kind, sentence in _SENTENCES if isinstance(error, kind))
    return sentence.format(server=server, asked=asked(request), reason=_reason(error))


def asked(request: Request) -> str:
    """A request as sentences name it; its query may be long and adds little."""
    return f"{request.method} {request.path}"


def _reason(error: Exception) -> str:
    """The words of the system or of OpenSSL for an error, or for the one inside it."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return _words(error.certificate_error)
        case aiohttp.ClientConnectorError():
            return _words(error.os_error)
        case _:
            return _words(error)


def _words(error: Exception) -> str:
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


class Patience(NamedTuple):
    """How many seconds to wait altogether, and until when on the loop's clock."""

    seconds: float
    deadline: float

    @classmethod
    def of(cls, seconds: float) -> Self:
        """Patience that begins now."""
        return cls(seconds, asyncio.get_running_loop().time() + seconds)

    def left(self) -> float:
        """The seconds that are left of it."""
        return self.deadline - asyncio.get_running_loop().time()


class Bounded:
    """A context that ends in time, and turns what the HTTP client raises into TransportError."""

    __slots__ = ("_limit", "_patience", "_problem", "_request", "_server")

    def __init__(
        self,
        server: str,
        request: Request,
        patience: Patience,
        problem: str = "{server} did not answer {asked} completely within {seconds:g} s",
    ) -> None:
        """A limit that counts from now on.

        Args:
            server: who is asked.
            request: what it is asked.
            patience: how long it may take.
            problem: what to say if it takes longer.
        """
        self._server = server
        self._request = request
        self._patience = patience
        self._problem = problem
        self._limit = asyncio.timeout_at(patience.deadline)

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with contextlib.suppress(TimeoutError):
            await self._limit.__aexit__(kind, error, traceback)
            if not isinstance(error, Exception):
                return  # all went well, or a cancellation from outside: it stays one though the time may be over, too
        if isinstance(error, TransportError):
            return
        if self._limit.expired():
            said = self._problem.format(server=self._server, asked=asked(self._request), seconds=self._patience.seconds)
            raise TransportError(said) from None
        # The HTTP client raises more than its own errors, such as UnicodeError for a host that is no name.
        if isinstance(error, Exception):
            raise TransportError(problem_with(self._server, self._request, error)) from error
