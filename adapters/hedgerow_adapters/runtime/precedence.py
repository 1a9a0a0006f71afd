"""Who goes first where several controllers of a process have much to do at once.

What one controller does is often what gives another one something to do: who judges objects is best asked when all of
them are applied, once instead of after each step, and not at the expense of those that are still to be applied. So a
controller gives way to those that it names. It is never kept from its work for long: what has waited for `AT_MOST` gets
its turn whoever else is busy, and who is at one and the same key for that long stands in nobody's way.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

AT_MOST: Final = 5.0
"""Seconds for which a key gives way: enough for hundreds of objects to be written, and far less than the period after
which everything is looked at again anyway."""


class Busy(Protocol):
    """Somebody who has something to do from time to time."""

    def is_busy(self, at_most: float) -> bool:
        """Whether anything waits to be done, or is being done that was begun less than so many seconds ago."""
        ...

    def when_done(self, tell: Callable[[], None]) -> None:
        """Tell somebody each time that something is done."""
        ...


class Precedence:
    """The controllers of a process."""

    def __init__(self) -> None:
        self._known: dict[str, Busy] = {}

    def enter(self, name: str, busy: Busy) -> None:
        """Let one more be known."""
        self._known[name] = busy

    def way(self, names: Iterable[str] = ()) -> "Way":
        """The way of one that goes after some others; those that are not in this process do not stand in it."""
        return Way(self._known, frozenset(names))


class Way:
    """What somebody who goes after others may have to wait for."""

    def __init__(self, known: Mapping[str, Busy], names: frozenset[str]) -> None:
        self._known = known
        self._names = names
        self._listened_to: set[str] = set()
        self._cleared: asyncio.Future[None] | None = None

    @property
    def is_clear(self) -> bool:
        """Whether nobody who goes first has anything to do."""
        return not any(self._known[name].is_busy(AT_MOST) for name in self._names if name in self._known)

    async def cleared(self, seconds: float) -> None:
        """Return when the way is clear, which it is not now, or after so many seconds."""
        for name in (self._names & self._known.keys()) - self._listened_to:
            self._known[name].when_done(self._look)
            self._listened_to.add(name)
        if self._cleared is None:
            self._cleared = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._cleared], timeout=seconds)

    def _look(self) -> None:
        if self._cleared is not None and self.is_clear:
            self._cleared.set_result(None)
            self._cleared = None
