"""When a request is sent and sent again, when it has taken too long, and when the server counts as away.

An API server that has too much to do says so with `Retry-After`. Nothing else is sent again by the transport: whether a
repetition helps, and is safe, the callers know. An outage begins with a request that fails while, since it began, no
other was answered; it ends with the next answer.

The timeout of a request bounds all of it: the wait for a place, the connection, the answer from its first to its last
byte. A request for a lease gets its answer within the timeout, or an error. For a list the timeout bounds the time
until the answer begins, and from there on each silence: a large list on a slow network goes on while bytes arrive.

Source: managed-resources §3.1, decision A-3.
"""

import asyncio
import contextlib
import math
import os
import ssl
from collections.abc import AsyncIterator, Mapping
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


class Throttle:
    """Lets `burst` requests pass at once and `rate` a second in the long run, first come, first served.

    Guarantees: who cannot have a turn in time is told so at once, and who gives up waiting makes room for those behind,
    so that however many want a turn, as many get theirs as the rate allows.
    """

    def __init__(self, rate: float, burst: int) -> None:
        """A full bucket of tokens; `rate` is above zero, in requests a second, and `burst` at least one."""
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._updated = -math.inf
        # Only the first in the queue has taken a token, so that nobody's wait was reckoned with the token of another
        # who then gives up.
        self._head = asyncio.Lock()
        self._queued = 0

    async def has_turn(self, patience: float) -> bool:
        """Wait for a turn; false at once where it would come later than in `patience` seconds."""
        clock = asyncio.get_running_loop().time
        if self.wait(clock(), ahead=self._queued) > patience:
            return False
        self._queued += 1
        try:
            await self._head.acquire()
        finally:
            self._queued -= 1
        try:
            await asyncio.sleep(self.reserve(clock()))
        except asyncio.CancelledError:
            self.give_back()
            raise
        finally:
            self._head.release()
        return True

    def wait(self, now: float, *, ahead: int = 0) -> float:
        """The seconds until one behind so many others has a token; `now` is of a clock that never goes back."""
        return max(0.0, (ahead + 1 - self._filled(now)) / self._rate)

    def reserve(self, now: float) -> float:
        """Take a token, and return the seconds until it may be used; `now` as above."""
        self._tokens = self._filled(now) - 1
        self._updated = now
        return max(0.0, -self._tokens / self._rate)

    def give_back(self) -> None:
        """Let somebody else have a turn that was had, but not used."""
        self._tokens += 1

    def _filled(self, now: float) -> float:
        return min(self._burst, self._tokens + (now - self._updated) * self._rate)


def throttle(qps: float | None, burst: int | None) -> Throttle | None:
    """The throttle of a client connection; none without a positive `qps`; by default a second's `burst`."""
    if qps is None or qps <= 0:
        return None
    return Throttle(qps, max(1, burst if burst is not None else math.ceil(qps)))


MAX_RETRIES: Final = 10
"""As Kubernetes' own clients."""
_OVERLOADED: Final = {429, *range(500, 600)}


def wait_before_retry(status: int, headers: Mapping[str, str], *, retries: int) -> float | None:
    """The seconds after which a request is sent again; none if its answer stands. Header names are in lower case."""
    if retries >= MAX_RETRIES or status not in _OVERLOADED:
        return None
    seconds = headers.get("retry-after", "").strip()
    return float(seconds) if seconds.isascii() and seconds.isdigit() else None  # else there is none, or a date


class Outage:
    """What the requests of one connection say together about its server."""

    def __init__(self) -> None:
        self._answers = 0
        self._is_out = False

    def began(self) -> int:
        """A mark of now, for a request that begins; `failed` wants it back."""
        return self._answers

    def failed(self, mark: int) -> bool:
        """Note a request that began at a mark and got no answer; whether an outage begins with it."""
        if self._is_out or mark != self._answers:
            return False
        self._is_out = True
        return True

    def succeeded(self) -> bool:
        """Note that the server answered, whatever it said; whether that ends an outage."""
        self._answers += 1
        was_out, self._is_out = self._is_out, False
        return was_out
