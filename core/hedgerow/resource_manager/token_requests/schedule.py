"""When a token is renewed: at 80 % of its life, which counts as a day at most, or up to 5 % of that later.

Knows neither clock nor chance: both are arguments.

Source: webhooks-and-tokens §10.3; decision D-8.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

LONGEST_LIFE: Final = timedelta(hours=24)
"""What is valid for longer is renewed as if it were not: a token that leaked is replaced within a day."""
SHORTEST_LIFE: Final = timedelta(minutes=1)
"""What is valid for less by our clock is not used: API servers make no such tokens, so that the clocks differ."""
_SHARE: Final = 80
"""Percent of its life for which a token is used."""
_SPREAD: Final = 0.05
"""By how much of that it may be used longer, so that not all tokens of one time are renewed at one time."""


class Schedule(NamedTuple):
    """When a token is renewed, as a span and as a moment."""

    renew_after: timedelta
    renew_at: datetime


def renewal(expiration: datetime, now: datetime, jitter: float) -> Schedule:
    """When a token is to be renewed; in the past or now if it is not valid any more.

    Args:
        expiration: until when it is valid.
        now: the time.
        jitter: from 0 to less than 1: where in the spread.
    """
    lifetime = min(expiration - now, LONGEST_LIFE)
    base = lifetime * _SHARE // 100
    renew_after = base + base * _SPREAD * jitter
    return Schedule(renew_after, now + renew_after)
