"""Which controller of a process goes first when several are busy.

The writes of one controller enqueue keys of another. Health, for example, is best judged once, after all objects are
applied. So a controller yields to those that it names, but never for long: a key waits at most `AT_MOST` seconds, and
a controller that works on one key for longer than that no longer counts as busy.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

AT_MOST: Final = 5.0
"""Seconds that a key yields at most: enough to write hundreds of objects, and far less than a sync period."""


class Busy(Protocol):
    """Something that is busy from time to time, such as a work queue."""

    def is_busy(self, at_most: float) -> bool:
        """True if keys wait, or a key is being worked on that was begun less than so many seconds ago."""
        ...

    def when_done(self, tell: Callable[[], None]) -> None:
        """Call a function each time that a key is done."""
        ...


class Precedence:
    """The work queues of the controllers of a process."""

    def __init__(self) -> None:
        self._known: dict[str, Busy] = {}

    def enter(self, name: str, busy: Busy) -> None:
        """Add the queue of a controller."""
        self._known[name] = busy

    def way(self, names: Iterable[str] = ()) -> "Way":
        """The way of a controller that yields to some others; names of no controller of the process are ignored."""
        return Way(self._known, frozenset(names))


class Way:
    """Whether a controller may go on, or yields."""

    def __init__(self, known: Mapping[str, Busy], names: frozenset[str]) -> None:
        self._known = known
        self._names = names
        self._listened_to: set[str] = set()
        self._cleared: asyncio.Future[None] | None = None

    @property
    def is_clear(self) -> bool:
        """True if no controller that goes first is busy."""
        return not any(self._known[name].is_busy(AT_MOST) for name in self._names if name in self._known)

    async def cleared(self, seconds: float) -> None:
        """Wait until the way is clear, or for so many seconds. Call it only while the way is not clear."""
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
