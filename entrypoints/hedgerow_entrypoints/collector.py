"""How often the interpreter looks for reference cycles, and what it leaves out: what lives as long as the process.

A controller makes and drops many small values and very few cycles, so the interpreter's defaults, which look after
every few hundred new values, find next to nothing. Source: decision A-6.
"""

import gc
from typing import Final

NEW_VALUES: Final = 20_000
"""How many more values than before start a search among the new ones; the interpreter's default is 700."""


def search_seldom() -> None:
    """Search for cycles only after many new values; best said before anything large is imported."""
    gc.set_threshold(NEW_VALUES, *gc.get_threshold()[1:])


def leave_out_what_exists() -> None:
    """Never search among the values that exist now: modules, or caches that have just been filled."""
    gc.freeze()
