"""Gives memory back to the system that the process has freed.

The C library keeps what was freed between small values that live on. Without this, a process that has once read large
reviews or Secrets holds as much memory for good, and its limit has room for them twice.

Source: malloc_trim(3).
"""

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final

PERIOD: Final = 30.0
"""Seconds from one time to the next."""


def trim_heap() -> None:
    """Give back what is free; other C libraries than that of GNU do so by themselves or not at all."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


async def give_memory_back(trim: Callable[[], None] = trim_heap, period: float = PERIOD) -> None:
    """Give memory back from time to time, until cancelled.

    What the process holds does not tell when: memory that is freed after it was given back the last time still counts
    as held. Where little is free, it takes a millisecond.

    Args:
        trim: gives back what is free, on a thread of its own.
        period: seconds from one time to the next.
    """
    while True:
        await asyncio.sleep(period)
        await asyncio.to_thread(trim)
