"""How long a key that failed has to wait.

Source: network-and-nodes §1.2; managed-resources §4.3, queues.
"""

from typing import Final

FIRST: Final = 0.005
LONGEST: Final = 1000.0
OVERALL_RATE: Final = 10.0
OVERALL_BURST: Final = 100
_DOUBLINGS: Final = 18


def failure_delay(failures: int, longest: float | None = None) -> float:
    """Seconds after so many failures in a row: 5 ms, doubling up to 1000 s, or to less.

    Args:
        failures: at least one.
        longest: seconds that the key waits at most; none: 1000.
    """
    delay = min(FIRST * 2.0 ** min(failures - 1, _DOUBLINGS), LONGEST)
    return delay if longest is None else min(delay, longest)


class OverallLimit:
    """A limit over all keys together: 100 retries at once, then 10 a second."""

    def __init__(self) -> None:
        self._next_free = float("-inf")

    def reserve(self, now: float) -> float:
        """Take the next place; seconds until it comes.

        Args:
            now: a monotonic time in seconds.
        """
        burst = (OVERALL_BURST - 1) / OVERALL_RATE
        place = max(self._next_free, now - burst)
        self._next_free = place + 1 / OVERALL_RATE
        return max(0.0, place - now)
