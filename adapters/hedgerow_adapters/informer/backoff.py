"""How long to wait before a list or watch is tried again."""

from typing import Final

FIRST: Final = 0.8
LONGEST: Final = 30.0
_DOUBLINGS: Final = 6


def restart_delay(attempt: int, jitter: float) -> float:
    """Seconds before a try: 0.8 s doubling up to 30 s, stretched by up to as much again.

    Args:
        attempt: how many tries in a row have come to nothing, from 1.
        jitter: a random number between 0 and 1.
    """
    return min(FIRST * 2.0 ** min(attempt - 1, _DOUBLINGS), LONGEST) * (1.0 + jitter)
