"""The time of day, as decisions are told it."""

import asyncio
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable


@runtime_checkable
class Calendar(Protocol):
    """An event loop that has a time of day of its own, such as one on virtual time."""

    def utc_now(self) -> datetime:
        """The current time, aware."""
        ...


def utc_now() -> datetime:
    """The current time, aware: that of the running event loop, if the loop has one of its own."""
    loop: object = asyncio._get_running_loop()  # noqa: SLF001 -- exported by asyncio.events; the public one raises
    return loop.utc_now() if isinstance(loop, Calendar) else datetime.now(UTC)
