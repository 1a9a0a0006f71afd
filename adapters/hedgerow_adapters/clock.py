"""The time of day, as decisions are told it."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The current time, aware."""
    return datetime.now(UTC)
