"""Gives memory back to the system that the process has freed.

The C library keeps what was freed between small values that live on. Without this, a process that has once read large
reviews or Secrets holds as much memory for good, and its limit has room for them twice.

Source: malloc_trim(3).
"""

import asyncio
import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

PERIOD: Final = 30.0
"""Seconds between two looks."""
WORTH_IT: Final = 16 * 2**20
"""Bytes by which the process has to have grown since the last time."""

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_RESIDENT: Final = Path("/proc/self/statm")


def resident_bytes() -> int:
    """The memory that the process holds; 0 where the system does not tell."""
    try:
        return int(_RESIDENT.read_text(encoding="ascii").split()[1]) * _PAGE
    except OSError:
        return 0


def trim_heap() -> None:
    """Give back what is free; other C libraries than that of GNU do so by themselves or not at all."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


async def give_memory_back(
    resident: Callable[[], int] = resident_bytes, trim: Callable[[], None] = trim_heap, period: float = PERIOD
) -> None:
    """Give memory back whenever the process has grown, until cancelled.

    Args:
        resident: tells how much the process holds.
        trim: gives back what is free, on a thread of its own.
        period: seconds between two looks.
    """
    held = resident()
    while True:
        await asyncio.sleep(period)
        holds = resident()
        if holds - held >= WORTH_IT:
            await asyncio.to_thread(trim)
            held = resident()
        else:
            held = min(held, holds)
