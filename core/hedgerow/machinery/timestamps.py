"""Moments as Kubernetes writes them: RFC 3339, as `2026-01-01T12:00:00Z`.

Text and `datetime` only: nothing here knows what time it is.
"""

import re
from datetime import UTC, datetime
from typing import Any, Final

_TIMESTAMP: Final = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def parse_timestamp(value: Any) -> datetime | None:
    """The moment that a parsed value spells; none where it is absent or spells none."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:  # a thirteenth month, a 25th hour
        return None


def format_timestamp(moment: datetime) -> str:
    """A moment in UTC and whole seconds; what is left of a second is dropped."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
