"""How long to wait before a list or watch is tried again."""

from typing import Final

FIRST: Final = 0.8
LONGEST: Final = 30.0
_DOUBLINGS: Final = 6
FIRST_SEARCH: Final = 5.0
LONGEST_SEARCH: Final = 30.0


def restart_delay(attempt: int, jitter: float) -> float:
    """Seconds before a try: 0.8 s doubling up to 30 s, stretched by up to as much again.

    Args:
        attempt: how many tries in a row have come to nothing, from 1.
        jitter: a random number between 0 and 1.
    """
    return min(FIRST * 2.0 ** min(attempt - 1, _DOUBLINGS), LONGEST) * (1.0 + jitter)


def search_delay(search: int, jitter: float) -> float:
    """Seconds before what the server does not know is looked for again: 5 s doubling up to 30 s, stretched as above.

    Args:
        search: how many times in a row it has been looked for in vain, from 1.
        jitter: a random number between 0 and 1.
    """
    return min(FIRST_SEARCH * 2.0 ** min(search - 1, _DOUBLINGS), LONGEST_SEARCH) * (1.0 + jitter)
