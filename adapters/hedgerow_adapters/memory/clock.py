"""A clock that stands still until somebody sets it."""

from datetime import UTC, datetime, timedelta
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
