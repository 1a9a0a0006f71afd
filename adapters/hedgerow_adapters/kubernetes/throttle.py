"""How long a request waits so that no more than so many a second are sent, and when it need not wait at all.

Source: managed-resources §3.1, decision A-3.
"""

import asyncio
import math


class TokenBucket:
    """Lets `burst` requests pass at once and `rate` a second in the long run. Pure: it is told the time."""

    __slots__ = ("_burst", "_rate", "_tokens", "_updated")

    def __init__(self, rate: float, burst: int) -> None:
        """A full bucket; `rate` is above zero, in requests a second, and `burst` at least one."""
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._updated = -math.inf

    def wait(self, now: float, *, ahead: int = 0) -> float:
        """The seconds until a token may be used by one before whom others take theirs; zero while there are enough.

        Args:
            now: seconds on a clock that does not go back.
            ahead: how many others.
        """
        return max(0.0, (ahead + 1 - self._filled(now)) / self._rate)

    def reserve(self, now: float) -> float:
        """Take a token, and return the seconds until it may be used; `now` as above."""
        self._tokens = self._filled(now) - 1
        self._updated = now
        return max(0.0, -self._tokens / self._rate)

    def give_back(self) -> None:
        """Put a token back that was not used."""
        self._tokens += 1

    def _filled(self, now: float) -> float:
        return min(self._burst, self._tokens + (now - self._updated) * self._rate)


class Throttle:
    """Gives callers their turns, first come, first served, as fast as a bucket allows.

    Guarantees: who cannot have a turn in time is told so at once, and who gives up waiting makes room for those behind,
    so that however many want a turn, as many get theirs as the rate allows.
    """

    __slots__ = ("_bucket", "_head", "_queued")

    def __init__(self, bucket: TokenBucket) -> None:
        self._bucket = bucket
        # Only the first in the queue has taken a token, so that nobody's wait was reckoned with the token of another
        # who then gives up.
        self._head = asyncio.Lock()
        self._queued = 0

    async def has_turn(self, patience: float) -> bool:
        """Wait for a turn; false at once where it would come later than in `patience` seconds."""
        clock = asyncio.get_running_loop().time
        if self._bucket.wait(clock(), ahead=self._queued) > patience:
            return False
        self._queued += 1
        try:
            await self._head.acquire()
        finally:
            self._queued -= 1
        try:
            await asyncio.sleep(self._bucket.reserve(clock()))
        except asyncio.CancelledError:
            self._bucket.give_back()
            raise
        finally:
            self._head.release()
        return True

    def give_back(self) -> None:
        """Let somebody else have a turn that was had, but not used."""
        self._bucket.give_back()


def throttle(qps: float | None, burst: int | None) -> Throttle | None:
    """The throttle that a client connection asks for; none where `qps` is not set, zero, or negative: unlimited.

    Args:
        qps: requests a second.
        burst: requests at once; where it is not set, what `qps` allows in a second.
    """
    if qps is None or qps <= 0:
        return None
    return Throttle(TokenBucket(qps, max(1, burst if burst is not None else math.ceil(qps))))
