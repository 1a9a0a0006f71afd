"""The memory of a process: how seldom reference cycles are searched, and when freed memory goes back to the system.

A controller makes and drops many small values and very few cycles, so the interpreter's defaults, which look after
every few hundred new values, find next to nothing. A search cannot be interrupted, and takes 20 ms for 100 000 values:
so none may see all that a large cluster's caches hold.

The C library keeps what was freed between small values that live on. A process that has once read large reviews or
Secrets would hold as much memory for good.

Source: decision A-6; malloc_trim(3).
"""

import asyncio
import ctypes
import gc
from collections.abc import Callable
from typing import Any, Final

NEW_VALUES: Final = 10_000
"""How many more values than before start a search among the new ones; the interpreter's default is 700."""
SEARCHES: Final = (5, 1)
"""Searches among new values before one among those that have survived one, and of these before one among all."""
MOST_SEARCHED: Final = 50_000
"""Values that are searched again if they survive a search among all."""
SEARCH_PERIOD: Final = 5.0
"""Seconds from one look at the new values to the next."""
TRIM_PERIOD: Final = 30.0
"""Seconds until freed memory is given back again."""


def search_seldom() -> None:
    """Search for cycles only after many new values; best said before anything large is imported."""
    gc.set_threshold(NEW_VALUES, *SEARCHES)
    if _after_search not in gc.callbacks:
        gc.callbacks.append(_after_search)


async def keep_searches_short(period: float = SEARCH_PERIOD) -> None:
    """Look from time to time whether there is much to search, until cancelled.

    The interpreter counts how many more values there are than before. Where new ones replace old ones, as in caches
    that are kept up to date, it does not search for minutes, and then all that are new at once.
    """
    while True:
        await asyncio.sleep(period)
        if gc.isenabled() and len(gc.get_objects(0)) > NEW_VALUES:
            due = [generation for generation, most in enumerate(SEARCHES, 1) if gc.get_count()[generation] > most]
            gc.collect(max(due, default=0))


def leave_out_what_exists() -> None:
    """Never search among the values that exist now: modules, or caches that have just been filled."""
    gc.freeze()


def _after_search(phase: str, info: dict[str, Any]) -> None:
    """Leave out what has survived a search among all, if that is much: then caches have grown.

    What is left out is freed as ever when nothing refers to it any more. Only cycles that it becomes part of later are
    never found, and those are few: most of what grows are plain documents.
    """
    if phase == "stop" and info["generation"] == len(SEARCHES) and len(gc.get_objects(len(SEARCHES))) > MOST_SEARCHED:
        leave_out_what_exists()


def trim_heap() -> None:
    """Give back what is free; other C libraries than that of GNU do so by themselves or not at all."""
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


async def give_memory_back(trim: Callable[[], None] = trim_heap, period: float = TRIM_PERIOD) -> None:
    """Give memory back from time to time, on a thread of its own, until cancelled.

    What the process holds does not tell when: memory that is freed after it was given back the last time still counts
    as held. Where little is free, it takes a millisecond.
    """
    while True:
        await asyncio.sleep(period)
        await asyncio.to_thread(trim)
