"""The time of day, as decisions are told it."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The current time, aware: that of the running event loop, if it has a `utc_now` of its own (virtual time)."""
    loop = asyncio._get_running_loop()  # noqa: SLF001 -- exported by asyncio.events; the public one raises
    clock: Callable[[], datetime] | None = getattr(loop, "utc_now", None)
    return clock() if clock is not None else datetime.now(UTC)
