"""Times, UIDs and names that the server makes up: a clock that stands still until somebody sets it, and counters."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

START: Final = datetime(2026, 1, 1, tzinfo=UTC)


class SettableClock:
    """Tells the time that it was set to; called, it answers with it."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


def timestamp(moment: datetime) -> str:
    """A moment as metadata spells it: RFC 3339, whole seconds, UTC."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_STEP: Final = 10_000_019
"""A prime: neighbouring numbers get suffixes that look unlike each other."""


class Identities:
    """UIDs and name suffixes, each handed out once."""

    def __init__(self) -> None:
        self._uids = count(1)
        self._suffixes = count(1)

    def uid(self) -> str:
        """A new UID."""
        return f"00000000-0000-4000-8000-{next(self._uids):012x}"

    def name(self, prefix: str) -> str:
        """A name that begins with a prefix and is unlikely to be taken."""
        number, base = next(self._suffixes) * _STEP, len(_ALPHABET)
        return prefix + "".join(_ALPHABET[number // base**place % base] for place in range(5))
