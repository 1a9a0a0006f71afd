"""How long a request waits so that no more than so many a second are sent.

Pure: it is told the time. Source: managed-resources §3.1, decision A-3.
"""

import math


class TokenBucket:
    """Lets `burst` requests pass at once and `rate` a second in the long run, first come, first served."""

    __slots__ = ("_burst", "_rate", "_tokens", "_updated")

    def __init__(self, rate: float, burst: int) -> None:
        """A full bucket; `rate` is above zero, in requests a second, and `burst` at least one."""
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._updated = -math.inf

    def reserve(self, now: float) -> float:
        """Take a token, and return the seconds until it may be used: zero while there are any left.

        Args:
            now: seconds on a clock that does not go back.
        """
        self._tokens = min(self._burst, self._tokens + (now - self._updated) * self._rate) - 1
        self._updated = now
        return max(0.0, -self._tokens / self._rate)


def throttle(qps: float | None, burst: int | None) -> TokenBucket | None:
    """The throttle that a client connection asks for; none where `qps` is not set, zero, or negative: unlimited.

    Args:
        qps: requests a second.
        burst: requests at once; where it is not set, what `qps` allows in a second.
    """
    if qps is None or qps <= 0:
        return None
    return TokenBucket(qps, max(1, burst if burst is not None else math.ceil(qps)))
