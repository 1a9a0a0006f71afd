"""When a request is sent: how fast, when again, and when the server counts as away. Knows no sockets.

An API server that has too much to do says so with `Retry-After`. Nothing else is sent again by the transport: whether a
repetition helps, and is safe, the callers know. An outage begins with a request that fails while, since it began, no
other was answered; it ends with the next answer.

Source: managed-resources §3.1, decision A-3.
"""

import asyncio
import math
from collections.abc import Mapping
from typing import Final


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
    """The throttle that a client connection asks for; none where `qps` is not set, zero, or negative: unlimited.

    A `burst` that is not set is what `qps` allows in a second.
    """
    if qps is None or qps <= 0:
        return None
    return Throttle(qps, max(1, burst if burst is not None else math.ceil(qps)))


MAX_RETRIES: Final = 10
"""As Kubernetes' own clients."""
_OVERLOADED: Final = {429, *range(500, 600)}


def wait_before_retry(status: int, headers: Mapping[str, str], *, retries: int) -> float | None:
    """The seconds after which a request is sent again; none if its answer stands.

    Headers are by their names in lower case, `retries` says how often the request was sent again already.
    """
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
